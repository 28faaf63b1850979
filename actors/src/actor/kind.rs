//! Kinds of actors, with their labels in metrics and in the operators' console.

use serde::Serialize;

/// A kind of actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// Entry to the transactions of one shard.
    Front,
    /// Owns one payment.
    Transaction,
    /// Recreates actors that died.
    Supervisor,
    /// One acquirer for one method.
    Acquirer,
    /// Group commit.
    Journal,
    /// Group read.
    Reader,
    /// Wakes payments and notices that are due.
    Timer,
    /// Stores acquirers' notices and brings them to their payments.
    Inbox,
    /// Gives deliveries to workers.
    WebhookPool,
    /// Sends one delivery at a time.
    WebhookWorker,
    /// Publishes the state of the actors.
    Sampler,
    /// This process among those on the same store.
    Node,
}

impl ActorKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Front,
        Self::Transaction,
        Self::Supervisor,
        Self::Acquirer,
        Self::Journal,
        Self::Reader,
        Self::Timer,
        Self::Inbox,
        Self::WebhookPool,
        Self::WebhookWorker,
        Self::Sampler,
        Self::Node,
    ];

    /// Returns its label in metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Transaction => "transaction",
            Self::Supervisor => "supervisor",
            Self::Acquirer => "acquirer",
            Self::Journal => "journal",
            Self::Reader => "reader",
            Self::Timer => "timer",
            Self::Inbox => "inbox",
            Self::WebhookPool => "webhook_pool",
            Self::WebhookWorker => "webhook_worker",
            Self::Sampler => "sampler",
            Self::Node => "node",
        }
    }

    /// Parses a label.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.label() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_and_serialised_as_it_is_labelled() {
        for kind in ActorKind::ALL {
            assert_eq!(ActorKind::parse(kind.label()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.label());
        }
        assert_eq!(ActorKind::parse("clerk"), None);
    }
}
