//! `[[route]]`, `[[cost]]` and `[routing]`: which way new payments go.

mod criteria;

use quita_domain::identity::AcquirerName;
use quita_domain::money::Money;
use quita_domain::routing::{
    Capability, CostLine, Finding, Gravity, Preference, Rate, RoutingTable, Rule, Standing, Then, Use, lint,
};
use toml::{Table, Value};

use super::acquirer::{AcquirerConfig, number};
use super::settings::{Given, Settings};
use super::table::{KeyTable, tables};

const ROUTE: &str = "route";
const COST: &str = "cost";

const ROUTES_FORM: &str =
    "an array of tables, such as [{ name = \"cards\", use = [{ acquirer = \"sandbox\" }] }]";
const COSTS_FORM: &str =
    "an array of tables, such as [{ acquirer = \"sandbox\", rate = \"2.49%\", fixed = 10 }]";
const USE_FORM: &str = "allowed is an array of tables, such as [{ acquirer = \"sandbox\", weight = 70 }]";

/// Reads the table of routes among these acquirers, with what is doubtful about it. What is wrong is refused.
pub(super) fn read(settings: &mut Settings, acquirers: &[AcquirerConfig]) -> (RoutingTable, Vec<String>) {
    let is_sound_so_far = !settings.is_refused();
    let table = RoutingTable {
        rules: each(settings, (ROUTE, ROUTES_FORM), rule),
        costs: each(settings, (COST, COSTS_FORM), cost),
        prefer: settings.read("routing-prefer", "priority or net", Preference::parse).unwrap_or_default(),
        sticky: settings.read("routing-sticky", "true or false", |text| text.parse().ok()).unwrap_or(false),
        standings: acquirers.iter().map(standing).collect(),
    };
    let mut warnings = Vec::new();
    // Acquirers that were refused are not known here, and routes to them not wrong because of that.
    if is_sound_so_far {
        for finding in findings(&table, acquirers) {
            match finding.gravity() {
                Gravity::Wrong => settings.refuse(&finding.place, finding.kind.to_string()),
                Gravity::Doubtful => warnings.push(finding.to_string()),
            }
        }
    }
    (table, warnings)
}

/// What is wrong or doubtful about routes among these acquirers.
pub(crate) fn findings(table: &RoutingTable, acquirers: &[AcquirerConfig]) -> Vec<Finding> {
    let capability = |acquirer: &AcquirerConfig| Capability {
        acquirer: acquirer.spec.name.clone(),
        mode: acquirer.spec.mode,
        methods: acquirer.spec.methods.clone(),
    };
    lint(table, &acquirers.iter().map(capability).collect::<Vec<_>>())
}

fn standing(acquirer: &AcquirerConfig) -> (AcquirerName, Standing) {
    let spec = &acquirer.spec;
    (spec.name.clone(), Standing { priority: spec.priority, weight: spec.weight })
}

/// Reads every table of an option that is an array of them. Those that were refused are left out.
fn each<T>(
    settings: &mut Settings,
    (option, form): (&'static str, &str),
    read: impl Fn(&mut KeyTable<'_>) -> Option<T>,
) -> Vec<T> {
    let Some(Given { value, origin }) = settings.given(option).cloned() else { return Vec::new() };
    let tables = match tables(value) {
        Ok(tables) => tables,
        Err(why) => {
            settings.refuse(option, format!("{why} ({origin}); allowed is {form}"));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let mut table = KeyTable::new(settings, &origin, (option, index), table);
        let one = read(&mut table);
        table.refuse_unknown();
        found.extend(one.filter(|_| !table.is_refused()));
    }
    found
}

fn rule(table: &mut KeyTable<'_>) -> Option<Rule> {
    let name = table.required("name", "1 to 60 characters", |text| {
        (1..=60).contains(&text.trim().chars().count()).then(|| text.trim().to_owned())
    });
    if let Some(name) = &name {
        table.set_name(name);
    }
    let when = criteria::read(table);
    let uses = uses(table);
    let then = table.optional("then", "next or stop", Then::parse);
    let retry = table.optional("retry-declines", "true or false", |text| text.parse().ok());
    Some(Rule {
        name: name?,
        when: when?,
        uses: uses?,
        then: then.unwrap_or(Then::Next),
        retry_declines: retry.unwrap_or(false),
    })
}

/// Who gets the payments. Without `use` the order is as without the rule.
fn uses(table: &mut KeyTable<'_>) -> Option<Vec<Use>> {
    let Some(value) = table.take("use") else {
        if table.contains("then") {
            table.refuse(
                "then",
                "without use there is nobody to stop at; name acquirers in use, or leave it out",
            );
        }
        return Some(Vec::new());
    };
    let named: Option<Vec<Table>> = match value {
        Value::Array(entries) if !entries.is_empty() => {
            entries.into_iter().map(|entry| entry.try_into().ok()).collect()
        }
        _ => None,
    };
    let Some(named) = named else {
        table.refuse("use", USE_FORM);
        return None;
    };
    let uses: Vec<_> = named.iter().filter_map(named_acquirer).collect();
    if uses.len() != named.len() {
        table.refuse("use", "each entry has acquirer, the name of one, and perhaps weight, 0 to 1000");
        return None;
    }
    Some(uses)
}

fn named_acquirer(entry: &Table) -> Option<Use> {
    let weight = match entry.get("weight") {
        None => 1,
        Some(weight) => u32::try_from(weight.as_integer()?).ok().filter(|weight| *weight <= 1_000)?,
    };
    let knows_all = entry.keys().all(|key| ["acquirer", "weight"].contains(&key.as_str()));
    let acquirer = AcquirerName::new(entry.get("acquirer")?.as_str()?);
    knows_all.then_some(Use { acquirer, weight })
}

fn cost(table: &mut KeyTable<'_>) -> Option<CostLine> {
    let acquirer =
        table.required("acquirer", "the name of an acquirer", |text| Some(AcquirerName::new(text)));
    let when = criteria::read(table);
    let rate = table.optional("rate", "a share such as 2.49%, with at most four decimals", Rate::parse);
    let cents = |text: &str| number(text, 0, Money::MAX.cents()).map(Money::from_cents);
    let fixed = table.optional("fixed", "0 to 9999999999 cents", cents);
    if !table.contains("rate") && !table.contains("fixed") {
        table.refuse("rate", "it is missing, and so is fixed; write what the acquirer takes");
    }
    Some(CostLine {
        acquirer: acquirer?,
        when: when?,
        rate: rate.unwrap_or_default(),
        fixed: fixed.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
