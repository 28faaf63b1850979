//! Terms that depend on the method: `installments`, `creditCard`, `capture`, `expiresIn`, `dueDate`.

use chrono::{Days, NaiveDate};

use super::card;
use super::fields::Fields;
use super::violation::{Broken, code};
use super::wordings;
use crate::card::CardData;
use crate::method::Method;
use crate::order::Terms;
use crate::text::is_digits;
use crate::time::Timestamp;

/// Default time for which a PIX may be paid, in seconds.
const DEFAULT_EXPIRES_IN_S: u64 = 3600;

/// Default number of days until a boleto is due.
const DEFAULT_DUE_DAYS: u64 = 3;

/// Maximum number of days until a boleto is due.
const MAX_DUE_DAYS: u64 = 365;

/// Part of a card that has to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CardForm {
    /// Everything that a charge needs.
    ForCharge,
    /// The part that its route depends on.
    ForRoute,
}

/// Terms of the method as they were sent.
pub(super) struct SentTerms {
    pub(super) terms: Terms,
    pub(super) card: Option<CardData>,
    /// True if the due date was sent, and not derived from the time.
    pub(super) due_date_was_sent: bool,
}

/// Reads the fields of the method, and refuses those of other methods.
pub(super) fn read(
    root: &Fields<'_>,
    method: Option<Method>,
    now: Timestamp,
    (max_installments, card_form): (u8, CardForm),
) -> Option<SentTerms> {
    let installments = root.optional("installments").integer();
    let card = root.optional("creditCard").object();
    let capture = root.optional("capture").flag();
    let expires_in = root.optional("expiresIn").integer();
    let due_date = root.optional("dueDate").text();
    let method = method?;
    refuse_foreign(root, method, installments);
    let terms = |terms| Some(SentTerms { terms, card: None, due_date_was_sent: due_date.is_some() });
    match method {
        Method::Pix => {
            let in_range = |seconds| root.in_range("expiresIn", seconds, 60..=2_592_000);
            terms(Terms::Pix { expires_in_s: expires_in.map_or(Some(DEFAULT_EXPIRES_IN_S), in_range)? })
        }
        Method::Boleto => terms(Terms::Boleto { due_date: read_due_date(root, due_date, now)? }),
        Method::CreditCard => {
            root.required("installments");
            root.required("creditCard");
            let in_range = |count| root.in_range("installments", count, 1..=i64::from(max_installments));
            let installments = installments.and_then(in_range);
            let (card, data) = match card_form {
                CardForm::ForCharge => {
                    let data = card.and_then(|fields| card::read(&fields, now))?;
                    (data.masked(), Some(data))
                }
                CardForm::ForRoute => (card.and_then(|fields| card::read_for_route(&fields))?, None),
            };
            let installments = u8::try_from(installments?).ok()?;
            let terms = Terms::CreditCard { card, installments, capture: capture.unwrap_or(true) };
            Some(SentTerms { terms, card: data, due_date_was_sent: false })
        }
    }
}

/// Reports fields of other methods. A PIX or boleto may have `installments` of 1.
fn refuse_foreign(root: &Fields<'_>, method: Method, installments: Option<i64>) {
    for (name, owner) in [
        ("installments", Method::CreditCard),
        ("creditCard", Method::CreditCard),
        ("capture", Method::CreditCard),
        ("expiresIn", Method::Pix),
        ("dueDate", Method::Boleto),
    ] {
        let means_nothing = name == "installments" && installments == Some(1);
        if owner != method && root.optional(name).is_present() && !means_nothing {
            root.refuse(name, Broken::new(code::NOT_APPLICABLE, wordings::belongs_to(owner.label())));
        }
    }
}

fn read_due_date(root: &Fields<'_>, sent: Option<&str>, now: Timestamp) -> Option<NaiveDate> {
    let today = now.sao_paulo_date();
    let in_days = |days| today.checked_add_days(Days::new(days)).unwrap_or(today);
    let Some(sent) = sent else { return Some(in_days(DEFAULT_DUE_DAYS)) };
    let date = root.keep("dueDate", read_date(sent))?;
    if !(today..=in_days(MAX_DUE_DAYS)).contains(&date) {
        root.refuse_today("dueDate", Broken::new(code::RANGE, wordings::due_out_of_range()));
    }
    Some(date)
}

/// Reads `YYYY-MM-DD`; chrono alone would also accept `2026-1-2`.
fn read_date(text: &str) -> Result<NaiveDate, Broken> {
    let parts: Vec<&str> = text.split('-').collect();
    let has_form =
        parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(|part| is_digits(part));
    let date = if has_form { text.parse().ok() } else { None };
    date.ok_or_else(|| Broken::new(code::FORMAT, wordings::no_date()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_ten_characters_and_exists() {
        assert!(read_date("2028-02-29").is_ok());
        for text in [
            "",
            "2026-02-29",
            "2026-13-01",
            "2026-1-2",
            "+2026-01-02",
            "2026-01-02T00:00:00Z",
            "02/01/2026",
            " 2026-01-02",
            "２０２６-01-02",
        ] {
            assert_eq!(read_date(text).unwrap_err().code, code::FORMAT, "{text}");
        }
    }
}
