//! A receiver's confirmation that waits for the payment's next write.

use std::time::Duration;

use quita_domain::delivery::Confirmation;
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use super::hold::Hold;

/// Longest time for which a confirmation waits for another write before it makes one.
const STORED_WITHIN_MS: u64 = 4_000;

/// Interval of the moments at which confirmations are stored. Those of all payments share the moments, and so a batch,
/// which costs the store less than separate writes.
const MOMENTS_APART_MS: u64 = 50;

/// Time for which it is held while the store is away. Its lease is over by then, and the event is sent again.
const HELD_FOR: Duration = Duration::from_secs(30);

/// Returns the wait for another write. Among other nodes it lasts only until the next moment. One of them may have
/// stored the next event, which is not sent before this one counts as confirmed.
fn stored_after(now: Timestamp, may_wait_long: bool) -> Duration {
    let within_ms = if may_wait_long { STORED_WITHIN_MS } else { MOMENTS_APART_MS };
    let latest = now.plus_ms(within_ms).millis().unsigned_abs();
    Duration::from_millis(within_ms.saturating_sub(latest % MOMENTS_APART_MS))
}

/// A confirmation that no store has yet. If the process crashes, it is lost, and the event is sent once more.
pub(super) struct Confirmed {
    waiting: Option<Confirmation>,
    /// True if an attempt to store it separately has failed.
    has_failed: bool,
    until: Option<Instant>,
    hold: Hold,
}

impl Confirmed {
    pub(super) const fn new(hold: Hold) -> Self {
        Self { waiting: None, has_failed: false, until: None, hold }
    }

    pub(super) const fn waiting(&self) -> Option<&Confirmation> {
        self.waiting.as_ref()
    }

    /// Returns the time after which a waiting confirmation must be stored. After a failure it is longer, to give the
    /// store a pause.
    pub(super) fn stored_after(&self, now: Timestamp, is_alone: bool) -> Option<Duration> {
        self.waiting.as_ref().map(|_| stored_after(now, is_alone || self.has_failed))
    }

    /// Keeps a confirmation; there must be none yet.
    pub(super) fn keep(&mut self, confirmation: Confirmation) {
        let until = *self.until.get_or_insert_with(|| Instant::now() + HELD_FOR);
        self.hold.for_confirmed(Some(until));
        self.waiting = Some(confirmation);
    }

    /// Takes the confirmation out, to store it.
    pub(super) const fn take(&mut self) -> Option<Confirmation> {
        self.waiting.take()
    }

    /// Puts a confirmation back that could not be stored.
    pub(super) fn put_back(&mut self, confirmation: Confirmation) {
        self.waiting = Some(confirmation);
        self.has_failed = true;
    }

    /// Returns true if it was held so long that its event is sent again.
    pub(super) fn is_too_old(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Forgets a confirmation that is stored or no longer needed.
    pub(super) fn forget(&mut self) {
        self.waiting = None;
        self.has_failed = false;
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
        let stored_at = |ms: i64, is_alone| {
            let now = Timestamp::from_millis(ms);
            now.plus_ms(millis_in(stored_after(now, is_alone))).millis()
        };
        assert_eq!([1_000, 1_001, 1_049].map(|ms| stored_at(ms, true)), [5_000; 3]);
        assert_eq!(stored_at(1_050, true), 5_050);
        assert_eq!([1_000, 1_001, 1_049].map(|ms| stored_at(ms, false)), [1_050; 3]);
    }
}
