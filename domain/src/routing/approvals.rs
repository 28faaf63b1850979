//! Approval rates of acquirers.

use std::cmp::Ordering;

use crate::money::Money;

/// Number of the last tries that count.
pub const TRIES: u8 = 200;

/// Outcomes of an acquirer's last tries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Approvals {
    /// Number of approved tries.
    pub approved: u8,
    /// Number of tries, at most [`TRIES`].
    pub tries: u8,
}

impl Approvals {
    /// Returns the likelihood of the next approval, as a fraction: (approved + 1) ÷ (tries + 2), Laplace's rule of
    /// succession.
    fn likelihood(self) -> (i128, i128) {
        let approved = self.approved.min(self.tries);
        (i128::from(approved) + 1, i128::from(self.tries) + 2)
    }

    /// Returns the likelihood in thousandths, for display.
    pub fn per_mille(self) -> u32 {
        let (approved, tries) = self.likelihood();
        u32::try_from((approved * 1_000 + tries / 2) / tries).unwrap_or_default()
    }
}

/// Expected net amount of an acquirer: likelihood × (amount − cost), as a fraction so that comparisons are exact.
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

    /// Compares two amounts.
    pub(super) fn compare(self, other: Self) -> Ordering {
        (self.cents * other.parts).cmp(&(other.cents * self.parts))
    }
}
