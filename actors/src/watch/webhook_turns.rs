//! Log of a node whose webhooks are all unconfirmed.

use quita_domain::time::Timestamp;

/// Change of whether webhooks are confirmed, to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebhookTurn {
    /// No webhook was confirmed for a quarter of an hour.
    Fails {
        /// First attempt without a confirmation.
        since: Timestamp,
    },
    /// Webhooks are confirmed again, or none waits any more.
    Delivers {
        /// Time since that attempt.
        after_ms: u64,
    },
}

/// Failure of all webhooks that was logged and has not ended.
#[derive(Debug, Default)]
pub(crate) struct WebhookTurns(Option<Timestamp>);

impl WebhookTurns {
    /// Compares the state with what was logged. Returns each change once.
    pub(crate) fn note(&mut self, failing_since: Option<Timestamp>, now: Timestamp) -> Option<WebhookTurn> {
        match (self.0, failing_since) {
            (None, Some(since)) => {
                self.0 = Some(since);
                Some(WebhookTurn::Fails { since })
            }
            (Some(since), None) => {
                self.0 = None;
                Some(WebhookTurn::Delivers { after_ms: now.ms_since(since) })
            }
            (None, None) | (Some(_), Some(_)) => None,
        }
    }
}

impl WebhookTurn {
    /// Logs the change, with the number of payments that wait.
    pub(crate) fn tell(self, waiting: i64) {
        match self {
            Self::Fails { since } => tracing::warn!(
                %since, waiting,
                "no webhook has been confirmed for 15 minutes, whatever the receiver: see QuitaWebhooksUndelivered in \
                 docs/ops/RUNBOOK.md"
            ),
            Self::Delivers { after_ms } => {
                tracing::info!(after_ms, waiting, "webhooks are confirmed again, or none waits any more");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_all_webhooks_and_its_end_are_told_once_each() {
        let at = |minute: i64| Timestamp::from_millis(minute * 60_000);
        let mut turns = WebhookTurns::default();
        assert_eq!(turns.note(None, at(0)), None);
        assert_eq!(turns.note(Some(at(1)), at(16)), Some(WebhookTurn::Fails { since: at(1) }));
        assert_eq!(turns.note(Some(at(1)), at(17)), None);
        let delivers = WebhookTurn::Delivers { after_ms: 19 * 60_000 };
        assert_eq!(turns.note(None, at(20)), Some(delivers));
        assert_eq!(turns.note(None, at(21)), None);
    }
}
