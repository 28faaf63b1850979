//! Display form of a plan, for a dry run.

use serde::Serialize;

use super::{CostLine, NoRoute, Plan, RouteInputs, RoutingTable, Version};
use crate::identity::AcquirerName;
use crate::money::Money;
use crate::record::wire::Printed;

/// Route that a payment would take (contract, section 1.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evaluated {
    rule: Option<String>,
    version: Version,
    /// Code with which the creation would be refused; `None` if an acquirer would be tried.
    refusal: Option<&'static str>,
    considered: Vec<RankedAcquirer>,
}

/// One acquirer, in the order of the tries; ineligible ones come last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct RankedAcquirer {
    acquirer: AcquirerName,
    eligible: bool,
    reason: &'static str,
    priority: u32,
    weight: u32,
    /// Cost of this payment at the acquirer.
    cost: Printed<Money>,
}

impl Evaluated {
    /// Creates the display form of a plan that was made with this version of the table.
    pub fn of(plan: &Plan<'_>, inputs: &RouteInputs<'_>, table: &RoutingTable, version: Version) -> Self {
        let considered = plan.choices.iter().map(|choice| RankedAcquirer {
            acquirer: choice.candidate.acquirer.clone(),
            eligible: choice.eligible,
            reason: choice.reason,
            priority: choice.priority,
            weight: choice.weight,
            cost: Printed(CostLine::cost(&table.costs, choice.candidate.acquirer, inputs)),
        });
        Self {
            rule: plan.rule.map(|rule| rule.name.clone()),
            version,
            refusal: plan.is_possible().err().map(NoRoute::code),
            considered: considered.collect(),
        }
    }
}
