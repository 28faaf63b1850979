//! Retention of personal data: one of the processes on a store erases payers in time.
//!
//! Not an actor: the service periodically calls a step. It may be interrupted at any point; the next step, in any
//! process, continues.

use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use quita_domain::payment::FINISHED_STATUSES;
use quita_domain::reconciliation::Source;
use quita_domain::status::Status;
use quita_ports::{AuditEraser, Clock, Ids, RunClaim, StoreError, WholeStore};
use tokio::time::timeout;
use uuid::Uuid;

use crate::erasure::{Eraser, ErasureTally};

/// Time for which a claim holds. It is renewed with each page.
const LEASE_MS: u64 = 5 * 60_000;

/// Time-out of one call. A call that never returned would stop all erasing until the next start.
const CALL_WITHIN: Duration = Duration::from_secs(60);

/// Times for which payers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptFor {
    /// Milliseconds after the last change of a finished payment.
    pub rested_ms: u64,
    /// Milliseconds after the payment was paid: only then is a paid payment finished.
    pub paid_ms: u64,
}

/// Erases payers that were kept long enough.
pub struct Retention {
    eraser: Eraser,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    rested_ms: u64,
    /// Id of this process among those on the store.
    node: Uuid,
    /// True if erased data may still be in the store's log.
    is_to_empty: bool,
}

impl Retention {
    /// Erases in this store and in its audit log.
    pub fn new(
        store: Arc<dyn WholeStore>,
        audit: Arc<dyn AuditEraser>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        kept_for: KeptFor,
    ) -> Self {
        let node = ids.fresh();
        let eraser = Eraser::new(store.clone(), audit, Arc::clone(&clock), ids, kept_for.paid_ms);
        Self { eraser, store, clock, rested_ms: kept_for.rested_ms, node, is_to_empty: false }
    }

    /// Erases all payers that are due, unless another process does. Reports the number erased after each page.
    ///
    /// # Errors
    /// [`StoreError`]; some payers may be erased, and the next call does the rest.
    pub async fn erase_due(&mut self, mut tell: impl FnMut(u64)) -> Result<ErasureTally, StoreError> {
        let mut tally = ErasureTally::default();
        for status in FINISHED_STATUSES {
            let has_resting = in_time(self.eraser.has_resting(status, self.rested_ms)).await?;
            // Looked up before the claim, so that a pass without work costs no write.
            if has_resting && self.claim(LEASE_MS).await? {
                tally = tally.plus(self.erase_all(status, &mut tell).await?);
            }
        }
        let of_links: u64 = in_time(self.eraser.erase_links(None, self.rested_ms)).await?.values().sum();
        if of_links > 0 {
            tell(of_links);
            tally = tally.plus(ErasureTally { erased: of_links, ..ErasureTally::default() });
        }
        // If emptying the log fails, the next pass does it, even if that pass erases nothing.
        self.is_to_empty |= tally.erased > 0;
        if self.is_to_empty {
            self.claim(0).await?;
            in_time(self.eraser.forget_replaced()).await?;
            self.is_to_empty = false;
        }
        Ok(tally)
    }

    async fn erase_all(
        &self,
        status: Status,
        tell: &mut impl FnMut(u64),
    ) -> Result<ErasureTally, StoreError> {
        let mut place = None;
        let mut tally = ErasureTally::default();
        loop {
            let page = in_time(self.eraser.erase_page_of_resting(status, self.rested_ms, place)).await?;
            tell(page.tally.erased);
            tally = tally.plus(page.tally);
            place = page.next;
            if place.is_none() || !self.claim(LEASE_MS).await? {
                return Ok(tally);
            }
        }
    }

    /// Claims the erasing for this long, or renews the claim.
    async fn claim(&self, for_ms: u64) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let source = Source::personal_data();
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
