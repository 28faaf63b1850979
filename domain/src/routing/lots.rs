//! Weighted draws from numbers that are derived from the dice.

/// Pseudo-random numbers from the dice, each as good as a fresh draw (SplitMix64: Steele, Lea, Flood, 2014).
pub(super) struct Lots(u64);

impl Lots {
    pub(super) const fn new(dice: u64) -> Self {
        Self(dice)
    }

    /// Orders all entries: each time one of the remaining ones is drawn in proportion to its weight. Those without
    /// weight come last, in their original order.
    ///
    /// If entries are dropped from the result, the order of the others keeps the right proportions.
    pub(super) fn order<T>(&mut self, mut left: Vec<T>, weight: impl Fn(&T) -> u32) -> Vec<T> {
        let mut drawn = Vec::with_capacity(left.len());
        while left.len() > 1 {
            let weights = || left.iter().map(|one| u64::from(weight(one)));
            let lot = self.below(weights().sum());
            let mut reached = 0_u64;
            let chosen = weights().position(|weight| {
                reached = reached.saturating_add(weight);
                lot < reached
            });
            // None is chosen if no remaining entry has a weight. Then the original order applies.
            drawn.push(left.remove(chosen.unwrap_or(0)));
        }
        drawn.append(&mut left);
        drawn
    }

    /// Returns a number below the bound: the probability of each differs from the exact one by less than 2⁻³².
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = u128::from(mixed ^ (mixed >> 31)).saturating_mul(u128::from(bound));
        u64::try_from(number >> 64).unwrap_or_default()
    }
}
