//! Past payments, reduced to their routes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::route_inputs::OrderInputs;
use super::{Considered, RouteInputs, Routed};
use crate::document::Document;
use crate::identity::Owner;
use crate::method::Method;
use crate::money::Money;
use crate::order::{Order, Terms};
use crate::payment::Payment;
use crate::time::Timestamp;

/// A payment reduced to the inputs and the record of its route. It has all that a replay needs, and is small enough for
/// a million of them. Read from a stored [`Payment`], skipping everything else.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastPayment {
    /// Its owner.
    pub owner: Owner,
    /// Its order.
    pub order: PastOrder,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Acquirers that were considered.
    pub considered: Vec<Considered>,
    /// Rule and table of routes that decided.
    #[serde(default)]
    pub routed: Routed,
    /// Random number that chose between equal acquirers.
    #[serde(with = "crate::payment::dice")]
    pub dice: u64,
}

/// The part of an [`Order`] that a route may depend on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PastOrder {
    /// Payment method.
    pub method: Method,
    /// Requested amount.
    pub amount: Money,
    /// Its payer.
    pub payer: PastPayer,
    /// The merchant's own notes.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Terms of the method.
    pub terms: Terms,
}

/// The part of a payer that a route may depend on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PastPayer {
    /// CPF or CNPJ.
    pub document: Document,
}

impl PastPayment {
    /// Reduces a payment.
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

    /// Returns the payment's criteria for a route.
    pub fn inputs(&self) -> RouteInputs<'_> {
        let PastOrder { method, amount, payer, metadata, terms } = &self.order;
        let order = OrderInputs { method: *method, amount: *amount, terms, payer: &payer.document, metadata };
        RouteInputs::with(order, &self.owner.merchant, self.created_at)
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
