//! A plan as it is shown to somebody who asks which way a payment would go.

use serde::Serialize;

use super::{CostLine, Plan, RoutingTable, Version, Wanted};
use crate::identity::AcquirerName;
use crate::money::Money;
use crate::record::wire::Printed;

/// Which way a payment would go (contract, section 1.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evaluated {
    rule: Option<String>,
    version: Version,
    considered: Vec<Evaluation>,
}

/// One acquirer, in the order of trying; those that may not take it come last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Evaluation {
    acquirer: AcquirerName,
    eligible: bool,
    reason: &'static str,
    priority: u32,
    weight: u32,
    /// What the acquirer would take of this payment.
    cost: Printed<Money>,
}

impl Evaluated {
    /// Shows a plan that was made by this table of this version.
    pub fn of(plan: &Plan<'_>, wanted: &Wanted<'_>, table: &RoutingTable, version: Version) -> Self {
        let considered = plan.choices.iter().map(|choice| Evaluation {
            acquirer: choice.candidate.acquirer.clone(),
            eligible: choice.eligible,
            reason: choice.reason,
            priority: choice.priority,
            weight: choice.weight,
            cost: Printed(CostLine::cost(&table.costs, choice.candidate.acquirer, wanted)),
        });
        Self { rule: plan.rule.map(|rule| rule.name.clone()), version, considered: considered.collect() }
    }
}
