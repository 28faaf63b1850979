//! Numbers of slips that an acquirer leaves to us, taken from the store block by block.
//!
//! A creation stays one write: a block is taken before, for as many boletos. Numbers of a block that a process did not use
//! before its end are given to nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quita_domain::exception::{Exception, NUMBERS_LOW};
use quita_domain::identity::AcquirerName;
use quita_ports::{Clock, NumberBlock, NumberRange, NumberStore, StoreError};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::upkeep::reporting::Exceptions;
use crate::watch::meter::Meter;

/// Numbers of one block. Of a small range it is a thousandth, so that restarts don't use the range up.
const BLOCK: u32 = 50;
const BLOCKS_OF_A_RANGE: u32 = 1_000;

/// Doublings of what is passed over because the numbers before it were somebody else's.
const MOST_DOUBLINGS: u32 = 10;

/// Numbers of one acquirer.
pub(crate) struct OurNumbers {
    acquirer: AcquirerName,
    range: NumberRange,
    services: NumberServices,
    kept: Mutex<Kept>,
    is_used_up: AtomicBool,
}

/// Numbers at hand.
#[derive(Default)]
struct Kept {
    /// Numbers that were taken and not given out yet.
    block: Option<NumberBlock>,
    /// Numbers that turned out to be somebody else's, one after the other.
    foreign: u32,
    /// Numbers that were given out since the last of them.
    since_foreign: u32,
}

impl Kept {
    /// Returns how many numbers are passed over before the next block. Many foreign ones in a row are most likely the
    /// numbers that were given out after the backup from which the store was restored.
    fn passed_over(&self, count: u32) -> u32 {
        match self.foreign.checked_sub(2) {
            Some(doublings) if self.since_foreign == 0 => count << doublings.min(MOST_DOUBLINGS),
            Some(_) | None => 0,
        }
    }
}

/// Services that give out numbers.
#[derive(Clone)]
pub(crate) struct NumberServices {
    pub(crate) store: Arc<dyn NumberStore>,
    pub(crate) exceptions: Arc<Exceptions>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time_out: Duration,
}

impl OurNumbers {
    pub(crate) fn new(acquirer: AcquirerName, range: NumberRange, services: NumberServices) -> Self {
        Self { acquirer, range, services, kept: Mutex::default(), is_used_up: AtomicBool::new(false) }
    }

    /// Returns true if the store has no number left. An unused block of another process may have some.
    pub(crate) fn are_used_up(&self) -> bool {
        self.is_used_up.load(Ordering::Relaxed)
    }

    /// Takes a block if none is at hand, so that a plan sees if the range is used up.
    pub(crate) async fn look(&self) -> Result<(), StoreError> {
        let mut kept = self.kept.lock().await;
        if kept.block.is_none() && !self.are_used_up() {
            kept.block = self.take(0).await?;
        }
        Ok(())
    }

    /// Returns a number that nobody else gets; none if the range is used up.
    pub(crate) async fn next(&self) -> Result<Option<u32>, StoreError> {
        let mut kept = self.kept.lock().await;
        if kept.block.is_none() {
            kept.block = self.take(kept.passed_over(self.block_size())).await?;
        }
        let Some(block) = kept.block else { return Ok(None) };
        let next = block.first.checked_add(1).filter(|next| *next <= block.last);
        kept.block = next.map(|first| NumberBlock { first, ..block });
        kept.since_foreign = kept.since_foreign.saturating_add(1);
        self.show(block.first);
        Ok(Some(block.first))
    }

    /// Notes that the last number is somebody else's at the bank. After the second in a row the rest of the block is given
    /// up, and each time twice as many numbers are passed over.
    pub(crate) async fn was_foreign(&self) {
        let mut kept = self.kept.lock().await;
        kept.foreign = if kept.since_foreign <= 1 { kept.foreign.saturating_add(1) } else { 1 };
        kept.since_foreign = 0;
        if kept.foreign >= 2 {
            kept.block = None;
        }
    }

    fn block_size(&self) -> u32 {
        (self.range.len() / BLOCKS_OF_A_RANGE).clamp(1, BLOCK)
    }

    /// Takes a block after so many numbers that are passed over.
    async fn take(&self, passed_over: u32) -> Result<Option<NumberBlock>, StoreError> {
        let count = self.block_size();
        let taken = self.services.store.take_numbers(&self.range, count.saturating_add(passed_over));
        let late = |_| Err(StoreError::Unavailable("the store takes too long".into()));
        let taken = timeout(self.services.time_out, taken).await.unwrap_or_else(late)?;
        let last_of = |block: NumberBlock| NumberBlock {
            first: block.last.saturating_sub(count.saturating_sub(1)).max(block.first),
            ..block
        };
        let taken = taken.map(last_of);
        match taken {
            Some(block) => self.warn_if_low(block.last),
            None => {
                self.show(self.range.last);
                self.is_used_up.store(true, Ordering::Relaxed);
                tracing::warn!(acquirer = %self.acquirer, "no number of our-numbers is left: no boleto goes there");
            }
        }
        Ok(taken)
    }

    /// Exports how many numbers are left after this one.
    fn show(&self, number: u32) {
        let left = self.range.last.saturating_sub(number);
        self.services.meter.numbers_left.with_label_values(&[self.acquirer.as_str()]).set(left.into());
    }

    /// Reports to operators that nine tenths of the range are gone. The exception of one range is the same each time.
    fn warn_if_low(&self, last: u32) {
        let NumberRange { key, first, last: end } = &self.range;
        let left = end.saturating_sub(last);
        if u64::from(left).saturating_mul(10) > u64::from(self.range.len()) {
            return;
        }
        self.services.exceptions.report_until_stored(Exception {
            id: format!("{NUMBERS_LOW}:{}:{key}:{end}", self.acquirer),
            kind: NUMBERS_LOW.into(),
            transaction_id: None,
            acquirer: Some(self.acquirer.clone()),
            detail: format!("of the numbers {first}-{end} of boletos, at most {left} are left"),
            advice: "have the bank give you another range, and widen our-numbers; once it is used up, the acquirer gets no more boletos".into(),
            reported_at: self.services.clock.now(),
            resolution: None,
        });
    }
}
