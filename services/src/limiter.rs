//! Rate limits for keys of any kind, counted on this node and only in memory.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Number of keys above which idle ones are forgotten.
const KEPT: usize = 10_000;

/// Rate limit: a burst of at least one event, and one more after each period.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Number of events allowed at once.
    pub burst: u32,
    /// Time after which one more event is allowed.
    pub period: Duration,
}

/// Limiter of each key.
pub struct Limiter<K: Clone + Eq + Hash> {
    keys: DefaultKeyedRateLimiter<K>,
    sweeps: Sweeps,
}

/// Schedule of the sweeps that forget idle keys.
struct Sweeps {
    due_above: AtomicUsize,
}

impl Sweeps {
    const fn new() -> Self {
        Self { due_above: AtomicUsize::new(KEPT) }
    }

    /// Returns true if a sweep is due, to one of several concurrent callers.
    fn is_due(&self, keys: usize) -> bool {
        let due_above = self.due_above.load(Ordering::Relaxed);
        // A sweep examines every key. One is due each time their number has doubled, so the cost per key is constant,
        // however many there are.
        let later = keys.saturating_mul(2);
        keys > due_above
            && self.due_above.compare_exchange(due_above, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Records how many keys a sweep left.
    fn done(&self, keys: usize) {
        self.due_above.store(keys.saturating_mul(2).max(KEPT), Ordering::Relaxed);
    }
}

impl<K: Clone + Eq + Hash> Limiter<K> {
    /// Allows each key this rate.
    pub fn new(pace: Pace) -> Self {
        let burst = NonZeroU32::new(pace.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(pace.period)
            .map_or_else(|| Quota::per_second(burst), |quota| quota.allow_burst(burst));
        Self { keys: RateLimiter::keyed(quota), sweeps: Sweeps::new() }
    }

    /// Counts one event.
    ///
    /// # Errors
    /// The seconds after which one more is allowed.
    pub fn count(&self, key: &K) -> Result<(), u64> {
        if self.sweeps.is_due(self.keys.len()) {
            self.keys.retain_recent();
            self.sweeps.done(self.keys.len());
        }
        let clock = DefaultClock::default();
        self.keys
            .check_key(key)
            // Rounded up: a caller that returned after only the whole seconds would be refused again.
            .map_err(|refused| refused.wait_time_from(clock.now()).as_secs().saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_keys_is_swept_a_few_times_and_what_is_left_seldom() {
        let sweeps = Sweeps::new();
        let swept = |keys: usize, left: usize| {
            let is_due = sweeps.is_due(keys);
            if is_due {
                sweeps.done(left);
            }
            usize::from(is_due)
        };
        assert_eq!((0..=KEPT).map(|keys| swept(keys, keys)).sum::<usize>(), 0);
        assert_eq!((KEPT..100 * KEPT).map(|keys| swept(keys, keys)).sum::<usize>(), 7);
        assert_eq!(swept(200 * KEPT, 3), 1, "they have become quiet");
        assert_eq!(
            (0..2 * KEPT).map(|keys| swept(keys, keys)).sum::<usize>(),
            1,
            "and are looked for as before"
        );
    }

    #[test]
    fn each_key_has_a_burst_of_its_own() {
        let limiter = Limiter::new(Pace { burst: 3, period: Duration::from_secs(60) });
        assert!((0..3).all(|_| limiter.count(&"a").is_ok()));
        let wait = limiter.count(&"a").unwrap_err();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(limiter.count(&"b"), Ok(()));
    }
}
