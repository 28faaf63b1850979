//! The code to pay with: the bank's, if it is a BR Code of this charge, or one that is built from the charge's location.

use quita_domain::money::Money;
use quita_domain::pix::br_code::{BrCode, DynamicBrCode, stated_amount};
use serde_json::Value;

use super::lenient::text;
use super::settings::ApiPixSettings;

/// Returns the location from which the payer's app fetches the charge: host and path without scheme, as in a BR Code.
pub(super) fn location(answer: &Value) -> Option<&str> {
    let given = text(answer, "location").or_else(|| text(answer.get("loc")?, "location"))?;
    Some(given.strip_prefix("https://").or_else(|| given.strip_prefix("http://")).unwrap_or(given))
}

/// Returns the code of this charge, if the answer has the required parts.
pub(super) fn of_charge(answer: &Value, amount: Money, settings: &ApiPixSettings) -> Option<String> {
    let location = location(answer);
    let given = settings.code_fields.iter().filter_map(|field| text(answer, field));
    let of_this_charge = |code: &&str| is_of_charge(code, location, amount);
    given.into_iter().find(of_this_charge).map(String::from).or_else(|| built(location?, settings))
}

/// Returns true if a payer who uses this code pays this charge: it is dynamic, and has the location in the answer.
fn is_of_charge(code: &str, location: Option<&str>, amount: Money) -> bool {
    let Ok(BrCode::Dynamic(read)) = BrCode::parse(code) else { return false };
    // A code with another location would send the payer's money to somebody else's charge.
    let leads_there = location.is_none_or(|location| read.url.eq_ignore_ascii_case(location));
    // Zero states nothing: the payer's bank takes the amount from the charge.
    let states = |cents| cents == 0 || cents == amount.cents();
    let states_it = stated_amount(code).is_ok_and(|cents| cents.is_none_or(states));
    leads_there && states_it
}

fn built(location: &str, settings: &ApiPixSettings) -> Option<String> {
    let receiver = settings.receiver.as_ref()?;
    DynamicBrCode::new(location.to_owned(), receiver.name.clone(), receiver.city.clone()).build().ok()
}
