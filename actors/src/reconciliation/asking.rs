//! Asking acquirers about payments, from wherever this runs: by hints in the inbox of the store.

use std::collections::BTreeMap;
use std::time::Duration;

use quita_domain::acquiring::{Fact, Notice};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::StoreError;
use tokio::time::{Instant, sleep};

use super::Reconciler;

/// How often it is looked whether acquirers have answered.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How often in a row an answer has to be seen, for longer than hints wait to be read: one that was under way before that
/// is not meant.
const SEEN_TIMES: u32 = 12;

/// How lately a node must have been seen that is to ask.
const SEEN_WITHIN_MS: i64 = 60_000;

/// Payments whose acquirers were asked.
pub(super) struct Asked {
    /// The payments that were answered for, as they are since.
    pub(super) answered: BTreeMap<TransactionId, Payment>,
}

impl Reconciler {
    /// Whether a process serves on this store that can ask.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn is_served(&self) -> Result<bool, StoreError> {
        let since = Timestamp::from_millis(self.clock.now().millis().saturating_sub(SEEN_WITHIN_MS));
        Ok(!self.store.nodes(since).await?.is_empty())
    }

    /// Has these acquirers asked about these payments, and waits a while until they have answered. If nobody serves, the
    /// hints wait for who will.
    pub(super) async fn ask(&self, wanted: &[(Payment, AcquirerName)]) -> Result<Asked, StoreError> {
        let mut asked = Asked { answered: BTreeMap::new() };
        if wanted.is_empty() {
            return Ok(asked);
        }
        let now = self.clock.now();
        let hints: Vec<_> =
            wanted.iter().map(|(payment, acquirer)| hint(payment.id, acquirer, now)).collect();
        self.store.put_notices(&hints).await?;
        if !self.is_served().await? {
            return Ok(asked);
        }
        // When each was asked last before, and how often in a row it was seen answered since.
        let mut open: BTreeMap<_, _> =
            wanted.iter().map(|(payment, _)| (payment.id, (payment.inquired_at, 0_u32))).collect();
        let begun = Instant::now();
        while !open.is_empty() && begun.elapsed() < self.patience {
            sleep(LOOK_EVERY).await;
            let ids: Vec<_> = open.keys().copied().collect();
            for payment in self.store.load(&ids).await? {
                let Some((before, seen)) = open.get_mut(&payment.id) else { continue };
                *seen = if payment.was_answered_since(*before) { seen.saturating_add(1) } else { 0 };
                if *seen >= SEEN_TIMES {
                    open.remove(&payment.id);
                    asked.answered.insert(payment.id, payment);
                }
            }
        }
        Ok(asked)
    }
}

/// Nothing but that something may have happened. Asked again later, it has another id.
fn hint(id: TransactionId, acquirer: &AcquirerName, now: Timestamp) -> Notice {
    Notice {
        id: format!("{acquirer}:reconciliation {id} {}", now.millis()),
        acquirer: acquirer.clone(),
        transaction_id: id,
        fact: Fact::Hint,
        received_at: now,
    }
}
