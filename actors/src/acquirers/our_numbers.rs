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

/// Numbers of one acquirer.
pub(crate) struct OurNumbers {
    acquirer: AcquirerName,
    range: NumberRange,
    services: NumberServices,
    /// Numbers that were taken and not given out yet.
    block: Mutex<Option<NumberBlock>>,
    is_used_up: AtomicBool,
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
        Self { acquirer, range, services, block: Mutex::default(), is_used_up: AtomicBool::new(false) }
    }

    /// Returns true if the store has no number left. An unused block of another process may have some.
    pub(crate) fn are_used_up(&self) -> bool {
        self.is_used_up.load(Ordering::Relaxed)
    }

    /// Takes a block if none is at hand, so that a plan sees if the range is used up.
    pub(crate) async fn look(&self) -> Result<(), StoreError> {
        let mut block = self.block.lock().await;
        if block.is_none() && !self.are_used_up() {
            *block = self.take().await?;
        }
        Ok(())
    }

    /// Returns a number that nobody else gets; none if the range is used up.
    pub(crate) async fn next(&self) -> Result<Option<u32>, StoreError> {
        let mut kept = self.block.lock().await;
        if kept.is_none() {
            *kept = self.take().await?;
        }
        let Some(block) = *kept else { return Ok(None) };
        *kept = block
            .first
            .checked_add(1)
            .filter(|next| *next <= block.last)
            .map(|first| NumberBlock { first, ..block });
        self.show(block.first);
        Ok(Some(block.first))
    }

    async fn take(&self) -> Result<Option<NumberBlock>, StoreError> {
        let count = (self.range.len() / BLOCKS_OF_A_RANGE).clamp(1, BLOCK);
        let taken = self.services.store.take_numbers(&self.range, count);
        let late = |_| Err(StoreError::Unavailable("the store takes too long".into()));
        let taken = timeout(self.services.time_out, taken).await.unwrap_or_else(late)?;
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
