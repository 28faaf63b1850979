//! Inquiries to acquirers from any process, by hints in the store's inbox.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quita_domain::acquiring::{Fact, Notice};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::StoreError;
use tokio::time::{Instant, sleep};

use super::Reconciler;

/// Interval at which payments are checked for answers.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Age of the last heartbeat up to which a node counts as serving.
const SEEN_WITHIN_MS: i64 = 60_000;

/// Result of asking acquirers about payments.
pub(super) struct AskedPayments {
    /// Payments whose acquirers answered, in their new state.
    pub(super) answered: BTreeMap<TransactionId, Payment>,
    /// Payments whose acquirers did not answer in time, as they are after the wait.
    pub(super) unanswered: BTreeMap<TransactionId, Payment>,
}

impl Reconciler {
    /// Returns true if a process that can ask serves this store.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn is_served(&self) -> Result<bool, StoreError> {
        let since = Timestamp::from_millis(self.clock.now().millis().saturating_sub(SEEN_WITHIN_MS));
        Ok(!self.store.nodes(since).await?.is_empty())
    }

    /// Makes the next serving node ask these acquirers about these payments. Returns the hints.
    pub(super) async fn hint(&self, wanted: &[(Payment, AcquirerName)]) -> Result<Vec<Notice>, StoreError> {
        let now = self.clock.now();
        let hints: Vec<_> =
            wanted.iter().map(|(payment, acquirer)| hint(payment.id, acquirer, now)).collect();
        if !hints.is_empty() {
            self.store.put_notices(&hints).await?;
        }
        Ok(hints)
    }

    /// Makes a serving node ask these acquirers about these payments, and waits up to `patience` for their answers. If
    /// no node serves, the hints stay in the inbox for the next one.
    pub(super) async fn ask(&self, wanted: &[(Payment, AcquirerName)]) -> Result<AskedPayments, StoreError> {
        let mut asked = AskedPayments { answered: BTreeMap::new(), unanswered: BTreeMap::new() };
        if wanted.is_empty() {
            return Ok(asked);
        }
        let hints = self.hint(wanted).await?;
        if !self.is_served().await? {
            return Ok(asked);
        }
        // The hint about each payment, and the time of the inquiry before it.
        let hinted = wanted.iter().zip(hints);
        let mut open: BTreeMap<_, _> =
            hinted.map(|((payment, _), hint)| (payment.id, (hint.id, payment.inquired_at))).collect();
        let begun = Instant::now();
        while !open.is_empty() && begun.elapsed() < self.patience {
            sleep(LOOK_EVERY).await;
            for payment in self.payments_that_were_hinted(&open).await? {
                let before = open.get(&payment.id).and_then(|(_, before)| *before);
                if payment.was_answered_since(before) {
                    open.remove(&payment.id);
                    asked.answered.insert(payment.id, payment);
                }
            }
        }
        // A notice, or an answer followed by another hint, may have changed them during the wait.
        let open: Vec<_> = open.into_keys().collect();
        if !open.is_empty() {
            let loaded = self.store.load_all(&open).await?;
            asked.unanswered = loaded.into_iter().map(|payment| (payment.id, payment)).collect();
        }
        Ok(asked)
    }

    /// Returns the payments that have taken their hints. Answers to inquiries from before the hint do not count.
    async fn payments_that_were_hinted(
        &self,
        open: &BTreeMap<TransactionId, (String, Option<Timestamp>)>,
    ) -> Result<Vec<Payment>, StoreError> {
        let hints: Vec<_> = open.values().map(|(hint, _)| hint.clone()).collect();
        let waiting: BTreeSet<_> = self.store.waiting_notices(&hints).await?.into_iter().collect();
        let heard = open.iter().filter(|(_, (hint, _))| !waiting.contains(hint));
        let ids: Vec<_> = heard.map(|(id, _)| *id).collect();
        if ids.is_empty() { Ok(Vec::new()) } else { self.store.load(&ids).await }
    }
}

/// Returns a notice that states only that something may have happened. Each has its own id.
fn hint(id: TransactionId, acquirer: &AcquirerName, now: Timestamp) -> Notice {
    Notice {
        id: format!("{acquirer}:reconciliation {id} {}", now.millis()),
        acquirer: acquirer.clone(),
        transaction_id: id,
        fact: Fact::Hint,
        received_at: now,
    }
}
