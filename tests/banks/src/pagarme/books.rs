//! Amounts that a Pagar.me has taken and returned, for a comparison at the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::charge::{Charge, Share, Status};

/// Charges by the code of their order, oldest first.
pub type Books = BTreeMap<String, Vec<Entry>>;

/// One charge in the books, amounts in cents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Id of the order.
    pub order_id: String,
    /// Id of the charge.
    pub charge_id: String,
    /// `credit_card`, `pix` or `boleto`.
    pub method: &'static str,
    /// Status of the charge.
    pub status: Status,
    /// Status of its newest step.
    pub transaction: &'static str,
    /// Requested amount.
    pub amount_cents: u64,
    /// Amount that a card's issuer held.
    pub authorised_cents: u64,
    /// Amount that was captured or paid.
    pub paid_cents: u64,
    /// Amount that was refunded, or held and released.
    pub canceled_cents: u64,
    /// Amount whose refund is requested but not done yet.
    pub refunding_cents: u64,
    /// Amount that was taken back by the holder.
    pub charged_back_cents: u64,
    /// Fees that the account pays for it, with those of an anticipation.
    pub fees_cents: i64,
    /// Shares of the recipients.
    pub shares: Vec<Share>,
}

impl Entry {
    pub(crate) fn of(charge: &Charge, fees_cents: i64) -> Self {
        Self {
            order_id: charge.order_id.clone(),
            charge_id: charge.id.clone(),
            method: charge.means.method(),
            status: charge.status,
            transaction: charge.last().map_or("", |last| last.status),
            amount_cents: charge.amount_cents,
            authorised_cents: charge.authorised_cents,
            paid_cents: charge.paid_cents,
            canceled_cents: charge.canceled_cents,
            refunding_cents: charge.refunds.iter().map(|refund| refund.amount_cents).sum(),
            charged_back_cents: charge.charged_back_cents,
            fees_cents,
            shares: charge.shares.clone(),
        }
    }

    /// Returns the amount that moved and was not refunded, apart from chargebacks.
    pub const fn kept_cents(&self) -> u64 {
        if self.paid_cents == 0 { 0 } else { self.paid_cents.saturating_sub(self.canceled_cents) }
    }

    /// Returns true if it holds a card's limit.
    pub fn holds_limit(&self) -> bool {
        self.status == Status::Pending && self.authorised_cents > 0
    }

    fn json(&self) -> Value {
        let share =
            |share: &Share| json!({ "recipient": share.recipient, "amountCents": share.amount_cents });
        json!({
            "orderId": self.order_id,
            "chargeId": self.charge_id,
            "method": self.method,
            "status": self.status.as_str(),
            "transaction": self.transaction,
            "amountCents": self.amount_cents,
            "authorisedCents": self.authorised_cents,
            "paidCents": self.paid_cents,
            "canceledCents": self.canceled_cents,
            "refundingCents": self.refunding_cents,
            "chargedBackCents": self.charged_back_cents,
            "keptCents": self.kept_cents(),
            "feesCents": self.fees_cents,
            "shares": self.shares.iter().map(share).collect::<Vec<_>>(),
        })
    }
}

/// Writes the books as JSON, for a client behind a socket.
pub(crate) fn json(books: &Books) -> Value {
    books
        .iter()
        .map(|(code, entries)| (code.clone(), entries.iter().map(Entry::json).collect::<Value>()))
        .collect()
}
