//! Rate limit of one acquirer, as its provider sets it, across all methods and threads.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_ports::AcquirerSpec;
use tokio::time::{Instant, sleep_until};

use super::call_queue::INQUIRY_SHARE;

/// Longest pause that an acquirer can impose by asking for fewer calls.
const LONGEST_THROTTLE: Duration = Duration::from_secs(300);

/// Turns for the calls to one acquirer, granted in the order of requests.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Time between two calls; zero if there is no limit.
    gap: Duration,
    turns: Mutex<Turns>,
    /// Held by the next inquiry: inquiries wait for their turns one after the other.
    inquiries: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Turns {
    /// Time at which the next call may leave, if any left before.
    next: Option<Instant>,
    /// End of the time in which the acquirer wants no calls.
    throttled_until: Option<Instant>,
    /// Time from which an inquiry may take a turn that a charge or an operation could have.
    inquiry_due: Option<Instant>,
}

impl Pace {
    pub(crate) fn of(spec: &AcquirerSpec) -> Self {
        let gap = spec.rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.get());
        Self { gap, turns: Mutex::default(), inquiries: tokio::sync::Mutex::default() }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops calls for this long, as the acquirer asked.
    pub(crate) fn throttle(&self, wait: Duration) {
        let until = Instant::now() + wait.min(LONGEST_THROTTLE);
        let mut turns = self.turns();
        // Answers to concurrent calls come in any order, and a shorter wait must not cut a longer one short.
        turns.throttled_until = turns.throttled_until.max(Some(until));
    }

    /// Returns the remaining time in which the acquirer wants no calls, if any.
    pub(crate) fn throttled_for(&self) -> Option<Duration> {
        let left = self.turns().throttled_until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Returns how long a new call would wait for those before it at the permitted rate.
    pub(crate) fn backlog(&self) -> Duration {
        self.turns().next.map_or(Duration::ZERO, |next| next.saturating_duration_since(Instant::now()))
    }

    /// Takes the next turn and returns its time, if that is no later than `latest`. Otherwise takes nothing and returns
    /// how long the call would have to wait.
    pub(crate) fn take_turn(&self, latest: Instant) -> Result<Instant, Duration> {
        let now = Instant::now();
        let mut turns = self.turns();
        let at = turns.first(now);
        if at > latest {
            return Err(at.saturating_duration_since(now));
        }
        turns.next = (!self.gap.is_zero()).then(|| at + self.gap);
        Ok(at)
    }

    /// Does the same for an inquiry. It gets turns that no other call wants, and a share of the others.
    pub(crate) async fn take_inquiry_turn(&self, latest: Instant) -> Result<Instant, Duration> {
        let came = Instant::now();
        let waits = || latest.saturating_duration_since(came) + self.gap;
        let Ok(_line) = tokio::time::timeout_at(latest, self.inquiries.lock()).await else {
            return Err(waits());
        };
        loop {
            match self.try_inquiry_turn(latest)? {
                InquiryTurn::At(at) => return Ok(at),
                InquiryTurn::NotBefore(at) if at > latest => return Err(waits()),
                InquiryTurn::NotBefore(at) => sleep_until(at).await,
            }
        }
    }

    fn try_inquiry_turn(&self, latest: Instant) -> Result<InquiryTurn, Duration> {
        let now = Instant::now();
        let mut turns = self.turns();
        let at = turns.first(now);
        let due = turns.inquiry_due.unwrap_or(now);
        if turns.next.is_some_and(|next| next > now) && due > now {
            return Ok(InquiryTurn::NotBefore(at.min(due)));
        }
        if at > latest {
            return Err(at.saturating_duration_since(now));
        }
        if !self.gap.is_zero() {
            turns.next = Some(at + self.gap);
            turns.inquiry_due = Some(now + self.gap.saturating_mul(INQUIRY_SHARE));
        }
        Ok(InquiryTurn::At(at))
    }
}

impl Turns {
    /// Returns the time at which the next call may leave.
    fn first(&self, now: Instant) -> Instant {
        [self.next, self.throttled_until].into_iter().flatten().fold(now, Instant::max)
    }
}

/// Turn of the next inquiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InquiryTurn {
    /// It leaves at this time.
    At(Instant),
    /// Other calls want every turn before this time.
    NotBefore(Instant),
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use quita_domain::identity::{AcquirerName, Mode};
    use quita_domain::money::Money;
    use quita_domain::routing::DueDates;

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
            max_expiry_s: None,
            due_dates: DueDates::ALL,
            hint_gap_ms: 2_000,
        })
    }

    #[tokio::test(start_paused = true)]
    async fn calls_leave_at_the_rate_and_who_cannot_wait_takes_no_turn() {
        let pace = pace(Some(10));
        let now = Instant::now();
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
    async fn inquiries_take_the_turns_that_are_left_and_a_quarter_of_those_that_others_want() {
        let pace = std::sync::Arc::new(pace(Some(10)));
        let now = Instant::now();
        let far = now + Duration::from_secs(60);
        let alone = pace.take_inquiry_turn(far).await;
        assert_eq!(alone, Ok(now), "nobody else is there");
        for place in 1..=20 {
            let turn = pace.take_turn(far).unwrap();
            assert_eq!(
                turn,
                now + Duration::from_millis(place * 100),
                "the line is as long as charges make it"
            );
        }
        let mut inquiries = Vec::new();
        for _ in 0..3 {
            inquiries.push(pace.take_inquiry_turn(far).await.unwrap().duration_since(now).as_millis());
        }
        assert_eq!(inquiries, [2_100, 2_200, 2_300]);
        assert_eq!(now.elapsed(), Duration::from_millis(1_200), "one for each four turns that went by");
        let urgent = pace.take_turn(far).unwrap().duration_since(now).as_millis();
        assert_eq!(urgent, 2_400);
    }

    #[tokio::test(start_paused = true)]
    async fn an_inquiry_that_gets_no_turn_in_time_took_none() {
        let pace = pace(Some(1));
        let now = Instant::now();
        let far = now + Duration::from_secs(60);
        for _ in 0..30 {
            pace.take_turn(far).unwrap();
        }
        pace.turns().inquiry_due = Some(far);
        assert!(pace.take_inquiry_turn(now + Duration::from_secs(5)).await.is_err());
        assert_eq!(pace.take_turn(far), Ok(now + Duration::from_secs(30)), "nothing was taken");
    }

    #[tokio::test(start_paused = true)]
    async fn an_acquirer_that_wants_fewer_calls_gets_none_for_five_minutes_at_most() {
        let pace = pace(None);
        let now = Instant::now();
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
