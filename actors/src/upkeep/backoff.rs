//! Back-off after failures, so that a failing item is neither retried constantly nor delays the others.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_ports::StoreError;
use tokio::time::Instant;

use crate::denied::Denied;

/// First wait, doubled for each failure in a row.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Longest wait after a failure that is unlikely to resolve by itself.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Longest wait while the store is away: once it is back, nothing should wait for long.
const LONGEST_OUTAGE_WAIT: Duration = Duration::from_secs(5);

/// Remembers failures, in memory only and up to its capacity.
pub(crate) struct Backoff<K> {
    known: Mutex<HashMap<K, Failure>>,
    capacity: usize,
}

struct Failure {
    wait: Duration,
    until: Instant,
}

impl<K: Eq + Hash> Backoff<K> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { known: Mutex::new(HashMap::new()), capacity }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Failure>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the item may be tried now.
    pub(crate) fn may_try(&self, key: &K) -> bool {
        self.lock().get(key).is_none_or(|failure| failure.until <= Instant::now())
    }

    /// Returns the number of items that are held back now. A caller should request that many more, to reach the others.
    pub(crate) fn held_back(&self) -> usize {
        let now = Instant::now();
        self.lock().values().filter(|failure| failure.until > now).count()
    }

    /// Forgets an item that succeeded or has nothing left to do.
    pub(crate) fn succeeded(&self, key: &K) {
        self.lock().remove(key);
    }

    /// Records a failure. Each failure in a row doubles the wait.
    pub(crate) fn failed(&self, key: K, why: &Denied) {
        let now = Instant::now();
        let longest = longest_wait(why);
        let mut known = self.lock();
        if known.len() >= self.capacity && !known.contains_key(&key) {
            // An item that was not retried for this long is no longer due, or was done by another node.
            known.retain(|_, failure| failure.until + LONGEST_WAIT > now);
            if known.len() >= self.capacity {
                tracing::error!(count = known.len(), "too many failures to remember them all");
                return;
            }
        }
        // Half of the first wait, because the first failure doubles it as well.
        let failure = known.entry(key).or_insert(Failure { wait: FIRST_WAIT / 2, until: now });
        failure.wait = failure.wait.saturating_mul(2).min(longest);
        failure.until = now + failure.wait;
    }
}

const fn longest_wait(why: &Denied) -> Duration {
    match why {
        Denied::StoreUnavailable(
            StoreError::Unavailable(_) | StoreError::Full(_) | StoreError::Broken(_),
        )
        | Denied::NoRoute
        | Denied::Overloaded
        | Denied::Interrupted
        | Denied::Stopping => LONGEST_OUTAGE_WAIT,
        Denied::StoreUnavailable(StoreError::Unreadable(_))
        | Denied::NotFound
        | Denied::Refused(_)
        | Denied::KeyReused
        | Denied::TokenUsed
        | Denied::MethodUnavailable
        | Denied::AmountNotAccepted
        | Denied::ExpiryNotAccepted
        | Denied::Defect(_) => LONGEST_WAIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNREADABLE: Denied = Denied::StoreUnavailable(StoreError::Unreadable(String::new()));
    const AWAY: Denied = Denied::StoreUnavailable(StoreError::Unavailable(String::new()));

    /// Fails whenever it may be tried; the waits in between.
    async fn waits(why: &Denied, count: usize) -> Vec<u128> {
        let failed = Backoff::new(10);
        let mut waits = Vec::new();
        for _ in 0..count {
            let begun = Instant::now();
            failed.failed(1, why);
            while !failed.may_try(&1) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            waits.push(begun.elapsed().as_millis());
        }
        waits
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_up_to_a_minute_and_stay_short_while_the_store_is_away() {
        let expected = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
        assert_eq!(waits(&UNREADABLE, 9).await, expected);
        assert_eq!(waits(&AWAY, 6).await, [500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_forgets_and_no_more_is_remembered_than_the_capacity() {
        let failed = Backoff::new(2);
        for key in 1..=3 {
            failed.failed(key, &UNREADABLE);
        }
        assert_eq!((failed.held_back(), failed.may_try(&3)), (2, true));
        failed.succeeded(&1);
        assert!(failed.may_try(&1) && !failed.may_try(&2));
        tokio::time::sleep(Duration::from_secs(120)).await;
        failed.failed(3, &UNREADABLE);
        failed.failed(4, &UNREADABLE);
        assert!(!failed.may_try(&4), "what nobody tried again has left the memory");
    }
}
