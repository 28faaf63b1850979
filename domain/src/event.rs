//! What the merchant is told: changes of the status, and refunds that ended without one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::money::Money;
use crate::state::{Refund, RefundStatus, State};
use crate::status::Status;
use crate::time::Timestamp;

/// One event. Stored in the same write as the change itself, never changed afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// 1 for the first change, then one more for each.
    pub sequence: u32,
    /// What the payment became.
    pub status: Status,
    /// What it was; the same if a refund ended and left the status as it was.
    pub previous_status: Status,
    /// When it changed; never before the event that went before.
    pub occurred_at: Timestamp,
    /// Why, where the change alone does not say it: `late_settlement`, `insufficient_funds`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who caused it.
    pub actor: Cause,
    /// The refund that ended, if the status did not change by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund: Option<EndedRefund>,
    /// What the payment was right after the change, once it is something else. [`Payment::as_of`] tells in any case.
    ///
    /// [`Payment::as_of`]: crate::payment::Payment::as_of
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Arc<State>>,
}

impl Event {
    /// The event's name: `payment.paid`, `payment.refund_failed`.
    pub fn name(&self) -> String {
        match &self.refund {
            None => format!("payment.{}", self.status),
            Some(refund) => format!("payment.refund_{}", refund.status.as_str()),
        }
    }
}

/// A refund as it was when it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedRefund {
    /// Its id.
    pub refund_id: String,
    /// How much.
    pub amount: Money,
    /// Succeeded or failed.
    pub status: RefundStatus,
    /// Why it failed, in the acquirer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
}

impl EndedRefund {
    /// The refund as it is now.
    pub(crate) fn of(refund: &Refund) -> Self {
        let Refund { id, amount, status, created_at: _, failure_reason } = refund.clone();
        Self { refund_id: id, amount, status, failure_reason }
    }
}

/// Who caused a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The acquirer said so, in an answer or a notice.
    Acquirer,
    /// The merchant asked for it through the API.
    Merchant,
    /// The service decided: the time to pay went by, no acquirer was left.
    Service,
}

impl Cause {
    /// As the API spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acquirer => "acquirer",
            Self::Merchant => "merchant",
            Self::Service => "service",
        }
    }
}
