//! A timer wheel over many transactions.

use std::collections::VecDeque;
use std::time::Duration;

use quita_domain::identity::TransactionId;

/// Number of steps in one full turn.
const STEPS: u32 = 8;

/// Timer wheel of transactions by the number of steps until they are examined. Each step examines some of them.
pub(crate) struct Wheel {
    slots: VecDeque<Vec<TransactionId>>,
    /// Interval at which it must be turned.
    pub(crate) step: Duration,
}

impl Wheel {
    /// Creates a wheel for waits of up to this long.
    pub(crate) fn new(longest: Duration) -> Self {
        let step = (longest / STEPS).max(Duration::from_millis(1));
        Self { slots: (0..=STEPS).map(|_| Vec::new()).collect(), step }
    }

    /// Schedules a transaction after this long, or up to two steps later.
    pub(crate) fn put(&mut self, id: TransactionId, after: Duration) {
        let steps = after.as_nanos().div_ceil(self.step.as_nanos().max(1));
        let last = self.slots.len().saturating_sub(1);
        let slot = usize::try_from(steps).unwrap_or(last).min(last);
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.push(id);
        }
    }

    /// Turns the wheel by a step, and returns the transactions that are due.
    pub(crate) fn turn(&mut self) -> Vec<TransactionId> {
        let due = self.slots.pop_front().unwrap_or_default();
        self.slots.push_back(Vec::new());
        due
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn each_is_seen_once_and_not_before_its_time() {
        let mut wheel = Wheel::new(Duration::from_secs(8));
        let waits = [0, 1, 999, 1_000, 1_001, 7_999, 8_000, 60_000];
        for (number, wait) in (0..).zip(waits) {
            wheel.put(TransactionId::new(Uuid::from_u128(number)), Duration::from_millis(wait));
        }
        let seen: Vec<Vec<u128>> =
            (0..10).map(|_| wheel.turn().iter().map(|id| id.uuid().as_u128()).collect()).collect();
        let empty = Vec::new;
        let next = vec![1, 2, 3];
        let last = vec![5, 6, 7];
        assert_eq!(
            seen,
            [vec![0], next, vec![4], empty(), empty(), empty(), empty(), empty(), last, empty()]
        );
    }
}
