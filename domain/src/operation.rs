//! Operations of a merchant on a payment after its creation: cancel, capture, refund.

use serde::{Deserialize, Serialize};

use crate::acquiring::Reference;
use crate::identity::{AcquirerName, OperationId};
use crate::money::Money;
use crate::outbound_call::{OutboundCall, Progress};
use crate::time::Timestamp;

/// One cancellation, capture or refund. Stored before it is sent to the acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Our id, which is the idempotency key at the acquirer and the `refundId` of a refund.
    pub id: OperationId,
    /// Its kind.
    pub kind: OperationKind,
    /// The caller's `Idempotency-Key`, if it sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The amount in the request, which distinguishes a replay from another request under the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_amount: Option<Money>,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Amount that had certainly been captured, or given back, when it was sent. At an acquirer without ids for
    /// operations, only its sums show whether this one was done.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub before: Money,
    /// Number of sendings.
    pub sent: u32,
    /// Number of sendings that were withheld and never left, which do not count as sent.
    #[serde(default, skip_serializing_if = "crate::outbound_call::is_zero")]
    pub withheld: u32,
    /// The call of its last sending, and the inquiries about it.
    pub call: OutboundCall<Verdict>,
    /// True if others changed the acquirer's sums while the outcome was unknown. Then the operation may have been done,
    /// whatever the sums show, and it is never sent again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicted: bool,
    /// True if a person stated its outcome.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolved_by_operator: bool,
    /// The charge that it releases or gives back, if that is not the payment's own. Nobody requested it, and the
    /// merchant does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surplus: Option<Surplus>,
}

/// A charge with money or a limit that the payment may not keep: one besides the charge that counts, or one of a
/// declined payment.
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
    /// Sum that it took.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub taken: Money,
    /// Part of it that had already been given back.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub given_back: Money,
}

impl Operation {
    /// Creates an operation that is requested now and has not left yet.
    pub const fn ready(id: OperationId, kind: OperationKind, requested_at: Timestamp) -> Self {
        Self {
            id,
            kind,
            key: None,
            asked_amount: None,
            requested_at,
            before: Money::ZERO,
            sent: 0,
            withheld: 0,
            call: OutboundCall::ready(),
            contradicted: false,
            resolved_by_operator: false,
            surplus: None,
        }
    }

    /// Returns its progress, as the merchant sees it.
    pub const fn state(&self) -> OperationState {
        match self.call.ended() {
            None => OperationState::Processing,
            Some(Verdict::Done) => OperationState::Done,
            Some(Verdict::Refused) => OperationState::Refused,
        }
    }

    /// Returns true if the acquirer has neither done nor refused it yet.
    pub const fn is_processing(&self) -> bool {
        self.call.is_open()
    }

    /// Returns true if it is about the payment's own charge, not about a surplus one.
    pub const fn is_own(&self) -> bool {
        self.surplus.is_none()
    }

    /// Returns true if both are about the same charge.
    pub fn is_about_the_charge_of(&self, other: &Self) -> bool {
        let charge = |operation: &'_ Self| operation.surplus.as_ref().map(|surplus| surplus.id.clone());
        charge(self) == charge(other)
    }

    /// Returns true if it may be under way at the acquirer, or done there without our knowledge.
    pub const fn may_have_an_effect(&self) -> bool {
        self.is_processing() && !matches!(self.call.progress, Progress::Ready)
    }

    /// Returns the number of its last sending, which identifies the answer to it. Numbers are never reused: an answer
    /// may arrive twice, the second time after the next sending.
    pub const fn sending(&self) -> u32 {
        self.sent.saturating_add(self.withheld)
    }

    /// Returns true if a caller need not wait any longer: the operation has ended, or the acquirer has accepted it.
    pub const fn is_answered(&self) -> bool {
        !self.is_processing() || self.call.is_taken()
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
    /// Returns the verb that the API uses.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Capture(_) => "capture",
            Self::Refund(_) => "refund",
        }
    }
}

/// Progress of an operation, as the merchant sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationState {
    /// Stored, and sent or about to be.
    Processing,
    /// The acquirer did it.
    Done,
    /// The acquirer refused it.
    Refused,
}

/// Outcome of an operation, as stated by its acquirer or, if it was stuck, by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The acquirer did it.
    Done,
    /// The acquirer did not do it, and will not.
    Refused,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 2] = [Self::Done, Self::Refused];

    /// Returns the spelling of forms and the audit log.
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

/// A cancellation, capture or refund as requested by a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRequest {
    /// A fresh id for it.
    pub id: OperationId,
    /// The requested operation.
    pub requested: RequestedOperation,
    /// The caller's `Idempotency-Key`.
    pub key: Option<String>,
}

/// A requested operation. Without an amount it concerns everything.
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
    /// Returns the amount in the request.
    pub const fn amount(self) -> Option<Money> {
        match self {
            Self::Cancel => None,
            Self::Capture(amount) | Self::Refund(amount) => amount,
        }
    }

    /// Returns the verb that the API uses.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Capture(_) => "capture",
            Self::Refund(_) => "refund",
        }
    }
}
