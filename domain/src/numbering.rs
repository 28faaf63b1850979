//! Numbers of the parts of a payment: its charges, its events and their deliveries.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Number of a charge within its payment, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptNumber(u32);

impl AttemptNumber {
    /// Number that no charge has: the last charge number of a payment without charges.
    pub const NONE: Self = Self(0);
    /// Number of a payment's first charge.
    pub const FIRST: Self = Self(1);

    /// Wraps a number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number of the charge at this index in the list of charges.
    pub fn at(index: usize) -> Self {
        Self::last_of(index.saturating_add(1))
    }

    /// Returns the number of the last one of this many charges.
    pub fn last_of(count: usize) -> Self {
        Self(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Returns the number itself.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the index in the list of charges. `None` for the number that no charge has.
    pub fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok()?.checked_sub(1)
    }

    /// Returns true if this is the first charge of the payment.
    pub const fn is_first(self) -> bool {
        self.0 <= Self::FIRST.0
    }
}

impl fmt::Display for AttemptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Index of a delivery in its payment's outbox, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryIndex(u32);

impl DeliveryIndex {
    /// Index of a payment's first delivery.
    pub const FIRST: Self = Self(0);

    /// Wraps an index.
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Returns the index of the delivery at this position in the outbox.
    pub fn at(place: usize) -> Self {
        Self(u32::try_from(place).unwrap_or(u32::MAX))
    }

    /// Returns the number itself.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the position in the outbox.
    pub fn place(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for DeliveryIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of an event within its payment, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventSequence(u32);

impl EventSequence {
    /// Number of a payment's first event.
    pub const FIRST: Self = Self(1);

    /// Wraps a number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number itself.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the number of the event after this one.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for EventSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_at_an_index_has_the_number_after_it() {
        for (index, number) in [(0, 1), (1, 2), (7, 8)] {
            assert_eq!(AttemptNumber::at(index), AttemptNumber::new(number));
            assert_eq!(AttemptNumber::new(number).index(), Some(index));
            assert_eq!(AttemptNumber::new(number).is_first(), index == 0);
        }
        assert_eq!(AttemptNumber::NONE.index(), None);
        assert_eq!(AttemptNumber::last_of(0), AttemptNumber::NONE);
        assert_eq!(AttemptNumber::at(usize::MAX), AttemptNumber::new(u32::MAX));
    }

    #[test]
    fn a_delivery_has_the_index_of_its_place() {
        for place in [0, 1, 199] {
            assert_eq!(DeliveryIndex::at(place).place(), place);
        }
        assert_eq!(DeliveryIndex::at(0), DeliveryIndex::FIRST);
        assert_eq!(DeliveryIndex::at(usize::MAX), DeliveryIndex::new(u32::MAX));
    }

    #[test]
    fn numbers_are_written_as_they_are() {
        let all = (AttemptNumber::FIRST, DeliveryIndex::FIRST, EventSequence::FIRST.next());
        assert_eq!(serde_json::to_string(&all).unwrap(), "[1,0,2]");
        assert_eq!(serde_json::from_str::<EventSequence>("2").unwrap(), EventSequence::new(2));
    }
}
