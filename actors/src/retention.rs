//! Personal data that is old enough: erased by one process of all on a store, and forgotten wherever it is remembered.
//!
//! No actor: whoever runs the service takes a step now and then. A step may be the last one at any time; the next one, of
//! whichever process, goes on.

use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use quita_domain::payment::FINISHED_STATUSES;
use quita_domain::reconciliation::Source;
use quita_domain::status::Status;
use quita_ports::{AuditEraser, Clock, Ids, RunClaim, StoreError, WholeStore};
use tokio::time::timeout;
use uuid::Uuid;

use crate::denied::Denied;
use crate::erasure::{Eraser, ErasureTally};
use crate::payments::Payments;

/// Time for which a claim holds. It is made anew with each page.
const LEASE_MS: u64 = 5 * 60_000;

/// Longest time of one call. One that never comes back would end all erasing until the next start.
const CALL_WITHIN: Duration = Duration::from_secs(60);

/// Erased payments that are forgotten at once.
const FOLLOWED_AT_ONCE: usize = 500;

/// Times for which payers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptFor {
    /// After nothing changed any more in a finished payment, in milliseconds.
    pub rested_ms: u64,
    /// After it was paid, in milliseconds: only then a paid payment is finished.
    pub paid_ms: u64,
}

/// Erases payers that were kept for long enough.
pub struct Retention {
    eraser: Eraser,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    rested_ms: u64,
    /// This process among those on the store.
    node: Uuid,
    /// Says whether what was erased may still be in the store's log.
    is_to_empty: bool,
}

impl Retention {
    /// Of payments in this store, and of what its audit log says of them.
    pub fn new(
        (store, audit): (Arc<dyn WholeStore>, Arc<dyn AuditEraser>),
        (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>),
        kept_for: KeptFor,
    ) -> Self {
        let node = ids.fresh();
        let eraser = Eraser::new((store.clone(), audit), (Arc::clone(&clock), ids), kept_for.paid_ms);
        Self { eraser, store, clock, rested_ms: kept_for.rested_ms, node, is_to_empty: false }
    }

    /// Erases all that may be, if there is any and nobody else does it. Tells after each page how many it erased.
    ///
    /// # Errors
    /// [`StoreError`]; some may be erased, and the next call does the rest.
    pub async fn erase_due(&mut self, mut tell: impl FnMut(u64)) -> Result<ErasureTally, StoreError> {
        let mut tally = ErasureTally::default();
        for status in FINISHED_STATUSES {
            let has_resting = in_time(self.eraser.has_resting(status, self.rested_ms)).await?;
            if has_resting && self.claim(LEASE_MS).await? {
                tally = tally.plus(self.erase_all(status, &mut tell).await?);
            }
        }
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
        let (mut place, mut tally) = (None, ErasureTally::default());
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

    /// Claims what is to be done for so long, or goes on claiming it.
    async fn claim(&self, for_ms: u64) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let (source, day) = (Source::personal_data(), NaiveDate::default());
        let claim = RunClaim { source, day, node: self.node, now, until: now.plus_ms(for_ms) };
        in_time(self.store.claim_run(&claim)).await
    }
}

/// Follows which payers were erased in a store whose payments this process holds in its memory for true, by another
/// process or by itself, and has them forgotten.
pub struct ErasureFollower {
    store: Arc<dyn WholeStore>,
    payments: Payments,
    /// The number of the last erasure that was followed.
    number: u64,
}

impl ErasureFollower {
    /// Follows those after this number.
    pub fn new(store: Arc<dyn WholeStore>, payments: Payments, number: u64) -> Self {
        Self { store, payments, number }
    }

    /// Says whether there is anything to follow: where others write, nothing is told without the store.
    pub fn is_needed(&self) -> bool {
        self.store.is_sole_writer()
    }

    /// Has all payments forgotten whose payers were erased since the last call.
    ///
    /// # Errors
    /// If the store or a payment's actor does not answer; the next call goes on.
    pub async fn follow(&mut self) -> Result<(), Denied> {
        loop {
            let erased = in_time(self.store.erased_after(self.number, FOLLOWED_AT_ONCE)).await?;
            for (number, id) in &erased {
                self.payments.forget(*id).await?;
                self.number = *number;
            }
            if erased.len() < FOLLOWED_AT_ONCE {
                return Ok(());
            }
        }
    }
}

/// Answer of a call, if it comes back at all.
async fn in_time<T>(call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let late = |_| Err(StoreError::Unavailable("it takes too long".into()));
    timeout(CALL_WITHIN, call).await.unwrap_or_else(late)
}
