//! One transaction's actor, as operators see it.

use std::time::Duration;

use quita_domain::identity::TransactionId;
use quita_domain::time::Timestamp;
use serde::Serialize;

use crate::watch::sample::Thousandths;

/// The actor of one transaction on this node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActorView {
    /// Whose it is.
    pub transaction_id: TransactionId,
    /// Whether it is alive; one that died comes back from the store with the next message.
    pub is_alive: bool,
    /// Since when it is in memory.
    pub since: Timestamp,
    /// When a message was sent to it last.
    pub last_used_at: Timestamp,
    /// Messages that wait for it.
    pub waiting: usize,
    /// Messages that it handles: one at a time.
    pub handling: usize,
    /// Whether it holds a card whose charge is under way.
    pub holds_card: bool,
    /// The last messages, the newest first.
    pub messages: Vec<MessageView>,
}

/// One message of an actor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// Its name.
    pub name: &'static str,
    /// When it was taken up.
    pub at: Timestamp,
    /// How long it waited.
    pub waited_ms: Thousandths,
    /// How long it took; `None` while it is being handled.
    pub took_ms: Option<Thousandths>,
}

/// The transactions of one shard that are in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShardView {
    /// How many there are.
    pub live: usize,
    /// How many of them were looked at.
    pub looked_at: usize,
    /// Some of these, the busiest first.
    pub transactions: Vec<LiveView>,
}

/// One transaction that is in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveView {
    /// Which.
    pub transaction_id: TransactionId,
    /// Messages that wait for it, or that it handles.
    pub load: usize,
    /// When a message was sent to it last.
    pub last_used_at: Timestamp,
}

/// This long before now.
pub(crate) fn ago(now: Timestamp, ago: Duration) -> Timestamp {
    let ago_ms = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.millis().saturating_sub(ago_ms))
}

/// As it is shown, in milliseconds.
pub(crate) fn shown(time: Duration) -> Thousandths {
    Thousandths::new(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}
