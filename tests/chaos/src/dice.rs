//! Random numbers that follow from a seed.

use std::cell::Cell;
use std::time::Duration;

/// SplitMix64.
pub(crate) struct Dice(Cell<u64>);

impl Dice {
    /// Creates numbers for one purpose, independent of those of other purposes with the same seed.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mixed = purpose.bytes().fold(seed, |hash, byte| mix(hash ^ u64::from(byte)));
        Self(Cell::new(mixed))
    }

    pub(crate) fn roll(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        mix(self.0.get())
    }

    /// Returns a number from `from` up to, but not including, `to`.
    pub(crate) fn between(&self, from: u64, to: u64) -> u64 {
        from + self.roll() % (to - from)
    }

    pub(crate) fn index(&self, count: usize) -> usize {
        usize::try_from(self.roll() % count as u64).unwrap_or(0)
    }

    /// Returns true in this many cases of a hundred.
    pub(crate) fn percent(&self, percent: u64) -> bool {
        self.roll() % 100 < percent
    }

    pub(crate) fn millis(&self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.between(from, to))
    }
}

const fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
