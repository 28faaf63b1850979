//! Books of a Cielo: the amounts taken and returned, for a comparison at the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::sale::{Chargeback, Means, Sale, Status};

/// The sales of each `MerchantOrderId`, oldest first.
pub type Books = BTreeMap<String, Vec<Entry>>;

/// One sale in the books, amounts in cents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Cielo's id.
    pub payment_id: String,
    /// `CreditCard`, `Pix` or `Boleto`.
    pub method: &'static str,
    /// Status of the sale.
    pub status: Status,
    /// Requested amount.
    pub amount_cents: u64,
    /// Amount that a card's issuer held.
    pub authorised_cents: u64,
    /// Amount that was captured or paid.
    pub captured_cents: u64,
    /// Amount that was refunded, or held and released.
    pub voided_cents: u64,
    /// Amount whose refund is requested but not done yet.
    pub refunding_cents: u64,
    /// The disputes.
    pub chargebacks: Vec<Chargeback>,
}

impl Entry {
    pub(crate) fn of(sale: &Sale) -> Self {
        Self {
            payment_id: sale.payment_id.clone(),
            method: method(&sale.means),
            status: sale.status,
            amount_cents: sale.amount_cents,
            authorised_cents: sale.authorised_cents,
            captured_cents: sale.captured_cents,
            voided_cents: sale.voided_cents,
            refunding_cents: sale.refunds.iter().map(|refund| refund.amount_cents).sum(),
            chargebacks: sale.chargebacks.clone(),
        }
    }

    /// Returns the amount that moved and was not refunded, apart from chargebacks.
    pub fn kept_cents(&self) -> u64 {
        if self.captured_cents == 0 { 0 } else { self.captured_cents.saturating_sub(self.voided_cents) }
    }

    fn json(&self) -> Value {
        let chargebacks = self.chargebacks.iter().map(
            |case| json!({ "case": case.case, "amountCents": case.amount_cents, "status": case.status }),
        );
        json!({
            "paymentId": self.payment_id,
            "method": self.method,
            "status": self.status.number(),
            "amountCents": self.amount_cents,
            "authorisedCents": self.authorised_cents,
            "capturedCents": self.captured_cents,
            "voidedCents": self.voided_cents,
            "refundingCents": self.refunding_cents,
            "keptCents": self.kept_cents(),
            "chargebacks": chargebacks.collect::<Vec<_>>(),
        })
    }
}

/// Returns Cielo's name of a sale's method.
pub(crate) fn method(means: &Means) -> &'static str {
    match means {
        Means::Card(_) => "CreditCard",
        Means::Pix(_) => "Pix",
        Means::Boleto(_) => "Boleto",
    }
}

/// Writes the books as JSON, for a client behind a socket.
pub(crate) fn json(books: &Books) -> Value {
    books
        .iter()
        .map(|(order, entries)| (order.clone(), entries.iter().map(Entry::json).collect::<Value>()))
        .collect()
}
