//! The rate limit of a key.

use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::errors::ApiError;

/// Requests after which keys that have not been used for a while are forgotten.
const KEYS_KEPT: usize = 10_000;

/// Counts the requests of each key. Bursts of one second's worth are allowed.
pub(crate) struct RateLimit {
    limiter: Option<DefaultKeyedRateLimiter<String>>,
}

impl RateLimit {
    /// So many requests a second for each key.
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        let quota = per_second.and_then(NonZeroU32::new).map(Quota::per_second);
        Self { limiter: quota.map(RateLimiter::keyed) }
    }

    /// Counts one request of this key, or refuses it.
    pub(crate) fn count(&self, key_id: &str) -> Result<(), ApiError> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        if limiter.len() > KEYS_KEPT {
            limiter.retain_recent();
        }
        limiter.check_key(&key_id.to_owned()).map_err(|refused| {
            let wait = refused.wait_time_from(DefaultClock::default().now());
            ApiError::too_many_requests(wait.as_secs().saturating_add(1))
        })
    }
}
