//! Receivers' confirmations that wait for the payment's next write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use quita_domain::delivery::Confirmation;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use super::hold::Hold;

/// Interval of the moments at which confirmations are stored. All payments share these moments, and therefore a batch,
/// which costs the store less than separate writes.
const MOMENTS_APART_MS: u64 = 50;

/// Time for which they are held while the store is away. By then their lease has expired, and the events are sent
/// again.
const HELD_FOR: Duration = Duration::from_secs(30);

/// Returns the wait until the last moment within this time.
fn until_moment(now: Timestamp, within_ms: u64) -> Duration {
    let latest = now.plus_ms(within_ms).millis().unsigned_abs();
    Duration::from_millis(within_ms.saturating_sub(latest % MOMENTS_APART_MS))
}

/// Number of payments whose confirmations wait for a payer, and its limit, because each of them stays in memory
/// meanwhile.
#[derive(Debug)]
pub(crate) struct LongWaits {
    begun: AtomicUsize,
    most: usize,
}

impl LongWaits {
    pub(crate) const fn up_to(most: usize) -> Self {
        Self { begun: AtomicUsize::new(0), most }
    }

    /// Begins one more, if there is room.
    pub(super) fn begin(self: &Arc<Self>) -> Option<LongWait> {
        let one = LongWait(Arc::clone(self));
        // Counted before the comparison; dropping it uncounts it again.
        (self.begun.fetch_add(1, Ordering::Relaxed) < self.most).then_some(one)
    }
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct LongWait(Arc<LongWaits>);

impl Drop for LongWait {
    fn drop(&mut self) {
        self.0.begun.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Confirmations that are not stored yet, in the order of their deliveries. If the process crashes, they are lost, and
/// the events are sent again.
pub(super) struct Confirmed {
    waiting: Vec<Confirmation>,
    /// Present while they may wait for a payer.
    long: Option<LongWait>,
    /// True if an attempt to store them separately has failed.
    has_failed: bool,
    until: Option<Instant>,
    hold: Hold,
}

impl Confirmed {
    pub(super) const fn new(hold: Hold) -> Self {
        Self { waiting: Vec::new(), long: None, has_failed: false, until: None, hold }
    }

    pub(super) fn waiting(&self) -> &[Confirmation] {
        &self.waiting
    }

    /// Returns the time after which waiting confirmations must be stored. If there are other nodes, they wait only
    /// until the next moment. Another node may have stored the next event, which is not sent before these are
    /// confirmed. After a failure they wait longer, to give the store a pause.
    pub(super) fn stored_after(
        &self,
        payment: Option<&Payment>,
        now: Timestamp,
        is_alone: bool,
    ) -> Option<Duration> {
        if self.waiting.is_empty() {
            return None;
        }
        let longest_ms = payment.map_or(MOMENTS_APART_MS, |payment| {
            payment.confirmations_wait_ms(&self.waiting, now, self.long.is_some())
        });
        let within_ms = if is_alone || self.has_failed { longest_ms } else { MOMENTS_APART_MS };
        Some(until_moment(now, within_ms))
    }

    /// Keeps a confirmation.
    pub(super) fn keep(&mut self, confirmation: Confirmation, long: Option<LongWait>) {
        let until = *self.until.get_or_insert_with(|| Instant::now() + HELD_FOR);
        self.hold.for_confirmed(Some(until));
        self.long = long;
        self.waiting.push(confirmation);
    }

    /// Takes the last confirmation out, to store it together with those before it.
    pub(super) fn take_last(&mut self) -> Option<Confirmation> {
        self.waiting.pop()
    }

    /// Puts a confirmation back that could not be stored.
    pub(super) fn put_back(&mut self, confirmation: Confirmation) {
        self.waiting.push(confirmation);
        self.has_failed = true;
        self.long = None;
    }

    /// Returns true if they were held for so long that their events are sent again.
    pub(super) fn is_too_old(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Forgets confirmations that are stored or no longer needed.
    pub(super) fn forget(&mut self) {
        self.waiting = Vec::new();
        self.long = None;
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
        let stored_at = |ms: i64, within_ms| {
            let now = Timestamp::from_millis(ms);
            now.plus_ms(millis_in(until_moment(now, within_ms))).millis()
        };
        assert_eq!([1_000, 1_001, 1_049].map(|ms| stored_at(ms, 4_000)), [5_000; 3]);
        assert_eq!(stored_at(1_050, 4_000), 5_050);
        assert_eq!([1_000, 1_001, 1_049].map(|ms| stored_at(ms, MOMENTS_APART_MS)), [1_050; 3]);
    }

    #[test]
    fn no_more_payments_wait_for_their_payers_than_there_is_room_for() {
        let waits = Arc::new(LongWaits::up_to(2));
        let begun = [waits.begin(), waits.begin()];
        assert!(begun.iter().all(Option::is_some) && waits.begin().is_none());
        drop(begun);
        assert!(waits.begin().is_some());
    }
}
