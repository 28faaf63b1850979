//! What other routes would have done with a payment that exists, on paper.

use super::{Approvals, Candidate, Condition, Considered, CostLine, PastPayment, RoutingTable, plan};
use crate::identity::AcquirerName;
use crate::money::Money;

/// Where a payment went and where it would have gone, and what that costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// Who was tried first; nobody if none could be.
    pub from: Option<AcquirerName>,
    /// What that acquirer takes of it.
    pub cost_before: Money,
    /// Who would be tried first.
    pub to: Option<AcquirerName>,
    /// What that acquirer would take of it.
    pub cost_after: Money,
}

impl Replayed {
    /// Whether it would have gone elsewhere.
    pub fn has_moved(&self) -> bool {
        self.from != self.to
    }
}

/// How an acquirer was when this payment was routed. One that was not looked at is taken for well, and of unknown
/// approval; of payments from before that was kept, the reason tells how it was.
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

/// Makes the plan of a payment again with other routes: its dice, its time, and these candidates of its mode and method,
/// as they were then ([`seen`]). What the first acquirer takes is reckoned by each table's own costs.
pub fn replay(
    payment: &PastPayment,
    candidates: &[Candidate<'_>],
    before: &RoutingTable,
    after: &RoutingTable,
) -> Replayed {
    let wanted = payment.wanted();
    let cost = |table: &RoutingTable, acquirer: Option<&AcquirerName>| {
        acquirer.map_or(Money::ZERO, |acquirer| CostLine::cost(&table.costs, acquirer, &wanted))
    };
    let from = payment.considered.iter().find(|one| one.eligible).map(|one| &one.acquirer);
    let planned = plan(&wanted, candidates, after, payment.dice);
    let to = planned.choices.first().filter(|choice| choice.eligible).map(|choice| choice.candidate.acquirer);
    Replayed {
        from: from.cloned(),
        cost_before: cost(before, from),
        to: to.cloned(),
        cost_after: cost(after, to),
    }
}
