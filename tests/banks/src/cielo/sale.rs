//! One sale as Cielo stores it.

use chrono::NaiveDate;
use serde_json::Value;

/// Status of a sale. The numbers are Cielo's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It failed, or its outcome is unknown.
    NotFinished,
    /// A card's limit is held, or a boleto is issued.
    Authorized,
    /// Captured, or paid.
    PaymentConfirmed,
    /// Refused.
    Denied,
    /// Voided on the day of its authorisation, or before capture.
    Voided,
    /// Fully refunded on a later day.
    Refunded,
    /// An unpaid PIX.
    Pending,
    /// Failed in processing, or in the fraud check.
    Aborted,
}

impl Status {
    /// Returns its number.
    pub fn number(self) -> u8 {
        match self {
            Self::NotFinished => 0,
            Self::Authorized => 1,
            Self::PaymentConfirmed => 2,
            Self::Denied => 3,
            Self::Voided => 10,
            Self::Refunded => 11,
            Self::Pending => 12,
            Self::Aborted => 13,
        }
    }
}

/// Means by which a sale is paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Means {
    Card(Card),
    Pix(Pix),
    Boleto(Boleto),
}

/// A card and the requested options. Of its number, only the digits on a receipt are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) masked: String,
    pub(crate) holder: String,
    pub(crate) expires: String,
    pub(crate) brand: String,
    pub(crate) token: Option<String>,
    pub(crate) instalments: u64,
    pub(crate) interest: String,
    pub(crate) captures_at_once: bool,
    pub(crate) soft_descriptor: Option<String>,
    pub(crate) authorization_code: Option<String>,
    pub(crate) advice: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pix {
    pub(crate) provider: Option<String>,
    pub(crate) txid: String,
    pub(crate) code: Option<String>,
    pub(crate) expires_ms: i64,
    pub(crate) expires_in_s: i64,
    pub(crate) end_to_end_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boleto {
    pub(crate) provider: String,
    pub(crate) number: String,
    pub(crate) bar_code: Option<String>,
    pub(crate) line: Option<String>,
    pub(crate) due: NaiveDate,
    pub(crate) assignor: Option<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) identification: Option<String>,
}

/// A dispute that the holder opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chargeback {
    /// Its number.
    pub case: String,
    /// Disputed amount, in cents.
    pub amount_cents: u64,
    /// Status of the dispute, in Cielo's words.
    pub status: String,
    /// Time at which it was opened.
    pub opened_ms: i64,
}

/// A PIX refund that is requested but not done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingRefund {
    pub(crate) amount_cents: u64,
    pub(crate) due_ms: i64,
    pub(crate) fails: bool,
}

/// One sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sale {
    pub(crate) payment_id: String,
    pub(crate) order_id: String,
    pub(crate) customer: Value,
    pub(crate) amount_cents: u64,
    pub(crate) means: Means,
    pub(crate) status: Status,
    pub(crate) return_code: String,
    pub(crate) return_message: String,
    pub(crate) tid: String,
    pub(crate) proof_of_sale: String,
    pub(crate) received_ms: i64,
    pub(crate) readable_from_ms: i64,
    pub(crate) authorised_cents: u64,
    pub(crate) captured_cents: u64,
    pub(crate) captured_ms: Option<i64>,
    pub(crate) voided_cents: u64,
    pub(crate) voided_ms: Option<i64>,
    pub(crate) chargebacks: Vec<Chargeback>,
    pub(crate) refunds: Vec<PendingRefund>,
    pub(crate) last_operation_ms: Option<i64>,
}

impl Sale {
    /// Returns the amount that can still be refunded, in cents.
    pub(crate) fn refundable_cents(&self) -> u64 {
        let under_way: u64 = self.refunds.iter().map(|refund| refund.amount_cents).sum();
        self.captured_cents.saturating_sub(self.voided_cents).saturating_sub(under_way)
    }

    /// Returns the card, if it is a card sale.
    pub(crate) fn card(&self) -> Option<&Card> {
        match &self.means {
            Means::Card(card) => Some(card),
            Means::Pix(_) | Means::Boleto(_) => None,
        }
    }
}
