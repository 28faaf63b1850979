//! `UTM…` and `metadata`: the merchant's notes.

use std::collections::BTreeMap;

use super::fields::{Fields, METADATA, check_text};
use super::violation::{Broken, code};
use super::wordings;
use crate::order::Utm;
use crate::text::fold_ascii;

/// Maximum number of entries of the metadata.
const MAX_METADATA: usize = 20;

/// Maximum number of characters of a name.
const MAX_NAME: usize = 40;

/// Names of card data, without punctuation and in lower case, that metadata may not use.
const CARD_DATA: [&str; 6] = ["cvv", "cvv2", "cvc", "cvc2", "pan", "cardnumber"];

/// Reads the campaign parameters.
pub(super) fn utm(root: &Fields<'_>) -> Utm {
    let read = |name| root.optional(name).text_of(0..=255);
    Utm {
        source: read("UTMSource"),
        medium: read("UTMMedium"),
        campaign: read("UTMCampaign"),
        term: read("UTMTerm"),
        content: read("UTMContent"),
    }
}

/// Reads the metadata; an entry that is `null` counts as absent.
pub(super) fn metadata(root: &Fields<'_>) -> BTreeMap<String, String> {
    let field = root.optional(METADATA);
    let Some(entries) = field.object() else { return BTreeMap::new() };
    let names: Vec<&str> = entries.names().filter(|name| entries.optional(name).is_present()).collect();
    if names.len() > MAX_METADATA {
        field.refuse(Broken::new(code::TOO_MANY, wordings::too_many_entries(MAX_METADATA)));
    }
    let read = |name: &&str| {
        // Reported for the object, because the name itself may be confidential.
        let is_no_card_data = entries.check_card(name).and_then(|()| check_name(name));
        let is_no_card_data = is_no_card_data.map_err(|broken| field.refuse(of_the_name(broken)));
        let fits = entries.keep(name, check_text(name, 1..=MAX_NAME).map_err(of_the_name));
        let value = entries.optional(name).text_of(0..=500);
        is_no_card_data.ok().and(fits).and(value).map(|value| ((*name).to_owned(), value))
    };
    names.iter().take(MAX_METADATA).filter_map(read).collect()
}

/// Refuses names for card data, in any spelling: `card_number`, `Card-Number`, `CVV`.
fn check_name(name: &str) -> Result<(), Broken> {
    let plain: String = fold_ascii(name, name.len()).chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    if !CARD_DATA.contains(&plain.as_str()) {
        return Ok(());
    }
    // A printable ASCII name has only the letters and digits of a listed one, so it can't repeat a card number.
    let is_printable = name.chars().all(|character| character == ' ' || character.is_ascii_graphic());
    let named = if is_printable && name.len() <= MAX_NAME { name } else { &plain };
    Err(Broken::new(code::CARD_NUMBER, wordings::name_of_card_data(named)))
}

fn of_the_name(broken: Broken) -> Broken {
    Broken { message: wordings::its_name().then(&broken.message), ..broken }
}
