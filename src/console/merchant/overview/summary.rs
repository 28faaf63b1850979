//! Sums of figures.

use quita_domain::figures::{Figure, PAID_WITHIN_MS};
use quita_domain::status::Status;

/// Sum of some figures.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Number of payments created.
    pub(super) created: u64,
    /// Number of payments that were paid, whatever happened later.
    pub(super) paid: u64,
    /// Total of these payments, in cents.
    pub(super) paid_cents: u64,
    /// Number of payments paid or authorised.
    approved: u64,
    /// Number of payments that ended unpaid.
    missed: u64,
    /// Number of paid payments by class of time to paid.
    paid_within: [u64; PAID_WITHIN_MS.len()],
    /// Number of paid payments that took longer than the last class.
    paid_later: u64,
}

impl Summary {
    pub(super) fn of<'a>(figures: impl Iterator<Item = &'a Figure>) -> Self {
        figures.fold(Self::default(), Self::and)
    }

    fn and(mut self, figure: &Figure) -> Self {
        let count = figure.count;
        self.created = self.created.saturating_add(count);
        match figure.paid_within {
            Some(class) => {
                self.paid = self.paid.saturating_add(count);
                self.paid_cents = self.paid_cents.saturating_add(figure.amount_cents);
                self.approved = self.approved.saturating_add(count);
                let place = self.paid_within.get_mut(usize::from(class)).unwrap_or(&mut self.paid_later);
                *place = place.saturating_add(count);
            }
            None if figure.status == Status::Approved => self.approved = self.approved.saturating_add(count),
            None if is_over(figure.status) => self.missed = self.missed.saturating_add(count),
            None => {}
        }
        self
    }

    /// Returns the approved share of the payments that have ended, per mille. `None` if none has.
    pub(super) fn approval_per_mille(&self) -> Option<u64> {
        let ended = self.approved.saturating_add(self.missed);
        self.approved.saturating_mul(1_000).saturating_add(ended / 2).checked_div(ended)
    }

    /// Returns the median time to paid, interpolated linearly within its class. `None` if no payment was paid.
    pub(super) fn median_ms(&self) -> Option<u64> {
        let mut seen = 0_u64;
        let mut lower = 0_u64;
        for (count, upper) in self.paid_within.iter().zip(PAID_WITHIN_MS) {
            let before = seen;
            seen = seen.saturating_add(*count);
            if self.paid > 0 && self.paid <= seen.saturating_mul(2) {
                let twice_into = self.paid.saturating_sub(before.saturating_mul(2));
                let share = upper.saturating_sub(lower).saturating_mul(twice_into);
                return Some(lower.saturating_add(share / count.saturating_mul(2).max(1)));
            }
            lower = upper;
        }
        (self.paid > 0).then_some(lower)
    }
}

/// Returns true if a payment in this status that was never paid has ended.
fn is_over(status: Status) -> bool {
    match status {
        Status::Declined | Status::Expired | Status::Cancelled => true,
        Status::Initial
        | Status::Pending
        | Status::Approved
        | Status::Paid
        | Status::Refund
        | Status::Chargeback => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::method::Method;

    fn figure(status: Status, paid_within: Option<u8>, count: u64) -> Figure {
        Figure { method: Method::Pix, status, paid_within, count, amount_cents: count * 100 }
    }

    #[test]
    fn what_was_paid_counts_as_paid_whatever_came_after() {
        let figures = [
            figure(Status::Paid, Some(1), 6),
            figure(Status::Refund, Some(1), 2),
            figure(Status::Declined, None, 1),
            figure(Status::Expired, None, 1),
            figure(Status::Pending, None, 5),
        ];
        let summary = Summary::of(figures.iter());
        assert_eq!((summary.created, summary.paid, summary.paid_cents), (15, 8, 800));
        assert_eq!(summary.approval_per_mille(), Some(800));
        assert_eq!(Summary::default().approval_per_mille(), None);
    }

    #[test]
    fn the_median_lies_in_the_class_of_the_one_in_the_middle() {
        assert_eq!(Summary::default().median_ms(), None);
        let median = |classes: &[(u8, u64)]| {
            let figures: Vec<_> =
                classes.iter().map(|(class, count)| figure(Status::Paid, Some(*class), *count)).collect();
            Summary::of(figures.iter()).median_ms().unwrap()
        };
        assert_eq!(median(&[(1, 10)]), 1_500, "in the middle of 1 s to 2 s");
        assert_eq!((median(&[(1, 1)]), median(&[(1, 2)])), (1_500, 1_500), "however many they are");
        assert_eq!(median(&[(0, 1), (1, 1)]), 1_000);
        assert_eq!(median(&[(0, 1), (2, 9)]), 2_000 + 3_000 * 4 / 9);
        assert_eq!(median(&[(12, 3)]), 259_200_000, "longer than the last class");
    }
}
