//! `creditCard`: the card that pays.

use super::fields::Fields;
use super::violation::{Broken, code};
use crate::card::{CardData, CardNumber, Cvv, Expiry};
use crate::time::Timestamp;

/// Reads the card. That it has expired is reported as a rule that depends on the time.
pub(super) fn read(card: &Fields<'_>, now: Timestamp) -> Option<CardData> {
    let number = card.required("number").secret_text();
    let number =
        number.and_then(|digits| card.keep("number", CardNumber::parse(digits).map_err(Broken::from)));
    let holder_name = card.required("holderName").text_of(1..=100);
    let month = card.required("expirationMonth").integer_or_digits(1..=2);
    let month = month.and_then(|month| card.in_range("expirationMonth", month, 1..=12));
    let year = card.required("expirationYear").integer_or_digits(4..=4);
    let year = year.and_then(|year| card.in_range("expirationYear", year, 1000..=9999));
    let cvv = card.required("cvv").secret_text();
    let cvv = cvv.and_then(|digits| card.keep("cvv", read_cvv(digits, number.as_ref())));
    let expiry = expiry(card, month?, year?)?;
    if !expiry.is_valid_on(now.sao_paulo_date()) {
        card.refuse_today("expirationYear", Broken::new(code::EXPIRED, "the card's last month has passed"));
    }
    Some(CardData { number: number?, holder_name: holder_name?, expiry, cvv: cvv?? })
}

/// The code; `None` when its form is right, but the card it must fit was refused.
fn read_cvv(digits: &str, number: Option<&CardNumber>) -> Result<Option<Cvv>, Broken> {
    if let Some(number) = number {
        return Ok(Some(Cvv::parse(digits, number.brand())?));
    }
    if !crate::text::is_digits(digits) && !digits.is_empty() {
        return Err(Broken::new(code::CHARACTER, "only digits are accepted"));
    }
    if !(3..=4).contains(&digits.len()) {
        return Err(Broken::new(code::LENGTH, "the number of digits is wrong"));
    }
    Ok(None)
}

fn expiry(card: &Fields<'_>, month: u64, year: u64) -> Option<Expiry> {
    let (month, year) = (u32::try_from(month).ok()?, i32::try_from(year).ok()?);
    card.keep("expirationMonth", Expiry::new(month, year).map_err(Broken::from))
}
