//! `quita routing check`: the routes as the service reads them, in sentences.

use quita_domain::routing::{CostLine, Preference, Rule, Then, Use};

use crate::cli::failure::Failure;
use crate::cli::flags::ServiceFlags;
use crate::cli::output;
use crate::config::Config;
use crate::config::route::findings;

/// Prints them, and fails if the service would refuse them.
pub(super) fn run(flags: ServiceFlags) -> Result<(), Failure> {
    // What is wrong with them is what this command is there to find: it was used rightly.
    let config = Config::from_settings(flags.settings()).map_err(Failure::failed)?;
    let table = &config.routes;
    output::result(&format!("version {}", table.version()))?;
    for rule in &table.rules {
        output::result(&told_rule(rule))?;
    }
    let others = match (table.prefer, table.sticky) {
        (Preference::Priority, false) => "by priority and weight",
        (Preference::Priority, true) => "by priority and weight, the same payer at the same acquirer",
        (Preference::Net, false) => "by priority, and who is expected to bring most",
        (Preference::Net, true) => {
            "by priority, and who is expected to bring most; the same payer at the same acquirer"
        }
    };
    output::result(&format!("all others: {others}"))?;
    for line in &table.costs {
        output::result(&told_cost(line))?;
    }
    let doubts = findings(table, &config.acquirers);
    for finding in &doubts {
        output::result(&format!("warning: {finding}"))?;
    }
    if doubts.is_empty() { output::result("nothing to mend") } else { Ok(()) }
}

fn told_rule(rule: &Rule) -> String {
    let total: u32 = rule.uses.iter().map(|named| named.weight).sum();
    let share = |named: &Use| match named.weight {
        0 => format!("{} after them", named.acquirer),
        weight => format!("{} {}", named.acquirer, percent(weight, total)),
    };
    let first = match rule.uses.as_slice() {
        [] => "as without a rule".to_owned(),
        [only] => only.acquirer.to_string(),
        several => several.iter().map(share).collect::<Vec<_>>().join(", "),
    };
    let then = match rule.then {
        Then::Next => "",
        Then::Stop => ", and nobody else",
    };
    let retry = if rule.retry_declines { "; one further acquirer after a reversible decline" } else { "" };
    format!("route {:?}: when {}: {first}{then}{retry}", rule.name, rule.when)
        .replace("when always", "always")
}

/// A share in percent, with one decimal if it has any.
fn percent(weight: u32, total: u32) -> String {
    let tenths = u64::from(weight) * 1_000 / u64::from(total.max(1));
    let text = format!("{}.{}", tenths / 10, tenths % 10);
    format!("{}%", text.trim_end_matches(".0"))
}

fn told_cost(line: &CostLine) -> String {
    let told = format!("cost of {}: when {}: {} and {}", line.acquirer, line.when, line.rate, line.fixed);
    told.replace("when always", "always")
}
