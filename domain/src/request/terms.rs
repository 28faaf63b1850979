//! Terms that depend on the method: `installments`, `creditCard`, `capture`, `expiresIn`, and those of a due date.

use super::fields::Fields;
use super::token::SentToken;
use super::violation::{Broken, code};
use super::wordings;
use super::{card, due};
use crate::card::CardData;
use crate::method::Method;
use crate::money::Money;
use crate::order::Terms;
use crate::time::Timestamp;

/// Default time for which a PIX may be paid, in seconds.
const DEFAULT_EXPIRES_IN_S: u64 = 3600;

/// Part of a card that has to be sent.
#[derive(Clone, Copy)]
pub(super) enum CardForm<'t> {
    /// Everything that a charge needs, or the token that was sent instead.
    ForCharge(Option<&'t SentToken>),
    /// The part that its route depends on, or the token that was sent instead.
    ForRoute(Option<&'t SentToken>),
}

/// Terms of the method, as sent.
pub(super) struct SentTerms {
    pub(super) terms: Terms,
    pub(super) card: Option<CardData>,
    pub(super) dates: SentDates,
}

/// Dates that were sent, rather than derived from the time or a default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SentDates {
    /// `dueDate`.
    pub(super) due_date: bool,
    /// `payableAfterDueDays`.
    pub(super) payable_days: bool,
}

/// Reads the fields of the method, and refuses those of other methods.
pub(super) fn read(
    root: &Fields<'_>,
    method: Option<Method>,
    amount: Option<Money>,
    now: Timestamp,
    max_installments: u8,
    card_form: CardForm<'_>,
) -> Option<SentTerms> {
    let installments = root.optional("installments").integer();
    let card = root.optional("creditCard").object();
    let capture = root.optional("capture").flag();
    let expires_in = root.optional("expiresIn").integer();
    let method = method?;
    let has_due_date = match method {
        Method::Pix => root.optional("dueDate").is_present(),
        Method::Boleto => true,
        Method::CreditCard => false,
    };
    refuse_foreign(root, method, installments, has_due_date);
    let with_dates = |terms, dates| Some(SentTerms { terms, card: None, dates });
    match method {
        Method::Pix if has_due_date => {
            let due = due::read(root, amount, now);
            let dates = due.dates;
            with_dates(Terms::DuePix(due.of_pix()?), dates)
        }
        Method::Pix => {
            let in_range = |seconds| root.in_range("expiresIn", seconds, 60..=2_592_000);
            with_dates(
                Terms::Pix { expires_in_s: expires_in.map_or(Some(DEFAULT_EXPIRES_IN_S), in_range)? },
                SentDates::default(),
            )
        }
        Method::Boleto => {
            let due = due::read(root, amount, now);
            let dates = due.dates;
            with_dates(Terms::Boleto(due.of_boleto()?), dates)
        }
        Method::CreditCard => {
            root.required("installments");
            root.required("creditCard");
            let in_range = |count| root.in_range("installments", count, 1..=i64::from(max_installments));
            let installments = installments.and_then(in_range);
            let (card, data) = match card_form {
                CardForm::ForCharge(token) => {
                    let read = |fields: Fields<'_>| match token {
                        Some(token) => token.read(&fields, now),
                        None => card::read_for_charge(&fields, now),
                    };
                    let data = card.and_then(read)?;
                    (data.masked(), Some(data))
                }
                CardForm::ForRoute(Some(token)) => {
                    (card.and_then(|fields| token.read(&fields, now))?.masked(), None)
                }
                CardForm::ForRoute(None) => (card.and_then(|fields| card::read_for_route(&fields))?, None),
            };
            let installments = u8::try_from(installments?).ok()?;
            let terms = Terms::CreditCard { card, installments, capture: capture.unwrap_or(true) };
            Some(SentTerms { terms, card: data, dates: SentDates::default() })
        }
    }
}

/// Reports fields of other methods, and those that a due date needs or excludes. A PIX or boleto may have
/// `installments` of 1.
fn refuse_foreign(root: &Fields<'_>, method: Method, installments: Option<i64>, has_due_date: bool) {
    let refuse = |name, message| root.refuse(name, Broken::new(code::NOT_APPLICABLE, message));
    for (name, owner) in [
        ("installments", Method::CreditCard),
        ("creditCard", Method::CreditCard),
        ("capture", Method::CreditCard),
        ("expiresIn", Method::Pix),
        ("instructions", Method::Boleto),
    ] {
        let means_nothing = name == "installments" && installments == Some(1);
        if owner != method && root.optional(name).is_present() && !means_nothing {
            refuse(name, wordings::belongs_to(owner.label()));
        }
    }
    for name in ["dueDate", "payableAfterDueDays", "fine", "interest", "discounts"] {
        if root.optional(name).is_present() && !has_due_date {
            refuse(
                name,
                match method {
                    Method::CreditCard => wordings::belongs_to("boleto, pix"),
                    Method::Pix | Method::Boleto => wordings::needs_due_date(),
                },
            );
        }
    }
    if method == Method::Pix && has_due_date && root.optional("expiresIn").is_present() {
        refuse("expiresIn", wordings::excludes_due_date());
    }
}
