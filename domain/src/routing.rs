//! Routing of a payment: rules, costs and health yield a plan of the acquirers that may take it, in the order of the
//! tries.
//!
//! All functions here are pure: service, dry run, replay and simulator produce the same plan.

mod approvals;
mod attempt;
mod cost;
mod criterion;
mod evaluated;
mod limit;
mod lint;
mod lots;
mod past;
mod plan;
mod replay;
mod route_inputs;
mod routed;
mod rule;
mod table;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::identity::AcquirerName;

pub use approvals::{Approvals, TRIES};
pub use attempt::{Attempt, ChargeEnd};
pub use cost::{CostLine, Rate};
pub use criterion::{Bin, Criteria, Criterion, Hours, Metadata, Weekday};
pub use evaluated::Evaluated;
pub use limit::{CardTries, LimitReached, PAYMENTS_ARE_COUNTED_TO, TRIES_ARE_COUNTED_FOR_MS, further_try};
pub use lint::{Capability, FindingKind, Gravity, RoutingFinding, lint};
pub use past::{PastOrder, PastPayer, PastPayment};
pub use plan::{Candidate, Choice, Condition, DueDates, DueTermsTaken, NoRoute, Plan, plan};
pub use replay::{Replayed, replay, seen};
pub use route_inputs::RouteInputs;
pub use routed::{Routed, Saw};
pub use rule::{Rule, Then, Use};
pub use table::{Preference, RoutingTable, Standing, Version};

/// One acquirer that was considered when the payment was routed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Considered {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// True if it may take the payment. The eligible ones are in the order in which they are tried.
    pub eligible: bool,
    /// Reason for that: `eligible`, `failing_lately`, `throttled`, `amount_out_of_bounds`, `expiry_too_long`,
    /// `due_date_unsupported`, `terms_unsupported`, `numbers_used_up`, `paused`, `busy`, `not_in_rule`, or an acquirer's
    /// own objection, such as `recipient_unknown`.
    pub reason: Cow<'static, str>,
}
