//! How often something may be done, for each key of some kind. Counted on this node, and forgotten when it ends.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Keys after which those that were quiet for a while are forgotten.
const KEPT: usize = 10_000;

/// How fast: a burst of at least one, and one more after each period.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) burst: u32,
    pub(crate) period: Duration,
}

/// Limits each key.
pub(crate) struct Limiter<K: Clone + Eq + Hash>(DefaultKeyedRateLimiter<K>);

impl<K: Clone + Eq + Hash> Limiter<K> {
    pub(crate) fn new(pace: Pace) -> Self {
        let burst = NonZeroU32::new(pace.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(pace.period)
            .map_or_else(|| Quota::per_second(burst), |quota| quota.allow_burst(burst));
        Self(RateLimiter::keyed(quota))
    }

    /// Counts one, or tells after how many seconds there is one more.
    pub(crate) fn count(&self, key: &K) -> Result<(), u64> {
        if self.0.len() > KEPT {
            self.0.retain_recent();
        }
        let clock = DefaultClock::default();
        self.0
            .check_key(key)
            .map_err(|refused| refused.wait_time_from(clock.now()).as_secs().saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_burst_of_its_own() {
        let limiter = Limiter::new(Pace { burst: 3, period: Duration::from_secs(60) });
        assert!((0..3).all(|_| limiter.count(&"a").is_ok()));
        let wait = limiter.count(&"a").unwrap_err();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(limiter.count(&"b"), Ok(()));
    }
}
