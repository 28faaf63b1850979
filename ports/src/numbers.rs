//! Slip numbers that a bank leaves to us: each is given out once.

use async_trait::async_trait;
use quita_domain::boleto::NumberDigit;

use crate::store::StoreError;

/// Range of numbers that a bank leaves exclusively to us. Ranges with one key share a counter, so a range can be
/// widened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NumberRange {
    /// Name of the counter, unique for a contract at a bank and a start of the range.
    pub key: String,
    /// First number.
    pub first: u32,
    /// Last number.
    pub last: u32,
    /// Rule of the check digit that the bank wants after each number, if it wants one.
    pub digit: Option<NumberDigit>,
}

impl NumberRange {
    /// Returns a number of the range in the form for the bank: with its check digit, if the range has one.
    pub fn written(&self, number: u32) -> u32 {
        self.digit.as_ref().map_or(number, |digit| digit.appended(number))
    }

    /// Returns the number of the range from its form for the bank.
    pub const fn counted(&self, written: u32) -> u32 {
        if self.digit.is_some() { NumberDigit::stripped(written) } else { written }
    }

    /// Returns the count of all its numbers.
    pub const fn len(&self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }

    /// Returns true if it has no number.
    pub const fn is_empty(&self) -> bool {
        self.last < self.first
    }

    /// Returns the block of up to `count` numbers at the counter, and the counter after it. The counter starts at the
    /// first number and never goes back. `None` if the range is used up.
    pub fn block_at(&self, counter: Option<u64>, count: u32) -> Option<(NumberBlock, u64)> {
        let first = counter.unwrap_or_default().max(u64::from(self.first));
        let last = first.checked_add(u64::from(count))?.checked_sub(1)?.min(u64::from(self.last));
        let block = NumberBlock { first: u32::try_from(first).ok()?, last: u32::try_from(last).ok()? };
        (count > 0 && first <= last).then(|| (block, last.saturating_add(1)))
    }
}

/// Consecutive numbers that nobody else is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberBlock {
    /// First number.
    pub first: u32,
    /// Last number.
    pub last: u32,
}

/// Counters of numbers.
#[async_trait]
pub trait NumberStore: Send + Sync + 'static {
    /// Takes the next numbers of a range, at most `count`; none if the range is used up.
    ///
    /// No two concurrent callers, on any nodes, get the same number. Numbers of a lost answer are given to nobody, so a
    /// range has gaps.
    async fn take_numbers(&self, range: &NumberRange, count: u32) -> Result<Option<NumberBlock>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u32, last: u32) -> NumberRange {
        NumberRange { key: "bank".into(), first, last, digit: None }
    }

    fn block(first: u32, last: u32) -> NumberBlock {
        NumberBlock { first, last }
    }

    #[test]
    fn blocks_follow_each_other_to_the_end_of_the_range() {
        let range = range(10, 14);
        assert_eq!((range.len(), range.is_empty()), (5, false));
        assert_eq!(range.block_at(None, 3), Some((block(10, 12), 13)));
        assert_eq!(range.block_at(Some(13), 3), Some((block(13, 14), 15)));
        assert_eq!(range.block_at(Some(15), 3), None);
        assert_eq!(range.block_at(Some(90), 3), None, "the range was narrowed");
        assert_eq!(range.block_at(None, 0), None);
    }

    #[test]
    fn the_largest_number_is_given_out_and_nothing_after_it() {
        let range = range(u32::MAX, u32::MAX);
        let after = u64::from(u32::MAX) + 1;
        assert_eq!(range.block_at(None, u32::MAX), Some((block(u32::MAX, u32::MAX), after)));
        assert_eq!(range.block_at(Some(after), 1), None);
        assert_eq!(range.block_at(Some(u64::MAX), u32::MAX), None);
    }
}
