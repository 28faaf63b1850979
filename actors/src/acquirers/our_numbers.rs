//! Slip numbers that an acquirer leaves to us, taken from the store block by block.
//!
//! A creation needs only one write, because a block of numbers is taken beforehand. Numbers of a block that a process
//! did not use before its end are given to nobody.

use std::collections::BTreeSet;
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

/// Size of a block. In a small range it is a thousandth of the range, so that restarts don't use the range up.
const BLOCK: u32 = 50;
const BLOCKS_OF_A_RANGE: u32 = 1_000;

/// Maximum number of doublings of the skipped range after numbers that were somebody else's.
const MOST_DOUBLINGS: u32 = 10;

/// Maximum number of questions to the bank before the first number. Any further skips are caused by answers to charges.
const MOST_QUESTIONS: u32 = 5;

/// Numbers of one acquirer.
pub(crate) struct OurNumbers {
    acquirer: AcquirerName,
    range: NumberRange,
    services: NumberServices,
    kept: Mutex<NumberStock>,
    /// True once the bank was asked about the first available number.
    was_asked: Mutex<bool>,
    is_used_up: AtomicBool,
}

/// Available numbers.
#[derive(Default)]
struct NumberStock {
    /// Numbers that were taken but not given out yet.
    block: Option<NumberBlock>,
    /// Numbers that were given out for a payment that was never stored.
    given_back: Vec<u32>,
    /// Last number of the newest block.
    taken_to: u32,
    /// First number of the newest block, if it was taken because the previous one was given up.
    first_after_jump: Option<u32>,
    /// Numbers that turned out to be somebody else's, in or near the newest block.
    foreign: BTreeSet<u32>,
    /// Blocks that were given up, one after the other.
    given_up: u32,
    /// Last number of those blocks.
    given_up_to: Option<u32>,
    /// True if the newest block was given up.
    is_given_up: bool,
}

impl NumberStock {
    /// Returns how many numbers are skipped before the next block. Many foreign ones in a row were most likely given
    /// out after the backup from which the store was restored.
    fn passed_over(&self, count: u32) -> u32 {
        match self.given_up.checked_sub(1) {
            Some(doublings) if self.is_given_up => count << doublings.min(MOST_DOUBLINGS),
            Some(_) | None => 0,
        }
    }

    /// Keeps a block that was taken.
    fn took(&mut self, block: NumberBlock) {
        // A block that was used up in the ordinary way ends the doubling.
        if !self.is_given_up {
            self.given_up = 0;
        }
        self.first_after_jump = self.is_given_up.then_some(block.first);
        self.is_given_up = false;
        self.taken_to = block.last;
        self.foreign.retain(|number| number.saturating_add(BLOCK) >= block.first);
        self.block = Some(block);
    }

    /// Returns a number of the block.
    fn next(&mut self) -> Option<u32> {
        let block = self.block?;
        let next = block.first.checked_add(1).filter(|next| *next <= block.last);
        self.block = next.map(|first| NumberBlock { first, ..block });
        Some(block.first)
    }

    /// Records a number that is somebody else's. Numbers of a block that was given up are ignored: many of them may be
    /// under way.
    fn was_foreign(&mut self, number: u32) {
        if self.given_up_to.is_some_and(|last| number <= last) || !self.foreign.insert(number) {
            return;
        }
        let beside = [number.checked_sub(1), number.checked_add(1)];
        let is_in_row = beside.iter().flatten().any(|other| self.foreign.contains(other));
        if is_in_row || self.first_after_jump == Some(number) {
            self.give_up();
        }
    }

    /// Gives up the rest of the newest block.
    fn give_up(&mut self) {
        self.given_up = self.given_up.saturating_add(1);
        self.given_up_to = Some(self.taken_to);
        self.is_given_up = true;
        self.block = None;
        // They are among the numbers that were given up, and are most likely somebody else's too.
        self.given_back.clear();
        self.foreign.clear();
    }
}

/// Services needed to give out numbers.
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
        Self {
            acquirer,
            range,
            services,
            kept: Mutex::default(),
            was_asked: Mutex::default(),
            is_used_up: AtomicBool::new(false),
        }
    }

    /// Returns true if the store has no number left. An unused block of another process may have some.
    pub(crate) fn are_used_up(&self) -> bool {
        self.is_used_up.load(Ordering::Relaxed)
    }

    /// Takes a block if none is available, so that a plan sees whether the range is used up.
    pub(crate) async fn look(&self) -> Result<(), StoreError> {
        let mut kept = self.kept.lock().await;
        if kept.given_back.is_empty() && !self.are_used_up() {
            self.fill(&mut kept).await?;
        }
        Ok(())
    }

    /// Asks the bank, before the first number of this process, whether it knows that number. It does if the store was
    /// restored from a backup; then increasingly many numbers are skipped. Returns false if that was done before.
    pub(crate) async fn ask_before_first(
        &self,
        is_known: impl AsyncFn(u32) -> bool,
    ) -> Result<bool, StoreError> {
        let mut was_asked = self.was_asked.lock().await;
        // A question that was cancelled because it took too long is not repeated.
        if std::mem::replace(&mut *was_asked, true) {
            return Ok(false);
        }
        for _ in 0..MOST_QUESTIONS {
            // If the store does not answer, the bank was not asked, so the next payment asks.
            let first = self.first().await.inspect_err(|_| *was_asked = false)?;
            let Some(number) = first else { break };
            let number = self.range.written(number);
            if !is_known(number).await {
                break;
            }
            tracing::warn!(acquirer = %self.acquirer, number, "the bank already has a number that was never assigned here: some numbers are skipped");
            self.kept.lock().await.give_up();
        }
        Ok(true)
    }

    /// Returns the first number of the current block that is not given out yet.
    async fn first(&self) -> Result<Option<u32>, StoreError> {
        let mut kept = self.kept.lock().await;
        self.fill(&mut kept).await?;
        Ok(kept.block.map(|block| block.first))
    }

    /// Returns a number that nobody else gets, in the form for the bank; none if the range is used up.
    pub(crate) async fn next(&self) -> Result<Option<u32>, StoreError> {
        let mut kept = self.kept.lock().await;
        if let Some(number) = kept.given_back.pop() {
            return Ok(Some(self.range.written(number)));
        }
        self.fill(&mut kept).await?;
        let number = kept.next();
        if let Some(number) = number {
            self.show(number);
        }
        Ok(number.map(|number| self.range.written(number)))
    }

    /// Takes back a number that certainly no payment has. The next payment gets it.
    pub(crate) async fn give_back(&self, written: u32) {
        let number = self.range.counted(written);
        let mut kept = self.kept.lock().await;
        // A number of a block that was given up is given to nobody.
        if kept.given_up_to.is_none_or(|last| last < number) {
            kept.given_back.push(number);
            self.is_used_up.store(false, Ordering::Relaxed);
        }
    }

    /// Records that a number is somebody else's at the bank. After the second in a row the rest of the block is given
    /// up, and each time twice as many numbers are skipped.
    pub(crate) async fn was_foreign(&self, written: u32) {
        self.kept.lock().await.was_foreign(self.range.counted(written));
    }

    /// Takes a block if none is available.
    async fn fill(&self, kept: &mut NumberStock) -> Result<(), StoreError> {
        if kept.block.is_none()
            && let Some(block) = self.take(kept.passed_over(self.block_size())).await?
        {
            kept.took(block);
        }
        Ok(())
    }

    fn block_size(&self) -> u32 {
        (self.range.len() / BLOCKS_OF_A_RANGE).clamp(1, BLOCK)
    }

    /// Takes a block after skipping this many numbers.
    async fn take(&self, passed_over: u32) -> Result<Option<NumberBlock>, StoreError> {
        let count = self.block_size();
        let taken = self.services.store.take_numbers(&self.range, count.saturating_add(passed_over));
        let late = |_| Err(StoreError::Unavailable("the store takes too long".into()));
        let taken = timeout(self.services.time_out, taken).await.unwrap_or_else(late)?;
        // The skipped numbers come first; only those at the end are given out.
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
                tracing::warn!(acquirer = %self.acquirer, "all numbers of our-numbers are used: the acquirer gets no more boletos");
            }
        }
        Ok(taken)
    }

    /// Exports the count of numbers left after this one as a metric.
    fn show(&self, number: u32) {
        let left = self.range.last.saturating_sub(number);
        self.services.meter.numbers_left.with_label_values(&[self.acquirer.as_str()]).set(left.into());
    }

    /// Reports to operators that nine tenths of the range are used. The exception of one range is the same each time.
    fn warn_if_low(&self, last: u32) {
        let NumberRange { key, first, last: end, .. } = &self.range;
        let left = end.saturating_sub(last);
        if u64::from(left).saturating_mul(10) > u64::from(self.range.len()) {
            return;
        }
        self.services.exceptions.report_until_stored(Exception {
            id: format!("{NUMBERS_LOW}:{}:{key}:{end}", self.acquirer),
            kind: NUMBERS_LOW.into(),
            transaction_id: None,
            acquirer: Some(self.acquirer.clone()),
            detail: format!("at most {left} of the boleto numbers {first}-{end} are left"),
            advice: "ask the bank for another range, and extend our-numbers; once it is used up, the acquirer gets no more boletos".into(),
            reported_at: self.services.clock.now(),
            resolution: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of a store that counts from one, in blocks of fifty.
    #[derive(Default)]
    struct Counted {
        kept: NumberStock,
        counter: u32,
    }

    impl Counted {
        fn next(&mut self) -> u32 {
            if self.kept.block.is_none() {
                let passed_over = self.kept.passed_over(BLOCK);
                let first = self.counter + passed_over + 1;
                self.counter = first + BLOCK - 1;
                self.kept.took(NumberBlock { first, last: self.counter });
            }
            self.kept.next().unwrap()
        }

        fn many(&mut self, count: usize) -> Vec<u32> {
            std::iter::repeat_with(|| self.next()).take(count).collect()
        }

        fn are_foreign(&mut self, numbers: impl IntoIterator<Item = u32>) {
            numbers.into_iter().for_each(|number| self.kept.was_foreign(number));
        }
    }

    #[test]
    fn twenty_charges_under_way_of_one_block_are_one_reason_to_pass_numbers_over() {
        let mut numbers = Counted::default();
        let first = numbers.many(20);
        numbers.are_foreign(first);
        assert_eq!(numbers.next(), 101, "fifty are passed over");
        let mut second = vec![101];
        second.extend(numbers.many(19));
        second.reverse();
        numbers.are_foreign(second);
        assert_eq!(numbers.next(), 251, "a hundred are passed over");
    }

    #[test]
    fn numbers_of_others_one_by_one_are_no_reason() {
        let mut numbers = Counted::default();
        assert_eq!(numbers.many(10), (1..=10).collect::<Vec<_>>());
        numbers.are_foreign([2, 5, 5, 9]);
        assert_eq!(numbers.next(), 11);
        numbers.are_foreign([10]);
        assert_eq!(numbers.next(), 101, "two in a row are");
    }

    #[test]
    fn a_block_that_is_used_to_its_end_ends_the_doubling() {
        let mut numbers = Counted::default();
        let first = numbers.many(2);
        numbers.are_foreign(first);
        assert_eq!(numbers.many(50), (101..=150).collect::<Vec<_>>());
        assert_eq!(numbers.many(2), [151, 152]);
        numbers.are_foreign([151, 152]);
        assert_eq!(numbers.next(), 251, "fifty again");
    }
}
