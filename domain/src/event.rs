//! Changes of status, as the merchant is told of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::state::State;
use crate::status::Status;
use crate::time::Timestamp;

/// One change of status. Stored in the same write as the status itself, never changed afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// 1 for the first change, then one more for each.
    pub sequence: u32,
    /// What the payment became.
    pub status: Status,
    /// What it was.
    pub previous_status: Status,
    /// When it changed; never before the event that went before.
    pub occurred_at: Timestamp,
    /// Why, where the change alone does not say it: `late_settlement`, `insufficient_funds`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who caused it.
    pub actor: Cause,
    /// What the payment was right after the change, once it is something else. [`Payment::as_of`] tells in any case.
    ///
    /// [`Payment::as_of`]: crate::payment::Payment::as_of
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Arc<State>>,
}

impl Event {
    /// The event's name: `payment.paid`.
    pub fn name(&self) -> String {
        format!("payment.{}", self.status)
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
