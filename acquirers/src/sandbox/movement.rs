//! Simulated movements of money, and their names. All of them follow from the payment's id.

use chrono::{DateTime, NaiveDate};
use quita_domain::acquiring::{Approval, ChargeQuery, Settlement};
use quita_domain::due_terms::InterestSince;
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::time::Timestamp;

/// ISPB of the simulated payer's bank, which no real bank has.
const PAYER_ISPB: &str = "99999999";

/// Returns the only settlement of a payment. It has the same id in every report.
///
/// It only depends on the payment's id. A repeated request may make the charge again, before the insert finds the
/// existing payment. That second charge has another creation time.
pub(super) fn settlement(query: &ChargeQuery, amount: Money, paid_on: NaiveDate) -> Settlement {
    let plain = query.id.uuid().simple();
    let paid_on = Some(paid_on);
    match query.method {
        Method::Pix => by_pix(query, format!("pix-{plain}"), amount, paid_on),
        Method::Boleto => {
            Settlement { id: format!("boleto-{plain}"), amount, paid_on, end_to_end_id: None, approval: None }
        }
        Method::CreditCard => {
            let paid_on = None;
            let approval = Some(approval(query.id));
            Settlement { id: format!("card-{plain}"), amount, paid_on, end_to_end_id: None, approval }
        }
    }
}

/// Returns the settlement of a boleto that is paid by its PIX code.
pub(super) fn settlement_by_pix_code(query: &ChargeQuery, amount: Money, paid_on: NaiveDate) -> Settlement {
    by_pix(query, format!("boleto-pix-{}", query.id.uuid().simple()), amount, Some(paid_on))
}

fn by_pix(query: &ChargeQuery, id: String, amount: Money, paid_on: Option<NaiveDate>) -> Settlement {
    let end_to_end_id = Some(end_to_end_id(query.id, query.created_at));
    Settlement { id, amount, paid_on, end_to_end_id, approval: None }
}

/// Returns the amount that a payer owes on a day.
pub(super) fn owed_on(query: &ChargeQuery, day: NaiveDate) -> Money {
    let since = InterestSince::of(query.method);
    query.terms.due().map_or(query.amount, |due| due.owed_on(query.amount, day, since))
}

/// Returns the issuer's answer to an authorisation: six digits.
pub(super) fn approval(id: TransactionId) -> Approval {
    let code = id.uuid().as_u128() % 1_000_000;
    Approval { authorization_code: format!("{code:06}") }
}

/// Returns the number of a slip within its agreement: at most ten digits.
pub(super) fn slip_number(id: TransactionId) -> u64 {
    u64::try_from(id.uuid().as_u128() % 10_000_000_000).unwrap_or_default()
}

/// Returns `E`, the ISPB, the minute of creation in UTC, and 11 characters of the id (Pix API 2.9.0: 32 in all).
fn end_to_end_id(id: TransactionId, created_at: Timestamp) -> String {
    let at = DateTime::from_timestamp_millis(created_at.millis()).unwrap_or_default();
    format!("E{PAYER_ISPB}{}{}", at.format("%Y%m%d%H%M"), last_eleven(id))
}

/// Returns the lowest part of the id, in base 36.
fn last_eleven(id: TransactionId) -> String {
    let mut rest = id.uuid().as_u128();
    let mut characters = String::new();
    for _ in 0..11 {
        let digit = u32::try_from(rest % 36).unwrap_or_default();
        characters.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= 36;
    }
    characters
}
