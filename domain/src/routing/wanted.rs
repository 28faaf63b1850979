//! What a payment wants of an acquirer.

use std::collections::BTreeMap;

use chrono::{Datelike, Timelike};

use super::Weekday;
use crate::card::Brand;
use crate::document::Document;
use crate::identity::MerchantId;
use crate::method::Method;
use crate::money::Money;
use crate::order::{Order, Terms};
use crate::time::Timestamp;

/// What a payment wants of an acquirer, as far as its route depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// How it is to be paid.
    pub method: Method,
    /// What is to be paid.
    pub amount: Money,
    /// For how long a PIX is to be payable, in seconds.
    pub expires_in_s: Option<u64>,
    /// The card's brand.
    pub brand: Option<Brand>,
    /// The card's first six digits.
    pub first_digits: Option<&'a str>,
    /// In how many instalments the holder of a card pays.
    pub installments: Option<u8>,
    /// Whose payment it is.
    pub merchant: &'a MerchantId,
    /// The merchant's own notes.
    pub metadata: &'a BTreeMap<String, String>,
    /// Who pays.
    pub payer: &'a Document,
    /// The day of the week in Brasília.
    pub weekday: Weekday,
    /// Minutes since midnight in Brasília.
    pub minute: u16,
}

impl<'a> Wanted<'a> {
    /// What this order of a merchant wants at this time.
    pub fn of(order: &'a Order, merchant: &'a MerchantId, at: Timestamp) -> Self {
        let asked = (order.method, order.amount, &order.terms);
        Self::with(asked, &order.payer.document, &order.metadata, (merchant, at))
    }

    /// What is wanted with this method, amount and terms, by this payer, with these notes, of this merchant at this time.
    pub(super) fn with(
        (method, amount, terms): (Method, Money, &'a Terms),
        payer: &'a Document,
        metadata: &'a BTreeMap<String, String>,
        (merchant, at): (&'a MerchantId, Timestamp),
    ) -> Self {
        let expires_in_s = match terms {
            Terms::Pix { expires_in_s } => Some(*expires_in_s),
            Terms::Boleto { .. } | Terms::CreditCard { .. } => None,
        };
        let local = at.in_sao_paulo();
        Self {
            method,
            amount,
            expires_in_s,
            brand: terms.card().map(|card| card.brand),
            first_digits: terms.card().map(|card| card.first_digits.as_str()),
            installments: terms.installments(),
            merchant,
            metadata,
            payer,
            weekday: local.weekday().into(),
            minute: u16::try_from(local.hour() * 60 + local.minute()).unwrap_or_default(),
        }
    }
}
