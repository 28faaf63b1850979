//! Health of one route: written by its actor and by operators' directives, read by everyone.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::control::RouteDirective;
use quita_domain::routing::Condition;
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use crate::acquirers::call_outcome::CallOutcome;
use crate::acquirers::recent_calls::RecentCalls;
use crate::acquirers::route_view::{RouteFailure, RouteHealth, RouteState, RouteView};
use crate::limits::{CAUSE_LENGTH, Limits};

/// Encodes a directive as a number; 0 while none is known.
const fn code(directive: Option<RouteDirective>) -> u8 {
    match directive {
        None => 0,
        Some(RouteDirective::Open) => 1,
        Some(RouteDirective::Paused) => 2,
        Some(RouteDirective::Drained) => 3,
    }
}

fn of_code(number: u8) -> Option<RouteDirective> {
    RouteDirective::ALL.into_iter().find(|directive| code(Some(*directive)) == number)
}

/// Lost calls in a row that show a failing route where few calls are made, and the time over which they are.
const FEW_LOST: u32 = 3;
const FEW_LOST_FOR_MS: u64 = 60_000;

/// A change of a route's health, to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// So many calls in a row were lost that the route counts as failing.
    Fails {
        /// Number of lost calls.
        lost: u32,
    },
    /// A call was answered again.
    Answers {
        /// Time since the first of the lost calls.
        after_ms: u64,
    },
}

/// Health of a route.
#[derive(Debug)]
pub(crate) struct Health {
    /// Last directive, as a number.
    directive: AtomicU8,
    failures: AtomicU32,
    /// Time at which the first of these calls ended; 0 if there is none.
    failing_since_ms: AtomicI64,
    /// True if the log already says that it fails.
    is_told_to_fail: AtomicBool,
    /// True if any call was answered since the start.
    has_answered: AtomicBool,
    open_until_ms: AtomicI64,
    busy: AtomicBool,
    under_way: AtomicUsize,
    waiting: AtomicUsize,
    failures_to_open: u32,
    open_for_ms: u64,
    /// Locked once for each call.
    past: Mutex<Past>,
}

#[derive(Debug, Default)]
struct Past {
    directed_at: Option<Timestamp>,
    last_failure: Option<RouteFailure>,
    last_answer_at: Option<Timestamp>,
    recent: RecentCalls,
}

impl Health {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            directive: AtomicU8::new(code(None)),
            failures: AtomicU32::new(0),
            failing_since_ms: AtomicI64::new(0),
            is_told_to_fail: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
            open_until_ms: AtomicI64::new(0),
            busy: AtomicBool::new(false),
            under_way: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            failures_to_open: limits.breaker_failures,
            open_for_ms: u64::try_from(limits.breaker_open.as_millis()).unwrap_or(u64::MAX),
            past: Mutex::default(),
        }
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last directive; `None` until the store has answered.
    pub(crate) fn directive(&self) -> Option<RouteDirective> {
        of_code(self.directive.load(Ordering::Acquire))
    }

    /// Returns true if new payments are routed there.
    pub(crate) fn takes_new_payments(&self) -> bool {
        match self.directive() {
            Some(RouteDirective::Open) => true,
            None | Some(RouteDirective::Paused | RouteDirective::Drained) => false,
        }
    }

    /// Returns true if calls are sent there.
    pub(crate) fn sends(&self) -> bool {
        match self.directive() {
            Some(RouteDirective::Open | RouteDirective::Paused) => true,
            None | Some(RouteDirective::Drained) => false,
        }
    }

    /// Applies a directive. `at` is `None` if no operator ever gave one. Returns true if it differs from the one
    /// before.
    pub(crate) fn follow(&self, directive: RouteDirective, at: Option<Timestamp>) -> bool {
        self.past().directed_at = at;
        let before = self.directive.swap(code(Some(directive)), Ordering::AcqRel);
        directive != of_code(before).unwrap_or(RouteDirective::Open)
    }

    /// Records the end of a charge or an operation. `why` is the error if it brought no answer. Returns the change of
    /// health, if there is one.
    pub(crate) fn ended(
        &self,
        outcome: CallOutcome,
        took: Duration,
        now: Timestamp,
        why: Option<&str>,
    ) -> Option<Turn> {
        self.note(outcome, took, now, why);
        match outcome {
            CallOutcome::Answered | CallOutcome::Refused => self.was_answered(now),
            // Neither an answer nor a failure.
            CallOutcome::Throttled => None,
            CallOutcome::NotDelivered | CallOutcome::Unknown => self.was_lost(now),
        }
    }

    fn was_answered(&self, now: Timestamp) -> Option<Turn> {
        self.failures.store(0, Ordering::Relaxed);
        self.open_until_ms.store(0, Ordering::Relaxed);
        let since_ms = self.failing_since_ms.swap(0, Ordering::Relaxed);
        let after_ms = u64::try_from(now.millis().saturating_sub(since_ms)).unwrap_or_default();
        self.is_told_to_fail.swap(false, Ordering::Relaxed).then_some(Turn::Answers { after_ms })
    }

    fn was_lost(&self, now: Timestamp) -> Option<Turn> {
        let lost = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if lost == 1 {
            self.failing_since_ms.store(now.millis(), Ordering::Relaxed);
        }
        if lost >= self.failures_to_open {
            self.open_until_ms.store(now.plus_ms(self.open_for_ms).millis(), Ordering::Relaxed);
        }
        let is_news = self.is_failing(now) && !self.is_told_to_fail.swap(true, Ordering::Relaxed);
        is_news.then_some(Turn::Fails { lost })
    }

    /// Returns true if the last calls were lost and none has been answered since. This is for display.
    /// [`Self::condition`] decides where new payments go: it lets the route be tried again now and then, or a recovery
    /// would go unnoticed.
    fn is_failing(&self, now: Timestamp) -> bool {
        let lost = self.failures.load(Ordering::Relaxed);
        let since = Timestamp::from_millis(self.failing_since_ms.load(Ordering::Relaxed));
        // Of a route that never answered, nothing says that it works.
        lost >= self.failures_to_open
            || (lost >= FEW_LOST && now >= since.plus_ms(FEW_LOST_FOR_MS))
            || (lost > 0 && !self.has_answered.load(Ordering::Relaxed))
    }

    /// Returns the time at which the first of the lost calls ended, while the route counts as failing.
    pub(crate) fn failing_since(&self, now: Timestamp) -> Option<Timestamp> {
        let since = Timestamp::from_millis(self.failing_since_ms.load(Ordering::Relaxed));
        self.is_failing(now).then_some(since)
    }

    /// Records the end of an inquiry, which says nothing about new payments. After an outage of ours there are
    /// thousands of inquiries, and an acquirer may answer them while it can't charge.
    pub(crate) fn inquired(&self, outcome: CallOutcome, took: Duration, now: Timestamp, why: Option<&str>) {
        self.note(outcome, took, now, why);
    }

    /// Keeps what the views show of a call.
    fn note(&self, outcome: CallOutcome, took: Duration, now: Timestamp, why: Option<&str>) {
        let mut past = self.past();
        past.recent.add(outcome, took, Instant::now());
        match outcome {
            CallOutcome::Answered | CallOutcome::Refused => {
                past.last_answer_at = Some(now);
                self.has_answered.store(true, Ordering::Relaxed);
            }
            CallOutcome::Throttled => {}
            CallOutcome::NotDelivered | CallOutcome::Unknown => {
                let what = why.unwrap_or_default().chars().take(CAUSE_LENGTH).collect();
                past.last_failure = Some(RouteFailure { at: now, what });
            }
        }
    }

    /// Sets the number of calls under way and waiting, and whether the acquirer should get no more.
    pub(crate) fn set_load(&self, under_way: usize, waiting: usize, is_busy: bool) {
        self.under_way.store(under_way, Ordering::Release);
        self.waiting.store(waiting, Ordering::Relaxed);
        self.busy.store(is_busy, Ordering::Relaxed);
    }

    fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    fn is_open(&self, now: Timestamp) -> bool {
        self.open_until_ms.load(Ordering::Relaxed) > now.millis()
    }

    /// Returns its condition for a new payment, without regard to the provider's rate limits.
    pub(crate) fn condition(&self, now: Timestamp) -> Condition {
        if !self.takes_new_payments() {
            Condition::Paused
        } else if self.is_busy() {
            Condition::Busy
        } else if self.is_open(now) {
            Condition::Failing
        } else {
            Condition::Healthy
        }
    }

    /// Returns its state.
    pub(crate) fn state(&self, now: Timestamp) -> RouteState {
        match self.directive() {
            Some(RouteDirective::Paused) => RouteState::Paused,
            Some(RouteDirective::Drained) if self.under_way.load(Ordering::Acquire) > 0 => {
                RouteState::Draining
            }
            None | Some(RouteDirective::Drained) => RouteState::Drained,
            Some(RouteDirective::Open) if self.is_failing(now) => RouteState::Failing,
            Some(RouteDirective::Open) if self.has_answered.load(Ordering::Relaxed) => RouteState::Healthy,
            Some(RouteDirective::Open) => RouteState::NotCalled,
        }
    }

    /// Returns the view of this route for operators.
    pub(crate) fn view(&self, route: RouteHealth, now: Timestamp) -> RouteView {
        let RouteHealth { acquirer, method, mode, state, failing_since } = route;
        let until = self.is_open(now).then(|| self.open_until_ms.load(Ordering::Relaxed));
        let past = self.past();
        let (outcomes, median_ms, p99_ms) = past.recent.told(Instant::now());
        RouteView {
            acquirer,
            method,
            mode,
            state,
            directive: self.directive().unwrap_or(RouteDirective::Open),
            directed_at: past.directed_at,
            failures_in_a_row: self.failures.load(Ordering::Relaxed),
            failing_since,
            failing_until: until.map(Timestamp::from_millis),
            throttled_until: None,
            last_failure: past.last_failure.clone(),
            last_answer_at: past.last_answer_at,
            under_way: self.under_way.load(Ordering::Acquire),
            waiting: self.waiting.load(Ordering::Relaxed),
            outcomes,
            median_ms,
            p99_ms,
            approvals: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn health() -> Health {
        Health::new(&Limits { breaker_failures: 2, ..Limits::default() })
    }

    #[test]
    fn nothing_is_sent_until_the_directives_are_known() {
        let health = health();
        assert!(!health.sends() && !health.takes_new_payments());
        assert_eq!(
            health.state(NOW),
            RouteState::Drained,
            "a caller that asks whether payments are taken learns it"
        );
        for (directive, sends, takes) in [
            (RouteDirective::Open, true, true),
            (RouteDirective::Paused, true, false),
            (RouteDirective::Drained, false, false),
        ] {
            health.follow(directive, None);
            assert_eq!((health.directive(), health.sends()), (Some(directive), sends));
            assert_eq!(health.takes_new_payments(), takes);
        }
    }

    #[test]
    fn what_is_under_way_keeps_a_drained_route_draining() {
        let health = health();
        health.follow(RouteDirective::Drained, Some(NOW));
        health.set_load(1, 0, false);
        assert_eq!(health.state(NOW), RouteState::Draining);
        health.set_load(0, 0, false);
        assert_eq!(health.state(NOW), RouteState::Drained);
    }

    #[test]
    fn failures_in_a_row_make_it_fail_for_a_while_and_an_answer_mends_it() {
        let health = health();
        health.follow(RouteDirective::Open, None);
        health.ended(CallOutcome::Answered, Duration::ZERO, NOW, None);
        let fails = |why| health.ended(CallOutcome::Unknown, Duration::ZERO, NOW, Some(why));
        fails("502");
        assert_eq!(health.state(NOW), RouteState::Healthy);
        fails(&"x".repeat(10_000));
        assert_eq!(health.state(NOW), RouteState::Failing);
        let what = health.past().last_failure.as_ref().unwrap().what.len();
        assert_eq!(what, CAUSE_LENGTH);
        let (after_ten, after_an_hour) = (NOW.plus_ms(10_001), NOW.plus_ms(3_600_000));
        assert_eq!(health.condition(after_ten), Condition::Healthy, "it is tried again");
        assert_eq!(health.state(after_an_hour), RouteState::Failing, "and shown to fail until that works");
        assert_eq!(health.failing_since(after_an_hour), Some(NOW));
        health.ended(CallOutcome::Refused, Duration::ZERO, NOW, None);
        assert_eq!((health.state(NOW), health.past().last_answer_at), (RouteState::Healthy, Some(NOW)));
    }

    #[test]
    fn where_few_calls_are_made_three_lost_ones_over_a_minute_make_it_fail() {
        let health = Health::new(&Limits::default());
        health.follow(RouteDirective::Open, None);
        health.ended(CallOutcome::Answered, Duration::ZERO, NOW, None);
        let lost_at = |now| health.ended(CallOutcome::NotDelivered, Duration::ZERO, now, Some("connect"));
        for second in [0, 30, 59] {
            assert_eq!(lost_at(NOW.plus_ms(second * 1_000)), None);
        }
        assert_eq!(health.state(NOW.plus_ms(59_000)), RouteState::Healthy);
        assert_eq!(health.state(NOW.plus_ms(60_000)), RouteState::Failing);
    }

    #[test]
    fn one_that_never_answered_fails_with_the_first_lost_call() {
        let health = Health::new(&Limits::default());
        health.follow(RouteDirective::Open, None);
        assert_eq!(health.state(NOW), RouteState::NotCalled);
        let turn = health.ended(CallOutcome::NotDelivered, Duration::ZERO, NOW, Some("connect"));
        assert_eq!((turn, health.state(NOW)), (Some(Turn::Fails { lost: 1 }), RouteState::Failing));
        assert_eq!(health.condition(NOW), Condition::Healthy, "it is tried again in its turn");
    }

    #[test]
    fn one_that_nobody_called_is_neither_healthy_nor_failing() {
        let health = health();
        assert_eq!(health.state(NOW), RouteState::Drained, "its directive is not known");
        health.follow(RouteDirective::Open, None);
        health.ended(CallOutcome::Throttled, Duration::ZERO, NOW, None);
        assert_eq!(health.state(NOW), RouteState::NotCalled);
        assert!(health.state(NOW).takes_new_payments());
        health.ended(CallOutcome::Answered, Duration::ZERO, NOW, None);
        assert_eq!(health.state(NOW), RouteState::Healthy);
    }

    #[test]
    fn each_turn_is_told_once() {
        let health = health();
        let ended = |outcome, now| health.ended(outcome, Duration::ZERO, now, None);
        assert_eq!(ended(CallOutcome::Answered, NOW), None);
        let lost: Vec<_> = (0..5).map(|_| ended(CallOutcome::Unknown, NOW)).collect();
        assert_eq!(lost, [None, Some(Turn::Fails { lost: 2 }), None, None, None]);
        let later = NOW.plus_ms(90_000);
        assert_eq!(ended(CallOutcome::Throttled, later), None);
        assert_eq!(ended(CallOutcome::Answered, later), Some(Turn::Answers { after_ms: 90_000 }));
        assert_eq!(ended(CallOutcome::Answered, later), None);
    }

    #[test]
    fn inquiries_make_it_neither_fail_nor_well() {
        let health = health();
        health.follow(RouteDirective::Open, None);
        for _ in 0..100 {
            health.inquired(CallOutcome::Unknown, Duration::ZERO, NOW, Some("502"));
        }
        assert_eq!(health.state(NOW), RouteState::NotCalled);
        assert_eq!(health.past().last_failure.as_ref().unwrap().what, "502", "it is shown all the same");
        for _ in 0..2 {
            health.ended(CallOutcome::Unknown, Duration::ZERO, NOW, Some("502"));
        }
        health.inquired(CallOutcome::Answered, Duration::ZERO, NOW, None);
        assert_eq!(health.state(NOW), RouteState::Failing);
    }
}
