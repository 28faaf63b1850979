//! A hold on calls to a counterparty that requested fewer. It also stops calls that were already waiting to leave.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::acquiring::CallFailure;
use tokio::time::Instant;

/// Time until which a counterparty wants no calls. Shared by all its callers.
#[derive(Debug, Default)]
pub struct Hold(Mutex<Option<Instant>>);

impl Hold {
    /// Holds back calls for this long, as requested. A longer wait requested earlier remains in force.
    pub fn put(&self, after_ms: u64) {
        let until = Instant::now().checked_add(Duration::from_millis(after_ms));
        let mut held_until = self.held_until();
        // Answers of parallel calls arrive in any order, and a shorter wait must not end a longer hold.
        *held_until = (*held_until).max(until);
    }

    /// Checks that a call may leave now.
    ///
    /// # Errors
    /// [`CallFailure::Throttled`] with the remaining wait.
    pub fn check(&self) -> Result<(), CallFailure> {
        let until = *self.held_until();
        let left = until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default();
        if left.is_zero() {
            return Ok(());
        }
        // At least one millisecond: a remainder of microseconds must not look like no wait at all.
        Err(CallFailure::Throttled { after_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1) })
    }

    fn held_until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_longest_wait_that_was_asked_for_stands_until_it_is_over() {
        let hold = Hold::default();
        assert_eq!(hold.check(), Ok(()));
        hold.put(10_000);
        hold.put(1_000);
        tokio::time::advance(Duration::from_millis(4_000)).await;
        assert_eq!(hold.check(), Err(CallFailure::Throttled { after_ms: 6_000 }));
        tokio::time::advance(Duration::from_millis(6_000)).await;
        assert_eq!(hold.check(), Ok(()));
    }
}
