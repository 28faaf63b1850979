//! Events for the merchant: changes of the status, and refunds that ended without one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::money::Money;
use crate::numbering::EventSequence;
use crate::state::{Refund, RefundStatus, State};
use crate::status::Status;
use crate::time::Timestamp;

/// One event. Stored in the same write as the change itself, never changed afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its number: one more than that of the event before.
    pub sequence: EventSequence,
    /// New status.
    pub status: Status,
    /// Status before; the same if a refund ended without a change of status.
    pub previous_status: Status,
    /// Time of the change; never before the previous event.
    pub occurred_at: Timestamp,
    /// Reason, if the change alone does not explain it: `late_settlement`, `insufficient_funds`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Cause of the change.
    pub actor: Cause,
    /// The refund that ended, if the status did not change by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund: Option<EndedRefund>,
    /// State right after the change, once the payment has changed again. [`Payment::as_of`] returns it in any case.
    ///
    /// [`Payment::as_of`]: crate::payment::Payment::as_of
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Arc<State>>,
}

impl Event {
    /// Returns the event's name: `payment.paid`, `payment.refund_failed`.
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
    /// Amount.
    pub amount: Money,
    /// Succeeded or failed.
    pub status: RefundStatus,
    /// Reason of a failure, in the acquirer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
}

impl EndedRefund {
    /// Returns the refund as it is now.
    pub(crate) fn of(refund: &Refund) -> Self {
        let Refund { id, amount, status, created_at: _, failure_reason } = refund.clone();
        Self { refund_id: id, amount, status, failure_reason }
    }
}

/// Cause of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The acquirer stated it, in an answer or a notice.
    Acquirer,
    /// The merchant requested it through the API.
    Merchant,
    /// The service decided, for example because the time to pay was over or no acquirer was left.
    Service,
}

impl Cause {
    /// Returns the API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acquirer => "acquirer",
            Self::Merchant => "merchant",
            Self::Service => "service",
        }
    }
}
