//! `quita routing check`: explains the configured routes, and reports mistakes in them.

use clap::Args;
use quita_domain::routing::{CostLine, Preference, RoutingFinding, RoutingTable, Rule, Then, Use};
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::flags::ServiceFlags;
use crate::cli::output;
use quita_config::{Config, route};

/// Choice of the configuration, and the form of the answer.
#[derive(Debug, Args)]
pub(in crate::cli) struct CheckRouting {
    /// Print one JSON object: version, rules, others, costs and doubts
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: ServiceFlags,
}

/// Meaning of the table in sentences, with warnings about it.
#[derive(Serialize)]
struct RoutingReport {
    version: String,
    /// Rules in the order in which they are tried.
    rules: Vec<Line>,
    /// Routing of payments that match no rule.
    others: String,
    costs: Vec<Line>,
    doubts: Vec<Doubt>,
}

/// Line of the table, with its own name or that of its acquirer.
#[derive(Serialize)]
struct Line {
    name: String,
    meaning: String,
}

#[derive(Serialize)]
struct Doubt {
    place: String,
    message: String,
}

/// Prints each rule as a sentence, then the warnings. Fails with all mistakes if there are any.
pub(super) fn run(CheckRouting { json, service }: CheckRouting) -> Result<(), Failure> {
    // The usage of this command is correct even if the configuration is not: exit code 1.
    let config = Config::from_settings(service.settings()).map_err(Failure::failed)?;
    let findings = route::findings(&config.routes, &config.acquirers);
    if json {
        return output::json(&RoutingReport::of(&config.routes, &findings));
    }
    for sentence in sentences(&config.routes) {
        output::result(&output::printable(&sentence))?;
    }
    for finding in &findings {
        output::result(&output::printable(&format!("doubtful: {finding}")))?;
    }
    if findings.is_empty() { output::result("nothing is wrong") } else { Ok(()) }
}

impl RoutingReport {
    fn of(table: &RoutingTable, findings: &[RoutingFinding]) -> Self {
        let rule = |rule: &Rule| Line { name: rule.name.clone(), meaning: of_rule(rule) };
        let cost = |line: &CostLine| Line { name: line.acquirer.to_string(), meaning: of_cost(line) };
        let doubt = |finding: &RoutingFinding| Doubt {
            place: finding.place.clone(),
            message: finding.kind.to_string(),
        };
        Self {
            version: table.version().to_string(),
            rules: table.rules.iter().map(rule).collect(),
            others: of_the_others(table),
            costs: table.costs.iter().map(cost).collect(),
            doubts: findings.iter().map(doubt).collect(),
        }
    }
}

/// Returns the meaning of the table, one sentence per line.
fn sentences(table: &RoutingTable) -> Vec<String> {
    let mut lines = vec![format!("version {}", table.version())];
    lines.extend(table.rules.iter().map(of_rule));
    lines.push(of_the_others(table));
    lines.extend(table.costs.iter().map(of_cost));
    lines
}

fn of_rule(rule: &Rule) -> String {
    let first = if rule.uses.is_empty() { "all by priority".into() } else { shares(&rule.uses) };
    let then = match rule.then {
        Then::Next if rule.uses.is_empty() => "",
        Then::Next => ", then the others",
        Then::Stop if rule.uses.is_empty() => "",
        Then::Stop => ", and nobody else",
    };
    let further = if rule.retry_declines { "; one more after a reversible decline" } else { "" };
    format!("route {:?}: when {}: {first}{then}{further}", rule.name, rule.when)
}

/// Formats shares, such as "cielo (70 of 100), other (30 of 100)".
fn shares(uses: &[Use]) -> String {
    let total: u64 = uses.iter().map(|named| u64::from(named.weight)).sum();
    let share = |named: &Use| match named.weight {
        0 => format!("{} after them", named.acquirer),
        _ if uses.len() == 1 => named.acquirer.to_string(),
        weight => format!("{} ({weight} of {total})", named.acquirer),
    };
    uses.iter().map(share).collect::<Vec<_>>().join(", ")
}

fn of_the_others(table: &RoutingTable) -> String {
    let among_equals = match (table.prefer, table.sticky) {
        (Preference::Priority, false) => "by weight",
        (Preference::Priority, true) => "by weight, the same payer at the same one",
        (Preference::Net, false) => "by what is left after costs",
        (Preference::Net, true) => "by what is left after costs, else the same payer at the same one",
    };
    format!("all others: by priority, among equals {among_equals}")
}

fn of_cost(line: &CostLine) -> String {
    let CostLine { acquirer, when, rate, fixed } = line;
    format!("cost of {acquirer}, when {when}: {rate} and {fixed}")
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::AcquirerName;
    use quita_domain::money::Money;
    use quita_domain::routing::{Criteria, Criterion};

    use super::*;

    fn rule(uses: &[(&str, u32)], then: Then) -> Rule {
        let named = |&(name, weight): &(&str, u32)| Use { acquirer: AcquirerName::new(name), weight };
        Rule {
            name: "large".into(),
            when: Criteria::new(vec![Criterion::Amount(Money::from_cents(10_000), Money::MAX)]),
            uses: uses.iter().map(named).collect(),
            then,
            retry_declines: then == Then::Stop,
        }
    }

    #[test]
    fn a_rule_is_a_sentence() {
        for (uses, then, told) in [
            (
                &[("a", 70), ("b", 30), ("c", 0)][..],
                Then::Next,
                "a (70 of 100), b (30 of 100), c after them, then the others",
            ),
            (&[("a", 1)][..], Then::Stop, "a, and nobody else; one more after a reversible decline"),
            (&[][..], Then::Next, "all by priority"),
        ] {
            let expected = format!("route \"large\": when the amount is at least 100.00: {told}");
            assert_eq!(of_rule(&rule(uses, then)), expected);
        }
    }
}
