//! What is said between a payment and its acquirer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::card::{CardData, MaskedCard};
use crate::identity::{AcquirerName, TransactionId};
use crate::method::Method;
use crate::money::Money;
use crate::order::{Order, Terms};
use crate::time::Timestamp;

/// What an acquirer handed out for the payer: the code to pay with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Issued {
    /// A PIX charge.
    #[serde(rename_all = "camelCase")]
    Pix {
        /// The charge's identifier at the acquirer, 26–35 letters and digits.
        txid: String,
        /// The BR Code: text of the QR code and code to copy.
        code: String,
        /// Until when it may be paid.
        expires_at: Timestamp,
    },
    /// A boleto.
    Boleto(crate::slip::IssuedBoleto),
}

/// What the issuer answered to a card authorisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The issuer's authorisation code.
    pub authorization_code: String,
}

/// Money that the acquirer received for the merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    /// The acquirer's id of this one movement; a notice that repeats carries the same.
    pub id: String,
    /// How much came in.
    pub amount: Money,
    /// PIX only: the end-to-end id of the transfer, 32 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_to_end_id: Option<String>,
    /// Card only: the approval that went before, when one answer tells both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// Something that an acquirer states about a payment, in an answer or in a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "fact")]
pub enum Fact {
    /// Created, and waits for the payer.
    #[serde(rename_all = "camelCase")]
    Pending {
        /// The code to pay with.
        issued: Issued,
        /// When the acquirer expects news; it is asked then if no notice came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        news_at: Option<Timestamp>,
    },
    /// A card's limit is held.
    Authorized(Approval),
    /// The money came in; a card was captured.
    Settled(Settlement),
    /// Refused for good.
    Declined {
        /// The reason as this service names it: `insufficient_funds`.
        code: String,
    },
    /// Can no longer be paid.
    Expired,
    /// Withdrawn, or voided.
    Cancelled,
    /// Money went back to the payer, without or with our asking.
    #[serde(rename_all = "camelCase")]
    Refunded {
        /// The acquirer's id of this refund, or ours if we asked for it.
        refund_id: String,
        /// How much; all that is left when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Money>,
    },
    /// The payment was disputed and the money taken back.
    ChargedBack {
        /// The acquirer's id of this one movement; a notice that repeats carries the same.
        id: String,
    },
    /// The dispute was won: the money is the merchant's again.
    DisputeWon {
        /// The acquirer's id of this one movement; a notice that repeats carries the same.
        id: String,
    },
}

/// Why a call to an acquirer brought no fact. What is said of it is shown to operators: it holds no personal data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// It certainly had no effect: no connection, or an explicit "not now".
    NotDelivered(String),
    /// It may have had an effect: a time-out, a 5xx, an unreadable answer. It must be asked for.
    Unknown(String),
    /// It was not sent, because an operator ordered that nothing is sent to this acquirer for now.
    Withheld,
}

/// The answer to a charge, or to the question what became of one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "made and moved once per call; a box would cost an allocation each"
)]
pub enum ChargeAnswer {
    /// The acquirer knows the payment and states this.
    Known(Fact),
    /// The acquirer certainly never saw the payment.
    NotFound,
    /// No answer that could be used.
    Failed(CallFailure),
}

/// The answer to a cancellation, a capture or a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationAnswer {
    /// Done.
    Done,
    /// Refused for good.
    Refused(String),
    /// No answer that could be used.
    Failed(CallFailure),
}

/// What an acquirer is told to charge. Its `query.id` is the idempotency key at the acquirer.
#[derive(Debug, Clone)]
pub struct Charge {
    /// Identifies the payment.
    pub query: ChargeQuery,
    /// What the merchant asked for.
    pub order: Arc<Order>,
    /// The card, for a card payment.
    pub card: Option<CardData>,
}

/// Identifies a payment to its acquirer.
#[derive(Debug, Clone)]
pub struct ChargeQuery {
    /// Our id.
    pub id: TransactionId,
    /// How it is paid.
    pub method: Method,
    /// What is to be paid.
    pub amount: Money,
    /// What was captured or settled, once it was.
    pub paid_amount: Option<Money>,
    /// When the payment was created.
    pub created_at: Timestamp,
    /// When it expired, if it did.
    pub expired_at: Option<Timestamp>,
    /// When it was cancelled, if it was.
    pub cancelled_at: Option<Timestamp>,
    /// Which of the payment's charges this is or was, from 1.
    pub attempt: u32,
    /// What may be kept of the card.
    pub card: Option<MaskedCard>,
    /// What was issued, if that is known.
    pub issued: Option<Arc<Issued>>,
    /// Whether an authorisation is captured at once.
    pub captures_at_once: bool,
    /// What is particular to the method: an acquirer that keeps nothing can issue the same code again.
    pub terms: Terms,
}

/// A notice from an acquirer, as it waits in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Unique per acquirer and event: `{acquirer}:{the provider's event id}`. A repeated notice has the same.
    pub id: String,
    /// Who sent it.
    pub acquirer: AcquirerName,
    /// Which payment it is about.
    pub transaction_id: TransactionId,
    /// What it states.
    pub fact: Fact,
    /// When it was received.
    pub received_at: Timestamp,
}
