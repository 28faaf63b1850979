//! `[[route]]`, `[[cost]]` and `[routing]`: the routes of new payments.

mod cost;
mod criteria;
mod rule;

use quita_domain::routing::{
    Capability, FindingKind, Gravity, Preference, RoutingFinding, RoutingTable, Standing, lint,
};

use super::acquirer::{self, AcquirerConfig};
use super::settings::Settings;
use super::table::{OptionTable, tables_of};

/// The option with the rules.
const ROUTE: &str = "route";

/// The option with the costs.
const COST: &str = "cost";

const ROUTE_FORM: &str =
    "an array of tables, such as [{ name = \"large\", when = { min-amount = 100000 }, use = [\"cielo\"] }]";

const COST_FORM: &str =
    "an array of tables, such as [{ acquirer = \"cielo\", rate = \"2.49%\", fixed = 10 }]";

/// Reads the table of routes among these acquirers, and returns it with warnings. Errors are refused.
pub(super) fn read(settings: &mut Settings, acquirers: &[AcquirerConfig]) -> (RoutingTable, Vec<String>) {
    let prefer = settings.read("routing-prefer", "priority or net", Preference::parse);
    let sticky = settings.read("routing-sticky", "true or false", |text| text.parse().ok());
    let table = RoutingTable {
        rules: each(settings, ROUTE, ROUTE_FORM, rule::read),
        costs: each(settings, COST, COST_FORM, cost::read),
        prefer: prefer.unwrap_or_default(),
        sticky: sticky.unwrap_or_default(),
        standings: acquirers.iter().map(|one| (one.spec.name.clone(), standing(one))).collect(),
    };
    let doubts = judge(settings, &table, acquirers);
    (table, doubts)
}

/// Returns the rank that the configuration gives to an acquirer.
pub const fn standing(acquirer: &AcquirerConfig) -> Standing {
    Standing { priority: acquirer.spec.priority, weight: acquirer.spec.weight }
}

/// Returns the properties of an acquirer that rules need.
pub(crate) fn capability(acquirer: &AcquirerConfig) -> Capability {
    let spec = &acquirer.spec;
    Capability { acquirer: spec.name.clone(), mode: spec.mode, methods: spec.methods.clone() }
}

/// Returns all errors in a table of routes among these acquirers, and everything in it that can never have an effect.
pub fn findings(table: &RoutingTable, acquirers: &[AcquirerConfig]) -> Vec<RoutingFinding> {
    let able: Vec<_> = acquirers.iter().map(capability).collect();
    lint(table, &able)
}

/// Reads every table of an option. Refused ones are left out.
fn each<T>(
    settings: &mut Settings,
    option: &'static str,
    form: &str,
    read: impl Fn(&mut OptionTable<'_>) -> Option<T>,
) -> Vec<T> {
    let given = settings.given(option).cloned();
    let Some((tables, origin)) = tables_of(settings, option, given, form) else { return Vec::new() };
    let tables = tables.into_iter().enumerate();
    let read = tables.filter_map(|(index, table)| {
        let mut table = OptionTable::new(settings, &origin, option, index, table);
        let value = read(&mut table);
        table.refuse_unknown();
        value.filter(|_| !table.is_refused())
    });
    read.collect()
}

/// Refuses errors of the table as a whole, and returns warnings.
fn judge(settings: &mut Settings, table: &RoutingTable, acquirers: &[AcquirerConfig]) -> Vec<String> {
    let mut findings = findings(table, acquirers);
    // A refused acquirer is missing because of its own error, not because somebody forgot it.
    if settings.has_refused_of(acquirer::OPTION) {
        findings.retain(|finding| !depends_on_acquirers(&finding.kind));
    }
    let (wrong, doubtful): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.gravity() == Gravity::Wrong);
    for RoutingFinding { place, kind } in wrong {
        let option = if place.starts_with(COST) { COST } else { ROUTE };
        let origin = settings.given(option).map(|given| format!(" ({})", given.origin));
        settings.refuse(&place, format!("{kind}{}", origin.unwrap_or_default()));
    }
    doubtful.iter().map(ToString::to_string).collect()
}

const fn depends_on_acquirers(kind: &FindingKind) -> bool {
    match kind {
        FindingKind::UnknownAcquirer(_)
        | FindingKind::Covered(_)
        | FindingKind::NobodyTakes(_)
        | FindingKind::NotTakenBy { .. } => true,
        FindingKind::NoShares
        | FindingKind::Contradiction(_)
        | FindingKind::SameName
        | FindingKind::NamedTwice(_) => false,
    }
}

#[cfg(test)]
mod tests;
