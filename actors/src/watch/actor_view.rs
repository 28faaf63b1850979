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
    /// Transaction of this actor.
    pub transaction_id: TransactionId,
    /// True while the actor is alive. An actor that died is loaded again from the store with its next message.
    pub is_alive: bool,
    /// Time at which it was loaded into memory.
    pub since: Timestamp,
    /// Time at which the last message was sent to it.
    pub last_used_at: Timestamp,
    /// Messages waiting in its mailbox.
    pub waiting: usize,
    /// Messages being handled: one at most.
    pub handling: usize,
    /// True while it holds a card whose charge is under way.
    pub holds_card: bool,
    /// Last messages, newest first.
    pub messages: Vec<MessageView>,
}

/// One message of an actor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// Name of the message.
    pub name: &'static str,
    /// Time at which handling began.
    pub at: Timestamp,
    /// Time in the mailbox.
    pub waited_ms: Thousandths,
    /// Handling time; `None` while it is being handled.
    pub took_ms: Option<Thousandths>,
}

/// The transactions of one shard that are in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShardView {
    /// Number of transactions in memory.
    pub live: usize,
    /// Number of these that were examined.
    pub looked_at: usize,
    /// The busiest of the examined transactions, busiest first.
    pub transactions: Vec<LiveView>,
}

/// One transaction that is in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveView {
    /// Identifier.
    pub transaction_id: TransactionId,
    /// Messages waiting or being handled.
    pub load: usize,
    /// Time at which the last message was sent to it.
    pub last_used_at: Timestamp,
}

/// Returns the time this long before now.
pub(crate) fn ago(now: Timestamp, ago: Duration) -> Timestamp {
    let ago_ms = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.millis().saturating_sub(ago_ms))
}

/// Converts a duration into milliseconds with three decimals.
pub(crate) fn shown(time: Duration) -> Thousandths {
    Thousandths::new(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}
