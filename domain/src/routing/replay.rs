//! Replays: the routes that existing payments would have taken with another table.

use super::{Approvals, Candidate, Condition, Considered, CostLine, PastPayment, RoutingTable, plan};
use crate::identity::AcquirerName;
use crate::money::Money;

/// Route and cost of a payment, before and after a change of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// Acquirer that was tried first; none if none could be.
    pub from: Option<AcquirerName>,
    /// Cost at that acquirer.
    pub cost_before: Money,
    /// Acquirer that would be tried first.
    pub to: Option<AcquirerName>,
    /// Cost at that acquirer.
    pub cost_after: Money,
}

impl Replayed {
    /// Returns true if another acquirer would have been tried first.
    pub fn has_moved(&self) -> bool {
        self.from != self.to
    }
}

/// Returns the condition of an acquirer when this payment was routed. One that was not considered counts as healthy,
/// with unknown approvals. For payments that predate the recording, the condition is derived from the reason.
pub fn seen(payment: &PastPayment, acquirer: &AcquirerName) -> (Condition, Approvals) {
    let unknown = (Condition::Healthy, Approvals::default());
    let Some(place) = payment.considered.iter().position(|one| one.acquirer == *acquirer) else {
        return unknown;
    };
    let told = || payment.considered.get(place).map(|one| (condition_of(one), Approvals::default()));
    payment.routed.saw.at(place).or_else(told).unwrap_or(unknown)
}

fn condition_of(considered: &Considered) -> Condition {
    match (&*considered.reason, considered.eligible) {
        ("failing_lately", _) => Condition::Failing,
        ("throttled", true) => Condition::Throttled,
        ("throttled", false) => Condition::ThrottledForLong,
        ("busy", _) => Condition::Busy,
        ("paused", _) => Condition::Paused,
        _ => Condition::Healthy,
    }
}

/// Recomputes the plan of a payment with another table. Uses its dice, its time, and these candidates of its mode and
/// method in their condition at that time ([`seen`]). The first acquirer's cost is computed with each table's own
/// lines.
pub fn replay(
    payment: &PastPayment,
    candidates: &[Candidate<'_>],
    before: &RoutingTable,
    after: &RoutingTable,
) -> Replayed {
    let inputs = payment.inputs();
    let cost = |table: &RoutingTable, acquirer: Option<&AcquirerName>| {
        acquirer.map_or(Money::ZERO, |acquirer| CostLine::cost(&table.costs, acquirer, &inputs))
    };
    let from = payment.considered.iter().find(|one| one.eligible).map(|one| &one.acquirer);
    let planned = plan(&inputs, candidates, after, payment.dice);
    let to = planned.choices.first().filter(|choice| choice.eligible).map(|choice| choice.candidate.acquirer);
    Replayed {
        from: from.cloned(),
        cost_before: cost(before, from),
        to: to.cloned(),
        cost_after: cost(after, to),
    }
}
