//! What a merchant may do with a payment after it was created: cancel, capture, refund.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::acquiring::Reference;
use crate::identity::AcquirerName;
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
    /// What had been captured, or given back, for certain when it was sent: an acquirer without ids for operations
    /// tells by its sums whether it did this one.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub before: Money,
    /// How often it was sent.
    pub sent: u32,
    /// How often it was to be sent and never left, which does not count as sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u32,
    /// What is known of the call that sent it last.
    pub call: OperationCall,
    /// Whether that call is known to be over, because its caller reported that it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub call_is_over: bool,
    /// How often the acquirer was asked what became of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inquiries: u32,
    /// How often the acquirer answered since its outcome became unknown that it does not know of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_found: u32,
    /// When the next step is due, while it is processing: it is sent, or asked for. Absent while it waits for the
    /// operation before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// Reason that the acquirer gave when it refused. While it is processing it may have been done all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Whether the acquirer's sums moved by something else while it was not known what became of it: then it may have
    /// been done, whatever they say, and it is never sent again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicted: bool,
    /// Whether it was a person who said how it ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolved_by_operator: bool,
    /// The charge whose holding it gives back, if that is not the payment's: nobody asked for it, and the merchant sees
    /// nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surplus: Option<Surplus>,
}

/// A charge that holds what the payment may not keep: one beside the charge that counts, or one of a payment that was
/// declined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Surplus {
    /// The acquirer's id of the charge.
    pub id: String,
    /// The acquirer that has it.
    pub acquirer: AcquirerName,
    /// The acquirer's own names for it.
    #[serde(default, skip_serializing_if = "Reference::is_empty")]
    pub reference: Reference,
    /// Sum that was taken by it.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub taken: Money,
    /// Part of that which had gone back before.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub given_back: Money,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Operation {
    /// Whether the acquirer has neither done nor refused it yet.
    pub const fn is_processing(&self) -> bool {
        match self.state {
            OperationState::Processing => true,
            OperationState::Done | OperationState::Refused => false,
        }
    }

    /// Returns true if it is about the payment's own charge, and not about one beside it.
    pub const fn is_own(&self) -> bool {
        self.surplus.is_none()
    }

    /// Returns true if both are about the same charge.
    pub fn is_about_the_charge_of(&self, other: &Self) -> bool {
        let charge = |operation: &'_ Self| operation.surplus.as_ref().map(|surplus| surplus.id.clone());
        charge(self) == charge(other)
    }

    /// Whether it may be under way at the acquirer, or done there without our knowing.
    pub const fn may_have_an_effect(&self) -> bool {
        self.is_processing() && !matches!(self.call, OperationCall::Ready)
    }

    /// The number of its last sending, by which that one's answer is known. No other sending ever has it: an answer may be
    /// told twice, and the second time after the next sending.
    pub const fn sending(&self) -> u32 {
        self.sent.saturating_add(self.withheld)
    }

    /// Whether a caller that waits for it has to wait no longer: it ended, or will end some day.
    pub const fn is_answered(&self) -> bool {
        !self.is_processing() || matches!(self.call, OperationCall::Accepted)
    }
}

/// What is known of the call that sent an operation last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationCall {
    /// There was none, or it certainly had no effect: the operation is sent when it is due.
    Ready,
    /// Sent, or about to be; no answer yet.
    Sent,
    /// It may have had an effect. It is asked for, and sent again only when the acquirer is known not to have it.
    Unknown,
    /// The acquirer took it: it is asked for until it is done or refused, and never sent again.
    Accepted,
}

impl OperationCall {
    /// Whether the acquirer is asked what became of it.
    pub const fn is_inquired_about(self) -> bool {
        match self {
            Self::Unknown | Self::Accepted => true,
            Self::Ready | Self::Sent => false,
        }
    }
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

/// What became of an operation that was stuck, as a person found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The acquirer did it.
    Done,
    /// The acquirer did not do it, and will not.
    Refused,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 2] = [Self::Done, Self::Refused];

    /// As forms and the audit log spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == text)
    }
}

/// A cancellation, capture or refund as a merchant asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRequest {
    /// A fresh id for it.
    pub id: Uuid,
    /// What is wanted.
    pub requested: RequestedOperation,
    /// The caller's `Idempotency-Key`.
    pub key: Option<String>,
}

/// What is wanted; amounts that are absent mean all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedOperation {
    /// Cancel.
    Cancel,
    /// Capture this much.
    Capture(Option<Money>),
    /// Refund this much.
    Refund(Option<Money>),
}

impl RequestedOperation {
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
