//! `creditCard`: the card of the payer.

use super::fields::Fields;
use super::violation::{Broken, code};
use super::wordings;
use crate::card::{Brand, CardData, CardError, CardNumber, Cvv, Expiry, MaskedCard};
use crate::text::is_digits;
use crate::time::Timestamp;

/// Number of leading digits that are kept.
const BIN_DIGITS: usize = 6;

/// Names of all fields of a card.
pub(super) const FIELDS: [&str; 5] = ["number", "holderName", "expirationMonth", "expirationYear", "cvv"];

/// Reads the card of a charge. One without any field is reported with the alternatives: a token, or all fields.
pub(super) fn read_for_charge(card: &Fields<'_>, now: Timestamp) -> Option<CardData> {
    if FIELDS.iter().any(|name| card.optional(name).is_present()) {
        return read(card, now);
    }
    card.refuse_without("", wordings::needs_token_or_card());
    None
}

/// Reads the card. An expired one is reported as a violation that depends on the time.
pub(super) fn read(card: &Fields<'_>, now: Timestamp) -> Option<CardData> {
    let number = card.required("number").secret_text();
    let number =
        number.and_then(|digits| card.keep("number", CardNumber::parse(digits).map_err(Broken::from)));
    let holder_name = card.required("holderName").text_of(1..=100);
    let month = card.required("expirationMonth").integer_or_digits(1..=2, wordings::no_month);
    let month = month.and_then(|month| card.in_range("expirationMonth", month, 1..=12));
    let year = card.required("expirationYear").integer_or_digits(4..=4, wordings::no_year);
    let year = year.and_then(|year| card.in_range_or("expirationYear", year, 1000..=9999, wordings::no_year));
    let cvv = card.required("cvv").secret_text();
    let cvv = cvv.and_then(|digits| card.keep("cvv", read_cvv(digits, number.as_ref())));
    let expiry = expiry(card, month?, year?)?;
    if !expiry.is_valid_on(now.sao_paulo_date()) {
        card.refuse_today("expirationYear", Broken::new(code::EXPIRED, wordings::card_expired()));
    }
    Some(CardData { number: number?, holder_name: holder_name?, expiry, cvv: cvv?? })
}

/// Reads the parts that a route depends on: the number, or else its first digits, and the brand. The rest is ignored.
pub(super) fn read_for_route(card: &Fields<'_>) -> Option<MaskedCard> {
    let masked = |brand, first_digits: &str| MaskedCard {
        brand,
        first_digits: first_digits.chars().take(BIN_DIGITS).collect(),
        last_digits: String::new(),
        holder_name: String::new(),
    };
    if card.optional("number").is_present() {
        let digits = card.optional("number").secret_text()?;
        let number = card.keep("number", CardNumber::parse(digits).map_err(Broken::from))?;
        return Some(masked(number.brand(), digits));
    }
    if !card.optional("bin").is_present() {
        card.refuse_without("", wordings::needs_part_of_card());
    }
    let bin = card.optional("bin").parsed(|text| {
        let is_bin = is_digits(text) && (BIN_DIGITS..=8).contains(&text.len());
        if is_bin { Ok(text.to_owned()) } else { Err(Broken::new(code::FORMAT, wordings::no_bin())) }
    });
    let brand = card.optional("brand").parsed(|text| {
        let names = || Brand::ALL.map(Brand::as_str).join(", ");
        let broken = || Broken::new(code::UNKNOWN_VALUE, wordings::no_brand(&names()));
        Brand::ALL.into_iter().find(|brand| brand.as_str() == text).ok_or_else(broken)
    });
    let bin = bin?;
    if card.optional("brand").is_present() {
        return Some(masked(brand?, &bin));
    }
    let broken = || Broken::new(code::UNKNOWN_VALUE, wordings::brand_not_known());
    card.keep("bin", Brand::of(&bin).ok_or_else(broken)).map(|brand| masked(brand, &bin))
}

/// Reads the security code; `None` if its form is right, but its card was refused.
fn read_cvv(digits: &str, number: Option<&CardNumber>) -> Result<Option<Cvv>, Broken> {
    if let Some(number) = number {
        return Cvv::parse(digits, number.brand())
            .map(Some)
            .map_err(|error| if error == CardError::Length { no_cvv_length() } else { Broken::from(error) });
    }
    if !crate::text::is_digits(digits) && !digits.is_empty() {
        return Err(Broken::new(code::CHARACTER, wordings::only_digits()));
    }
    if (3..=4).contains(&digits.len()) { Ok(None) } else { Err(no_cvv_length()) }
}

fn no_cvv_length() -> Broken {
    Broken::new(code::LENGTH, wordings::no_cvv_length())
}

fn expiry(card: &Fields<'_>, month: u64, year: u64) -> Option<Expiry> {
    let month = u32::try_from(month).ok()?;
    let year = i32::try_from(year).ok()?;
    card.keep("expirationMonth", Expiry::new(month, year).map_err(Broken::from))
}
