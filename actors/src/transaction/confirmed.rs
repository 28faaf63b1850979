//! Confirmations of receivers that wait for their payment's next write.

use std::time::Duration;

use quita_domain::delivery::Confirmation;
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use super::hold::Hold;

/// How long a confirmation waits for another write, at most: then it makes one.
const STORED_WITHIN_MS: u64 = 4_000;

/// How far the moments lie apart at which confirmations are stored. Those of all payments share them, and so a batch: where
/// there is little to do, a write by itself costs the store several times as much.
const MOMENTS_APART_MS: i64 = 50;

/// How long it is held while the store is away. Its lease is over then, and the event is sent again.
const HELD_FOR: Duration = Duration::from_secs(30);

/// How long a confirmation that has just come waits for another write.
pub(super) fn stored_after(now: Timestamp) -> Duration {
    let latest = now.plus_ms(STORED_WITHIN_MS);
    let early_ms = latest.millis().rem_euclid(MOMENTS_APART_MS).unsigned_abs();
    Duration::from_millis(STORED_WITHIN_MS.saturating_sub(early_ms))
}

/// What receivers confirmed and no store has. It is lost with the process: then the events are sent once more.
pub(super) struct Confirmed {
    waiting: Vec<Confirmation>,
    until: Option<Instant>,
    hold: Hold,
}

impl Confirmed {
    pub(super) const fn new(hold: Hold) -> Self {
        Self { waiting: Vec::new(), until: None, hold }
    }

    pub(super) fn waiting(&self) -> &[Confirmation] {
        &self.waiting
    }

    /// Keeps one more.
    pub(super) fn keep(&mut self, confirmation: Confirmation) {
        let until = *self.until.get_or_insert_with(|| Instant::now() + HELD_FOR);
        self.hold.for_confirmed(Some(until));
        self.waiting.push(confirmation);
    }

    /// Takes one of them out: all others are stored with it.
    pub(super) fn take_one(&mut self) -> Option<Confirmation> {
        self.waiting.pop()
    }

    /// Whether they were held for so long that their events are sent again.
    pub(super) fn are_too_old(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// They are stored, or are not worth it any more.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
        self.until = None;
        self.hold.for_confirmed(None);
    }
}

impl Drop for Confirmed {
    fn drop(&mut self) {
        self.hold.for_confirmed(None);
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::time::millis_in;

    use super::*;

    #[test]
    fn confirmations_that_come_within_a_moment_are_stored_at_the_same_time_and_none_waits_too_long() {
        let stored_at =
            |ms: i64| Timestamp::from_millis(ms).plus_ms(millis_in(stored_after(Timestamp::from_millis(ms))));
        assert_eq!([1_000, 1_001, 1_049].map(|ms| stored_at(ms).millis()), [5_000; 3]);
        assert_eq!([1_050, -1].map(|ms| stored_at(ms).millis()), [5_050, 3_950]);
    }
}
