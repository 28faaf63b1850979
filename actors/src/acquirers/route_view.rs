//! A route as operators see it.

use quita_domain::card::Brand;
use quita_domain::control::RouteDirective;
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::time::Timestamp;
use serde::Serialize;

use crate::watch::sample::Thousandths;

/// The health of one route, in a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteHealth {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The method.
    pub method: Method,
    /// Test or live.
    pub mode: Mode,
    /// How it is.
    pub state: RouteState,
    /// Time at which the first of the calls ended that were lost since the last answer, while it fails.
    pub failing_since: Option<Timestamp>,
}

/// How a route is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteState {
    /// It is tried in its turn.
    Healthy,
    /// Its last calls were lost, and none was answered since.
    Failing,
    /// An operator paused it: it is given no new payment.
    Paused,
    /// An operator drains it: nothing more is sent, and what is under way has not ended yet.
    Draining,
    /// Nothing is sent, and nothing is under way: as directed, or because the directives could not be read yet.
    Drained,
}

impl RouteState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Healthy, Self::Failing, Self::Paused, Self::Draining, Self::Drained];

    /// As the health page spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Failing => "failing",
            Self::Paused => "paused",
            Self::Draining => "draining",
            Self::Drained => "drained",
        }
    }

    /// Whether new payments are routed there.
    pub const fn takes_new_payments(self) -> bool {
        match self {
            Self::Healthy | Self::Failing => true,
            Self::Paused | Self::Draining | Self::Drained => false,
        }
    }
}

/// Everything that is shown of one route, on this node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteView {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The method.
    pub method: Method,
    /// Test or live.
    pub mode: Mode,
    /// How it is.
    pub state: RouteState,
    /// What an operator directed.
    pub directive: RouteDirective,
    /// When; `None` if nobody ever did.
    pub directed_at: Option<Timestamp>,
    /// Calls in a row that brought no answer.
    pub failures_in_a_row: u32,
    /// Time at which the first of these ended, while it counts as failing.
    pub failing_since: Option<Timestamp>,
    /// Until when it is tried last because of them.
    pub failing_until: Option<Timestamp>,
    /// Until when the acquirer wants no calls.
    pub throttled_until: Option<Timestamp>,
    /// The last call that brought no answer.
    pub last_failure: Option<RouteFailure>,
    /// When a call was answered last.
    pub last_answer_at: Option<Timestamp>,
    /// Calls under way.
    pub under_way: usize,
    /// Calls that wait for their turn.
    pub waiting: usize,
    /// Calls of the last minutes by outcome.
    pub outcomes: RouteOutcomes,
    /// How long they took.
    pub median_ms: Option<Thousandths>,
    /// How long one in a hundred took at least.
    pub p99_ms: Option<Thousandths>,
    /// How often it approved lately, by brand.
    pub approvals: Vec<RouteApprovals>,
}

/// What became of the last tries of an acquirer, at most 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteApprovals {
    /// Of cards of this brand; `None` for what has none.
    pub brand: Option<Brand>,
    /// Those that were approved.
    pub approved: u8,
    /// All of them.
    pub tries: u8,
}

/// A call that brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteFailure {
    /// When it ended.
    pub at: Timestamp,
    /// Why.
    pub what: String,
}

/// Calls by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteOutcomes {
    /// Answered.
    pub answered: u64,
    /// Refused for good.
    pub refused: u64,
    /// Certainly without effect.
    pub not_delivered: u64,
    /// Perhaps with an effect.
    pub unknown: u64,
    /// Not wanted by the acquirer at that time.
    pub throttled: u64,
}
