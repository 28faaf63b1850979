//! The rate limit of a key.

use std::time::Duration;

use super::errors::ApiError;
use quita_services::limiter::{Limiter, Pace};

/// Counter of the requests of each key. Bursts of one second's worth are allowed.
pub(crate) struct RateLimit(Option<Limiter<String>>);

impl RateLimit {
    /// Limits each key to so many requests a second. `None` and 0 mean no limit.
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        let pace = |burst: u32| Pace { burst, period: Duration::from_secs(1) / burst };
        Self(per_second.filter(|count| *count > 0).map(|count| Limiter::new(pace(count))))
    }

    /// Counts one request of this key, or refuses it.
    pub(crate) fn count(&self, key_id: &str) -> Result<(), ApiError> {
        let Some(limiter) = &self.0 else { return Ok(()) };
        limiter.count(&key_id.to_owned()).map_err(ApiError::too_many_requests)
    }
}
