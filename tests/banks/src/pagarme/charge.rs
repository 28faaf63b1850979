//! Orders and charges as Pagar.me stores them.

use chrono::NaiveDate;
use serde_json::Value;

/// Status of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Waits for its payer, or for its capture.
    Pending,
    /// Paid, or captured.
    Paid,
    /// Withdrawn, voided, or fully refunded.
    Canceled,
    /// Undecided.
    Processing,
    /// Refused or expired.
    Failed,
    /// Paid, with more than the requested amount.
    Overpaid,
    /// Paid, with less than the requested amount.
    Underpaid,
    /// Taken back by the holder.
    ChargedBack,
}

impl Status {
    /// Returns its spelling in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Canceled => "canceled",
            Self::Processing => "processing",
            Self::Failed => "failed",
            Self::Overpaid => "overpaid",
            Self::Underpaid => "underpaid",
            Self::ChargedBack => "chargedback",
        }
    }
}

/// Means of payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Means {
    Card(Card),
    Pix(Pix),
    Boleto(Boleto),
}

impl Means {
    /// Returns the name of the method.
    pub(crate) const fn method(&self) -> &'static str {
        match self {
            Self::Card(_) => "credit_card",
            Self::Pix(_) => "pix",
            Self::Boleto(_) => "boleto",
        }
    }
}

/// A card and the requested options. Of its number, only the digits on a receipt are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) first_six: String,
    pub(crate) last_four: String,
    pub(crate) holder: String,
    pub(crate) expires: (u64, u64),
    pub(crate) brand: &'static str,
    pub(crate) instalments: u64,
    pub(crate) captures_at_once: bool,
    pub(crate) statement_descriptor: Option<String>,
    pub(crate) auto_recovery: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pix {
    pub(crate) provider_tid: String,
    pub(crate) code: Option<String>,
    pub(crate) expires_ms: i64,
    pub(crate) end_to_end_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boleto {
    pub(crate) bank: String,
    pub(crate) number: String,
    pub(crate) document_number: Option<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) line: Option<String>,
    pub(crate) due: NaiveDate,
    /// Calendar days after the due date on which it may still be paid.
    pub(crate) payable_after_days: u64,
}

/// Share of one recipient, in cents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The recipient.
    pub recipient: String,
    /// Its part of the amount, in cents.
    pub amount_cents: u64,
    /// True if the recipient pays the fee.
    pub pays_fee: bool,
}

/// A step of a charge. The newest one is its `last_transaction`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transaction {
    pub(crate) id: String,
    pub(crate) status: &'static str,
    pub(crate) success: bool,
    pub(crate) amount_cents: u64,
    pub(crate) at_ms: i64,
    pub(crate) authorisation: Option<Authorisation>,
    pub(crate) gateway: (String, Vec<String>),
    pub(crate) antifraud: Option<&'static str>,
}

/// Answer of the acquirer behind Pagar.me about a card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Authorisation {
    pub(crate) tid: String,
    pub(crate) nsu: String,
    pub(crate) code: Option<String>,
    pub(crate) return_code: String,
    pub(crate) message: &'static str,
    pub(crate) brand_failure: Option<String>,
}

/// A refund under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingRefund {
    pub(crate) amount_cents: u64,
    pub(crate) due_ms: i64,
    pub(crate) fails: bool,
}

/// One charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Charge {
    pub(crate) id: String,
    pub(crate) order_id: String,
    pub(crate) code: String,
    pub(crate) amount_cents: u64,
    pub(crate) means: Means,
    pub(crate) status: Status,
    pub(crate) authorised_cents: u64,
    pub(crate) paid_cents: u64,
    pub(crate) canceled_cents: u64,
    pub(crate) charged_back_cents: u64,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    pub(crate) paid_ms: Option<i64>,
    pub(crate) canceled_ms: Option<i64>,
    pub(crate) shares: Vec<Share>,
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) refunds: Vec<PendingRefund>,
    /// Times of the requests to cancel it.
    pub(crate) cancel_tries_ms: Vec<i64>,
}

impl Charge {
    /// Returns the amount that can still be refunded.
    pub(crate) fn refundable_cents(&self) -> u64 {
        let under_way: u64 = self.refunds.iter().map(|refund| refund.amount_cents).sum();
        self.paid_cents.saturating_sub(self.canceled_cents).saturating_sub(under_way)
    }

    /// Returns the card, if it is one.
    pub(crate) const fn card(&self) -> Option<&Card> {
        match &self.means {
            Means::Card(card) => Some(card),
            Means::Pix(_) | Means::Boleto(_) => None,
        }
    }

    /// Returns the newest step.
    pub(crate) fn last(&self) -> Option<&Transaction> {
        self.transactions.last()
    }
}

/// One order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) code: String,
    pub(crate) amount_cents: u64,
    pub(crate) customer: Value,
    pub(crate) items: Value,
    pub(crate) created_ms: i64,
    pub(crate) listed_from_ms: i64,
    pub(crate) charges: Vec<String>,
}
