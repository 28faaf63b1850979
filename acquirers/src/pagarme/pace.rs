//! Reads within the limits that Pagar.me sets by the minute (docs.pagar.me, "Limites": 200 of orders and charges, 700
//! of payables). Reads beyond the limits wait for their turn; nothing is refused here.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::acquiring::CallFailure;
use quita_ports::call_time;
use tokio::time::{Instant, sleep_until};

use crate::exchange::hold::Hold;

const MINUTE: Duration = Duration::from_secs(60);

/// Reads of orders and charges in a minute, a tenth below the limit: clocks differ, and others may read too.
const ORDERS: usize = 180;

/// Reads of payables in a minute, likewise below the limit.
const PAYABLES: usize = 600;

/// Reason why a read did not leave.
const TOO_MANY: &str = "too many reads wait for their turn";

/// Resource that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    Orders,
    Payables,
}

/// Reads of the last minute in this process, and the time until which Pagar.me wants no calls.
#[derive(Default)]
pub(super) struct Pace {
    orders: Mutex<VecDeque<Instant>>,
    payables: Mutex<VecDeque<Instant>>,
    pub(super) hold: Hold,
}

impl Pace {
    /// Waits until one more read may leave, and counts it. The caller limits the wait.
    ///
    /// # Errors
    /// Fails if the turn did not come in time.
    pub(super) async fn turn(&self, resource: Resource) -> Result<(), CallFailure> {
        // Checked again after each wait, because others that waited for the same moment may have taken the room.
        while let Some(free_at) = self.take(resource) {
            let waited = call_time::waiting(sleep_until(free_at)).await;
            waited.map_err(|_| CallFailure::NotDelivered(TOO_MANY.to_owned()))?;
        }
        Ok(())
    }

    /// Counts a read if it may leave now; otherwise returns the time at which it may.
    fn take(&self, resource: Resource) -> Option<Instant> {
        let (mut made, most) = match resource {
            Resource::Orders => (lock(&self.orders), ORDERS),
            Resource::Payables => (lock(&self.payables), PAYABLES),
        };
        let now = Instant::now();
        while made.front().is_some_and(|first| now.duration_since(*first) >= MINUTE) {
            made.pop_front();
        }
        if made.len() >= most {
            return made.front().and_then(|first| first.checked_add(MINUTE));
        }
        made.push_back(now);
        None
    }
}

fn lock(made: &Mutex<VecDeque<Instant>>) -> MutexGuard<'_, VecDeque<Instant>> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_would_be_too_many_in_a_minute_waits_for_its_turn() {
        let pace = Pace::default();
        let begun = Instant::now();
        for _ in 0..ORDERS {
            pace.turn(Resource::Orders).await.unwrap();
        }
        pace.turn(Resource::Payables).await.unwrap();
        assert_eq!(begun.elapsed(), Duration::ZERO);
        pace.turn(Resource::Orders).await.unwrap();
        assert_eq!(begun.elapsed(), MINUTE);
    }
}
