//! Delivery of an event to the merchant: attempts, outcome, next steps.

use serde::{Deserialize, Serialize};
use url::Url;

use crate::identity::{MerchantId, Mode, TransactionId};
use crate::numbering::{DeliveryIndex, EventSequence};
use crate::time::Timestamp;

/// One event on its way to the merchant. Part of the payment's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Number of the event.
    pub sequence: EventSequence,
    /// Its progress.
    pub state: DeliveryState,
    /// Attempts, oldest first; at most one more than the schedule has steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<DeliveryAttempt>,
    /// Time of the next attempt. While an attempt runs this is the end of its lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
    /// Time of the receiver's confirmation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// Index of the delivery that this one repeats on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<DeliveryIndex>,
}

/// A node's claim on a delivery: no other node attempts it before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Index in the payment's outbox.
    pub delivery: DeliveryIndex,
    /// Its end: the delivery's `next_attempt_at`.
    pub ends_at: Timestamp,
}

/// A delivery that its receiver confirmed, and that may wait for the payment's next write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// Index in the payment's outbox.
    pub delivery: DeliveryIndex,
    /// The confirmed attempt.
    pub attempt: DeliveryAttempt,
}

/// A receiver of events. No two merchants share one, nor do test and live.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receiver {
    /// Test or live.
    pub mode: Mode,
    /// Merchant whose events it receives.
    pub merchant: MerchantId,
    /// Host and port.
    pub address: String,
}

/// Returns the host and port of a URL. All unreadable URLs share one address.
pub fn address_of(url: &str) -> String {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
    let port = parsed.as_ref().and_then(Url::port_or_known_default).unwrap_or_default();
    format!("{host}:{port}")
}

/// Progress of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// To be tried, or tried again.
    Pending,
    /// Confirmed by a 2xx.
    Delivered,
    /// Given up; can be redelivered on request.
    Exhausted,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Exhausted];

    /// Returns the API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
        }
    }

    /// Reads the API's spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// One attempt to deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryAttempt {
    /// Start of the attempt.
    pub at: Timestamp,
    /// Duration of the whole exchange.
    pub duration_ms: u64,
    /// HTTP status of the receiver's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Reason why there was no answer: `timeout`, `connect`, `address_not_allowed`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The first characters of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Wait that the receiver requested in `Retry-After`, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl DeliveryAttempt {
    /// Returns the end of the exchange.
    pub fn ended_at(&self) -> Timestamp {
        self.at.plus_ms(self.duration_ms)
    }

    /// Returns true if the receiver confirmed.
    pub fn is_confirmed(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns true if the receiver wants no more events of this payment (410).
    pub fn is_gone(&self) -> bool {
        self.status == Some(410)
    }
}

/// Public id of a delivery: it includes the payment's id, so that no index is needed to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryId {
    /// The payment.
    pub transaction_id: TransactionId,
    /// Index in the payment's outbox.
    pub index: DeliveryIndex,
}

impl DeliveryId {
    /// Reads the form that `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, index) = text.strip_prefix("dlv_")?.split_once('_')?;
        let transaction_id = TransactionId::new(uuid::Uuid::try_parse(id).ok()?);
        let parsed = Self { transaction_id, index: DeliveryIndex::new(index.parse().ok()?) };
        // Each id has exactly one spelling: no other text is accepted for it.
        (parsed.to_string() == text).then_some(parsed)
    }
}

impl std::fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "dlv_{}_{}", self.transaction_id.uuid().simple(), self.index)
    }
}

/// Returns the `webhook-id` of an event: the same in every attempt and every redelivery.
pub fn webhook_id(transaction_id: TransactionId, sequence: EventSequence) -> String {
    format!("evt_{}_{sequence}", transaction_id.uuid().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_id_reads_back_and_nothing_else_does() {
        let id = DeliveryId {
            transaction_id: TransactionId::new(uuid::Uuid::from_u128(7)),
            index: DeliveryIndex::new(3),
        };
        assert_eq!(DeliveryId::parse(&id.to_string()), Some(id));
        let text = id.to_string();
        for wrong in [
            "",
            "dlv_",
            "dlv_7_3",
            &text.replace("_3", "_03"),
            &text.replace("dlv", "evt"),
            &format!("{text}x"),
        ] {
            assert_eq!(DeliveryId::parse(wrong), None, "{wrong}");
        }
    }
}
