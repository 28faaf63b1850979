//! How fast one acquirer may be called: what its provider allows, over all methods and threads.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_ports::AcquirerSpec;
use tokio::time::Instant;

/// The longest that an acquirer which wants fewer calls is believed.
const LONGEST_THROTTLE: Duration = Duration::from_secs(300);

/// Turns for the calls of one acquirer, in the order in which they are asked for.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Between two calls; none if there is no limit.
    gap: Duration,
    turns: Mutex<Turns>,
}

#[derive(Debug, Default)]
struct Turns {
    /// When the next call may leave, if any left before.
    next: Option<Instant>,
    /// Until when the acquirer wants none.
    throttled_until: Option<Instant>,
}

impl Pace {
    pub(crate) fn of(spec: &AcquirerSpec) -> Self {
        let gap = spec.rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.get());
        Self { gap, turns: Mutex::default() }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The acquirer wants no calls for this long.
    pub(crate) fn throttle(&self, wait: Duration) {
        let until = Instant::now() + wait.min(LONGEST_THROTTLE);
        let mut turns = self.turns();
        turns.throttled_until = turns.throttled_until.max(Some(until));
    }

    /// How long it wants none from now on, if it does.
    pub(crate) fn throttled_for(&self) -> Option<Duration> {
        let left = self.turns().throttled_until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// How long a call would have to wait for those before it at the rate that is allowed.
    pub(crate) fn backlog(&self) -> Duration {
        self.turns().next.map_or(Duration::ZERO, |next| next.saturating_duration_since(Instant::now()))
    }

    /// When a call may leave that wants to leave now and can wait until then; its turn is taken. Else how long it would
    /// have to wait: nothing is taken.
    pub(crate) fn take_turn(&self, latest: Instant) -> Result<Instant, Duration> {
        let (now, mut turns) = (Instant::now(), self.turns());
        let at = [turns.next, turns.throttled_until].into_iter().flatten().fold(now, Instant::max);
        if at > latest {
            return Err(at.saturating_duration_since(now));
        }
        turns.next = (!self.gap.is_zero()).then(|| at + self.gap);
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use quita_domain::identity::{AcquirerName, Mode};
    use quita_domain::money::Money;

    use super::*;

    fn pace(rate: Option<u32>) -> Pace {
        Pace::of(&AcquirerSpec {
            name: AcquirerName::new("bank"),
            mode: Mode::Test,
            methods: Vec::new(),
            priority: 1,
            weight: 1,
            min_amount: Money::ZERO,
            max_amount: Money::MAX,
            concurrency: 1,
            time_out_ms: 1_000,
            rate: rate.and_then(NonZeroU32::new),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn calls_leave_at_the_rate_and_who_cannot_wait_takes_no_turn() {
        let (pace, now) = (pace(Some(10)), Instant::now());
        let latest = now + Duration::from_millis(250);
        let turns: Vec<_> = (0..5).map(|_| pace.take_turn(latest)).collect();
        let at = |ms| Ok(now + Duration::from_millis(ms));
        let waits = Err(Duration::from_millis(300));
        assert_eq!(turns, [at(0), at(100), at(200), waits, waits]);
        assert_eq!(pace.backlog(), Duration::from_millis(300));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(pace.take_turn(Instant::now()), Ok(Instant::now()), "what was not used is not saved up");
    }

    #[tokio::test(start_paused = true)]
    async fn an_acquirer_that_wants_fewer_calls_gets_none_for_five_minutes_at_most() {
        let (pace, now) = (pace(None), Instant::now());
        assert_eq!((pace.take_turn(now), pace.throttled_for()), (Ok(now), None));
        pace.throttle(Duration::from_secs(2));
        pace.throttle(Duration::from_secs(1));
        assert_eq!(pace.take_turn(now), Err(Duration::from_secs(2)));
        assert_eq!(pace.take_turn(now + Duration::from_secs(2)), Ok(now + Duration::from_secs(2)));
        pace.throttle(Duration::from_secs(86_400));
        assert_eq!(pace.throttled_for(), Some(LONGEST_THROTTLE));
        tokio::time::sleep(LONGEST_THROTTLE).await;
        assert_eq!(pace.throttled_for(), None);
    }
}
