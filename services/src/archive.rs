//! The archive: one of the processes on a store moves finished payments out of the way of active ones.
//!
//! Not an actor: the service periodically calls a pass. It may be interrupted at any step; the next pass, in any
//! process, handles the rest.

use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::payment::Payment;
use quita_domain::reconciliation::Source;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, Ids, RunClaim, StoreError, WholeStore, place_of};
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

/// Payments in one step.
const STEP: usize = 100;

/// Minimum time between two steps: at most 500 payments a second are examined.
const STEP_TIME: Duration = Duration::from_millis(200);

/// Time for which a claim holds. It is renewed with each step.
const LEASE_MS: u64 = 5 * 60_000;

/// Time-out of one call. A call that never returned would stop all archiving until the next start.
const CALL_WITHIN: Duration = Duration::from_secs(60);

/// Archiver of payments that rested long enough.
pub struct Archive {
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    rested_ms: u64,
    /// Id of this process among those on the store.
    node: Uuid,
}

impl Archive {
    /// Creates an archiver for payments in this store that have rested for this many milliseconds.
    pub fn new(store: Arc<dyn WholeStore>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>, rested_ms: u64) -> Self {
        Self { store, clock, rested_ms, node: ids.fresh() }
    }

    /// Archives all payments that are due, unless another process does. Reports the number archived after each step,
    /// and returns all of them.
    ///
    /// # Errors
    /// [`StoreError`]; some payments may be archived, and the next call does the rest.
    pub async fn archive_due(&self, mut tell: impl FnMut(u64)) -> Result<u64, StoreError> {
        if !self.claim(LEASE_MS).await? {
            return Ok(0);
        }
        // Moves that a process left unfinished come first: their payments are stored twice (decision 45).
        in_time(self.store.complete_archiving()).await?;
        let until = self.clock.now().minus_ms(self.rested_ms);
        let mut payee = None;
        let mut archived = 0_u64;
        while let Some(next) = in_time(self.store.next_payee(payee.as_ref())).await? {
            let Some(more) = self.archive_of(&next, until, &mut tell).await? else { return Ok(archived) };
            archived = archived.saturating_add(more);
            payee = Some(next);
        }
        // The claim is released at once, so that the next pass on any node need not wait for the end of the lease.
        self.claim(0).await?;
        Ok(archived)
    }

    /// Archives the payments of one merchant in one mode. `None` if another process took over.
    async fn archive_of(
        &self,
        payee: &(MerchantId, Mode),
        until: Timestamp,
        tell: &mut impl FnMut(u64),
    ) -> Result<Option<u64>, StoreError> {
        let mut after = None;
        let mut archived = 0_u64;
        loop {
            let begun = Instant::now();
            let found = in_time(self.store.unarchived(payee, until, after, STEP)).await?;
            after = found.last().filter(|_| found.len() == STEP).map(place_of);
            // Unreadable payments stay where they are, so that they can be found.
            let rested: Vec<Payment> =
                found.into_iter().flatten().filter(|payment| payment.is_archivable(until)).collect();
            if !rested.is_empty() {
                let moved = in_time(self.store.archive(&rested)).await?;
                tell(moved);
                archived = archived.saturating_add(moved);
            }
            if after.is_none() {
                return Ok(Some(archived));
            }
            if !self.claim(LEASE_MS).await? {
                return Ok(None);
            }
            sleep_until(begun + STEP_TIME).await;
        }
    }

    /// Claims the archiving for this long, or renews the claim.
    async fn claim(&self, for_ms: u64) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let source = Source::archive();
        let day = NaiveDate::default();
        let claim = RunClaim { source, day, node: self.node, now, until: now.plus_ms(for_ms) };
        in_time(self.store.claim_run(&claim)).await
    }
}

/// Returns the result of a call, or an error if it takes too long.
async fn in_time<T>(call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let late = |_| Err(StoreError::Unavailable("it takes too long".into()));
    timeout(CALL_WITHIN, call).await.unwrap_or_else(late)
}

#[cfg(test)]
mod tests;
