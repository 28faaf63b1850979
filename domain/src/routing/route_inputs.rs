//! Inputs of a route that come from the payment.

use std::collections::BTreeMap;

use chrono::{Datelike, Timelike};

use super::Weekday;
use crate::card::Brand;
use crate::document::Document;
use crate::due_terms::DueTerms;
use crate::identity::MerchantId;
use crate::method::Method;
use crate::money::Money;
use crate::order::{Order, Terms};
use crate::time::Timestamp;

/// Properties of a payment that its route depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteInputs<'a> {
    /// Payment method.
    pub method: Method,
    /// Amount to be paid.
    pub amount: Money,
    /// Time for which a PIX is to be payable, in seconds.
    pub expires_in_s: Option<u64>,
    /// Terms of a charge with a due date.
    pub due: Option<&'a DueTerms>,
    /// The card's brand.
    pub brand: Option<Brand>,
    /// The card's first six digits.
    pub first_digits: Option<&'a str>,
    /// Number of instalments of a card.
    pub installments: Option<u8>,
    /// Its merchant.
    pub merchant: &'a MerchantId,
    /// The merchant's own notes.
    pub metadata: &'a BTreeMap<String, String>,
    /// Document of the payer.
    pub payer: &'a Document,
    /// Weekday in Brasília.
    pub weekday: Weekday,
    /// Minutes since midnight in Brasília.
    pub minute: u16,
}

/// Inputs of a route that come from the order alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderInputs<'a> {
    /// Payment method.
    pub(super) method: Method,
    /// Amount to be paid.
    pub(super) amount: Money,
    /// Terms of the method.
    pub(super) terms: &'a Terms,
    /// Document of the payer.
    pub(super) payer: &'a Document,
    /// The merchant's own notes.
    pub(super) metadata: &'a BTreeMap<String, String>,
}

impl<'a> RouteInputs<'a> {
    /// Returns the properties of a merchant's order at this time.
    pub fn of(order: &'a Order, merchant: &'a MerchantId, at: Timestamp) -> Self {
        let order = OrderInputs {
            method: order.method,
            amount: order.amount,
            terms: &order.terms,
            payer: &order.payer.document,
            metadata: &order.metadata,
        };
        Self::with(order, merchant, at)
    }

    /// Returns the properties of these inputs of an order, of a merchant, at this time.
    pub(super) fn with(order: OrderInputs<'a>, merchant: &'a MerchantId, at: Timestamp) -> Self {
        let OrderInputs { method, amount, terms, payer, metadata } = order;
        let expires_in_s = match terms {
            Terms::Pix { expires_in_s } => Some(*expires_in_s),
            Terms::DuePix(_) | Terms::Boleto(_) | Terms::CreditCard { .. } => None,
        };
        let local = at.in_sao_paulo();
        Self {
            method,
            amount,
            expires_in_s,
            due: terms.due(),
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

#[cfg(test)]
mod tests;
