//! How often an acquirer approves.

use std::cmp::Ordering;

use crate::money::Money;

/// Tries that count: the last ones.
pub const TRIES: u8 = 200;

/// What became of an acquirer's last tries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Approvals {
    /// Those that were approved.
    pub approved: u8,
    /// All of them, at most [`TRIES`].
    pub tries: u8,
}

impl Approvals {
    /// How likely the next one is, as a fraction: (approved + 1) ÷ (tries + 2), Laplace's rule of succession.
    fn likelihood(self) -> (i128, i128) {
        let approved = self.approved.min(self.tries);
        (i128::from(approved) + 1, i128::from(self.tries) + 2)
    }

    /// In thousandths, for those who look at it.
    pub fn per_mille(self) -> u32 {
        let (approved, tries) = self.likelihood();
        u32::try_from((approved * 1_000 + tries / 2) / tries).unwrap_or_default()
    }
}

/// What an acquirer is expected to bring: likelihood × (amount − cost), kept as a fraction so that two compare exactly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Net {
    cents: i128,
    parts: i128,
}

impl Net {
    pub(super) fn of(approvals: Approvals, amount: Money, cost: Money) -> Self {
        let (approved, parts) = approvals.likelihood();
        Self { cents: approved * (i128::from(amount.cents()) - i128::from(cost.cents())), parts }
    }

    /// Which is more.
    pub(super) fn compare(self, other: Self) -> Ordering {
        (self.cents * other.parts).cmp(&(other.cents * self.parts))
    }
}
