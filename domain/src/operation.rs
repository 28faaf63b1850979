//! What a merchant may do with a payment after it was created: cancel, capture, refund.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::money::Money;
use crate::time::Timestamp;

/// One cancellation, capture or refund. Stored before it is sent to the acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Our id, which is the idempotency key at the acquirer and the `refundId` of a refund.
    pub id: Uuid,
    /// What is to be done.
    pub kind: OperationKind,
    /// The caller's `Idempotency-Key`, if it sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The amount that the caller named, to tell a replay from another request under the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_amount: Option<Money>,
    /// How far it is.
    pub state: OperationState,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// How often it was sent.
    pub sent: u32,
    /// When it is sent again, while its outcome is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_at: Option<Timestamp>,
    /// What the acquirer said when it refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationKind {
    /// Withdraw an unpaid PIX or boleto, void an authorised card.
    Cancel,
    /// Charge an authorised card, in whole or in part.
    Capture(Money),
    /// Give money back.
    Refund(Money),
}

impl OperationKind {
    /// The verb that the API uses.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Capture(_) => "capture",
            Self::Refund(_) => "refund",
        }
    }
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationState {
    /// Stored, and sent or about to be.
    Processing,
    /// The acquirer did it.
    Done,
    /// The acquirer refused it.
    Refused,
}

/// A cancellation, capture or refund as a merchant asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRequest {
    /// A fresh id for it.
    pub id: Uuid,
    /// What is wanted.
    pub wish: Wish,
    /// The caller's `Idempotency-Key`.
    pub key: Option<String>,
}

/// What is wanted; amounts that are absent mean all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Cancel.
    Cancel,
    /// Capture this much.
    Capture(Option<Money>),
    /// Refund this much.
    Refund(Option<Money>),
}

impl Wish {
    /// The amount that was named.
    pub const fn amount(self) -> Option<Money> {
        match self {
            Self::Cancel => None,
            Self::Capture(amount) | Self::Refund(amount) => amount,
        }
    }

    /// The verb that the API uses.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Capture(_) => "capture",
            Self::Refund(_) => "refund",
        }
    }
}
