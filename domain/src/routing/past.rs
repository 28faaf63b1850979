//! What is left of a payment when only its route is of interest.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Considered, Routed, Wanted};
use crate::document::Document;
use crate::identity::Owner;
use crate::method::Method;
use crate::money::Money;
use crate::order::{Order, Terms};
use crate::payment::Payment;
use crate::time::Timestamp;

/// A payment as far as its route depended on it, and what was kept of the route: all that a replay needs, for a million of
/// them. Read from a stored [`Payment`], of which everything else is passed over.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastPayment {
    /// To whom it belongs.
    pub owner: Owner,
    /// What was asked for.
    pub order: PastOrder,
    /// When it was created.
    pub created_at: Timestamp,
    /// Who was looked at.
    pub considered: Vec<Considered>,
    /// What decided.
    #[serde(default)]
    pub routed: Routed,
    /// What decided where chance had to.
    #[serde(with = "crate::payment::dice")]
    pub dice: u64,
}

/// The part of an [`Order`] that a route may depend on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PastOrder {
    /// How it was to be paid.
    pub method: Method,
    /// What was to be paid.
    pub amount: Money,
    /// Who was to pay.
    pub payer: PastPayer,
    /// The merchant's own notes.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// What only one method has.
    pub terms: Terms,
}

/// The part of a payer that a route may depend on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PastPayer {
    /// CPF or CNPJ.
    pub document: Document,
}

impl PastPayment {
    /// That of a payment.
    pub fn of(payment: &Payment) -> Self {
        Self {
            owner: payment.owner.clone(),
            order: PastOrder::of(&payment.order),
            created_at: payment.created_at,
            considered: payment.considered.to_vec(),
            routed: Routed::clone(&payment.routed),
            dice: payment.dice,
        }
    }

    /// What it wanted of an acquirer.
    pub fn wanted(&self) -> Wanted<'_> {
        let PastOrder { method, amount, payer, metadata, terms } = &self.order;
        let asked = (*method, *amount, terms);
        Wanted::with(asked, &payer.document, metadata, (&self.owner.merchant, self.created_at))
    }
}

impl PastOrder {
    fn of(order: &Order) -> Self {
        Self {
            method: order.method,
            amount: order.amount,
            payer: PastPayer { document: order.payer.document.clone() },
            metadata: order.metadata.clone(),
            terms: order.terms.clone(),
        }
    }
}
