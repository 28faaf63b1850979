//! Pace of the queries after the load: they are the load tester's own, so they respect the key's rate limit.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, MutexGuard};

/// Pause after a refusal that does not state one.
const PAUSE: Duration = Duration::from_secs(1);

/// Pace of the queries: concurrent until the rate limit refuses one, then one at a time.
#[derive(Debug, Default)]
pub(super) struct CheckPace {
    turn: Mutex<()>,
    is_slow: Cell<bool>,
    deadline: Cell<Option<Instant>>,
}

impl CheckPace {
    /// Sets the time until which refused queries are repeated.
    pub(super) fn end_at(&self, deadline: Instant) {
        self.deadline.set(Some(deadline));
    }

    /// Waits for the turn of a query, once they are sent one at a time.
    pub(super) async fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        if self.is_slow.get() { Some(self.turn.lock().await) } else { None }
    }

    /// Waits after a refusal. Returns false if no time is left to repeat the query.
    pub(super) async fn pause(&self, retry_after: Option<Duration>) -> bool {
        self.is_slow.set(true);
        let next = Instant::now() + retry_after.unwrap_or(PAUSE);
        if self.deadline.get().is_none_or(|deadline| next > deadline) {
            return false;
        }
        tokio::time::sleep_until(next.into()).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[actix_web::test]
    async fn questions_come_one_after_the_other_once_one_was_refused() {
        let pace = CheckPace::default();
        pace.end_at(Instant::now() + Duration::from_secs(60));
        let both = (pace.turn().await, pace.turn().await);
        assert!(both.0.is_none() && both.1.is_none());
        assert!(pace.pause(Some(Duration::ZERO)).await);
        let first = pace.turn().await;
        assert!(first.is_some() && pace.turn().now_or_never().is_none());
        drop(first);
        assert!(pace.turn().now_or_never().flatten().is_some());
    }

    #[actix_web::test]
    async fn a_pause_beyond_the_patience_is_not_taken() {
        let pace = CheckPace::default();
        assert!(!pace.pause(None).await, "there is no patience");
        pace.end_at(Instant::now() + Duration::from_secs(5));
        assert!(!pace.pause(Some(Duration::from_secs(10))).await);
        assert!(pace.pause(Some(Duration::ZERO)).await);
    }
}
