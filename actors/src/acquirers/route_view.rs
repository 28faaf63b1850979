//! A route as operators see it.

use quita_domain::card::Brand;
use quita_domain::control::RouteDirective;
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::time::Timestamp;
use serde::Serialize;

use crate::watch::sample::Thousandths;

/// Health of one route, in brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteHealth {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The method.
    pub method: Method,
    /// Test or live.
    pub mode: Mode,
    /// State of the route.
    pub state: RouteState,
    /// Time at which the first of the lost calls ended, while the route is failing.
    pub failing_since: Option<Timestamp>,
    /// Error of the last lost call, while the route is failing. It has no secrets.
    pub error: Option<String>,
}

/// State of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteState {
    /// It is tried in its turn, but has not shown yet whether it works: no call was answered since the start.
    NotCalled,
    /// It is tried in its turn.
    Healthy,
    /// Its last calls, or its last charges and operations, were lost, and none was answered since.
    Failing,
    /// An operator paused it: it gets no new payments.
    Paused,
    /// An operator drains it: nothing more is sent, but calls are still under way.
    Draining,
    /// Nothing is sent, and nothing is under way: as directed, or because the directives have not been read yet.
    Drained,
}

impl RouteState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::NotCalled, Self::Healthy, Self::Failing, Self::Paused, Self::Draining, Self::Drained];

    /// Returns its name on the health page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotCalled => "not_called",
            Self::Healthy => "healthy",
            Self::Failing => "failing",
            Self::Paused => "paused",
            Self::Draining => "draining",
            Self::Drained => "drained",
        }
    }

    /// Returns true if new payments are routed there.
    pub const fn takes_new_payments(self) -> bool {
        match self {
            Self::NotCalled | Self::Healthy | Self::Failing => true,
            Self::Paused | Self::Draining | Self::Drained => false,
        }
    }
}

/// Everything that operators see of one route, on this node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteView {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The method.
    pub method: Method,
    /// Test or live.
    pub mode: Mode,
    /// State of the route.
    pub state: RouteState,
    /// Directive of an operator.
    pub directive: RouteDirective,
    /// Time of the directive; `None` if there never was one.
    pub directed_at: Option<Timestamp>,
    /// Calls of any kind in a row that brought no answer.
    pub failures_in_a_row: u32,
    /// Charges and operations in a row that brought no answer. Inquiries may have been answered in between.
    pub charges_lost_in_a_row: u32,
    /// Time at which the first of the lost calls ended, while the route counts as failing.
    pub failing_since: Option<Timestamp>,
    /// End of the time in which it is tried last because of them.
    pub failing_until: Option<Timestamp>,
    /// End of the time in which the acquirer wants no calls.
    pub throttled_until: Option<Timestamp>,
    /// The last call that brought no answer.
    pub last_failure: Option<RouteFailure>,
    /// Time of the last answered call.
    pub last_answer_at: Option<Timestamp>,
    /// Calls under way.
    pub under_way: usize,
    /// Calls waiting for their turn.
    pub waiting: usize,
    /// Calls of the last minutes by outcome.
    pub outcomes: RouteOutcomes,
    /// Median duration of a call.
    pub median_ms: Option<Thousandths>,
    /// 99th percentile of the duration.
    pub p99_ms: Option<Thousandths>,
    /// Recent approvals, by brand.
    pub approvals: Vec<RouteApprovals>,
}

/// Results of the last tries of an acquirer, at most 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteApprovals {
    /// Brand of the cards; `None` for charges without a brand.
    pub brand: Option<Brand>,
    /// Approved tries.
    pub approved: u8,
    /// All tries.
    pub tries: u8,
}

/// A call that brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteFailure {
    /// Time at which it ended.
    pub at: Timestamp,
    /// Error.
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
    /// Rejected because the acquirer wanted fewer calls.
    pub throttled: u64,
}
