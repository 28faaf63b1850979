//! The rate limit of a key.

use std::time::Duration;

use super::errors::ApiError;
use quita_services::limiter::{Limiter, Pace};

/// Counter of the requests of each key. Bursts of one second's worth are allowed.
pub(crate) struct RateLimit(Option<PerSecond>);

/// Limit in force.
struct PerSecond {
    count: u32,
    limiter: Limiter<String>,
}

impl RateLimit {
    /// Limits each key to so many requests a second. `None` and 0 mean no limit.
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        let pace = |burst: u32| Pace { burst, period: Duration::from_secs(1) / burst };
        let limit = |count| PerSecond { count, limiter: Limiter::new(pace(count)) };
        Self(per_second.filter(|count| *count > 0).map(limit))
    }

    /// Counts one request of this key, or refuses it.
    pub(crate) fn count(&self, key_id: &str) -> Result<(), ApiError> {
        let Some(limit) = &self.0 else { return Ok(()) };
        let refuse = |retry_after_s| ApiError::too_many_requests(retry_after_s, limit.count);
        limit.limiter.count(&key_id.to_owned()).map_err(refuse)
    }
}
