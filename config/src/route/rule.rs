//! One `[[route]]`.

use quita_domain::routing::{Rule, Then, Use};

use super::criteria;
use crate::acquirer::{acquirer_name, number};
use crate::table::OptionTable;

/// Maximum number of characters of a rule's name, which is stored with every payment that the rule decides.
const LONGEST_NAME: usize = 64;

const ACQUIRER_FORM: &str = "the name of an acquirer";

/// Reads a rule. Returns `None` if something is missing; refused values are recorded.
pub(super) fn read(table: &mut OptionTable<'_>) -> Option<Rule> {
    let name = table.required("name", "1 to 64 characters, without control characters", rule_name);
    if let Some(name) = &name {
        table.set_name(name);
    }
    let when = criteria::read(table);
    let uses = uses(table);
    let then = table.optional("then", "next or stop", Then::parse);
    let retry_declines = table.optional("retry-declines", "true or false", |text| text.parse().ok());
    Some(Rule {
        name: name?,
        when,
        uses,
        then: then.unwrap_or(Then::Next),
        retry_declines: retry_declines.unwrap_or_default(),
    })
}

fn rule_name(text: &str) -> Option<String> {
    let fits = !text.trim().is_empty() && text.chars().count() <= LONGEST_NAME;
    (fits && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// Reads the acquirers to try first; there are none if the key is absent.
fn uses(table: &mut OptionTable<'_>) -> Vec<Use> {
    let is_set = table.contains("use");
    let count = table.open_each("use", "acquirer");
    if is_set && count == 0 && !table.is_refused() {
        table.refuse("use", "it names no acquirer; name one, or remove it");
    }
    let named = (0..count).filter_map(|place| {
        let acquirer = table.required(&format!("use[{place}].acquirer"), ACQUIRER_FORM, acquirer_name);
        let weight =
            table.optional(&format!("use[{place}].weight"), "0 to 1000", |text| number(text, 0, 1_000));
        Some(Use { acquirer: acquirer?, weight: weight.unwrap_or(1) })
    });
    named.collect()
}
