//! How one route is: written by its actor and by operators' orders, read by everybody.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::control::RouteOrder;
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use crate::limits::{CAUSE_LENGTH, Limits};
use crate::outcome::Outcome;
use crate::recent_calls::RecentCalls;
use crate::route_view::{RouteFailure, RouteState, RouteView};
use crate::routing::Route;

/// What was ordered, as it holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The store has not told yet: nothing is sent.
    NotKnown,
    /// The order.
    Ordered(RouteOrder),
}

impl Standing {
    const fn code(self) -> u8 {
        match self {
            Self::NotKnown => 0,
            Self::Ordered(RouteOrder::Open) => 1,
            Self::Ordered(RouteOrder::Paused) => 2,
            Self::Ordered(RouteOrder::Drained) => 3,
        }
    }

    fn of_code(code: u8) -> Self {
        let ordered = RouteOrder::ALL.map(Self::Ordered);
        ordered.into_iter().find(|standing| standing.code() == code).unwrap_or(Self::NotKnown)
    }

    /// Whether new payments are routed there.
    pub(crate) const fn takes_new_payments(self) -> bool {
        match self {
            Self::Ordered(RouteOrder::Open) => true,
            Self::NotKnown | Self::Ordered(RouteOrder::Paused | RouteOrder::Drained) => false,
        }
    }

    /// Whether anything is sent there.
    pub(crate) const fn sends(self) -> bool {
        match self {
            Self::Ordered(RouteOrder::Open | RouteOrder::Paused) => true,
            Self::NotKnown | Self::Ordered(RouteOrder::Drained) => false,
        }
    }
}

/// What is known of a route's health.
#[derive(Debug)]
pub(crate) struct Health {
    standing: AtomicU8,
    failures: AtomicU32,
    open_until_ms: AtomicI64,
    busy: AtomicBool,
    under_way: AtomicUsize,
    waiting: AtomicUsize,
    failures_to_open: u32,
    open_for_ms: u64,
    /// Taken once for each call.
    past: Mutex<Past>,
}

#[derive(Debug, Default)]
struct Past {
    ordered_at: Option<Timestamp>,
    last_failure: Option<RouteFailure>,
    last_answer_at: Option<Timestamp>,
    recent: RecentCalls,
}

impl Health {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            standing: AtomicU8::new(Standing::NotKnown.code()),
            failures: AtomicU32::new(0),
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

    /// What was ordered.
    pub(crate) fn order(&self) -> Standing {
        Standing::of_code(self.standing.load(Ordering::Acquire))
    }

    /// An operator ordered this; at no time if nobody ever did. Says whether that is news.
    pub(crate) fn follow(&self, order: RouteOrder, at: Option<Timestamp>) -> bool {
        self.past().ordered_at = at;
        let before = self.standing.swap(Standing::Ordered(order).code(), Ordering::AcqRel);
        match Standing::of_code(before) {
            Standing::NotKnown => order != RouteOrder::Open,
            Standing::Ordered(before) => order != before,
        }
    }

    /// A call ended so, after this time. `why` says what went wrong if it brought no answer.
    pub(crate) fn ended(&self, outcome: Outcome, took: Duration, now: Timestamp, why: Option<&str>) {
        let mut past = self.past();
        past.recent.add(outcome, took, Instant::now());
        match outcome {
            Outcome::Answered | Outcome::Refused => {
                past.last_answer_at = Some(now);
                self.failures.store(0, Ordering::Relaxed);
                self.open_until_ms.store(0, Ordering::Relaxed);
            }
            Outcome::NotDelivered | Outcome::Unknown => {
                let what = why.unwrap_or_default().chars().take(CAUSE_LENGTH).collect();
                past.last_failure = Some(RouteFailure { at: now, what });
                let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                if failures >= self.failures_to_open {
                    self.open_until_ms.store(now.plus_ms(self.open_for_ms).millis(), Ordering::Relaxed);
                }
            }
        }
    }

    /// So many calls are under way, and so many wait: more than it should be given, or not.
    pub(crate) fn set_load(&self, under_way: usize, waiting: usize, is_busy: bool) {
        self.under_way.store(under_way, Ordering::Release);
        self.waiting.store(waiting, Ordering::Relaxed);
        self.busy.store(is_busy, Ordering::Relaxed);
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        self.open_until_ms.load(Ordering::Relaxed) > now.millis()
    }

    /// How it is, in a word.
    pub(crate) fn state(&self, now: Timestamp) -> RouteState {
        match self.order() {
            Standing::Ordered(RouteOrder::Paused) => RouteState::Paused,
            Standing::Ordered(RouteOrder::Drained) if self.under_way.load(Ordering::Acquire) > 0 => {
                RouteState::Draining
            }
            Standing::NotKnown | Standing::Ordered(RouteOrder::Drained) => RouteState::Drained,
            Standing::Ordered(RouteOrder::Open) if self.is_open(now) => RouteState::Failing,
            Standing::Ordered(RouteOrder::Open) => RouteState::Healthy,
        }
    }

    /// Everything there is to be told of it.
    pub(crate) fn view(&self, route: &Route, now: Timestamp) -> RouteView {
        let order = match self.order() {
            Standing::NotKnown => RouteOrder::Open,
            Standing::Ordered(order) => order,
        };
        let until = self.is_open(now).then(|| self.open_until_ms.load(Ordering::Relaxed));
        let past = self.past();
        let (outcomes, median_ms, p99_ms) = past.recent.told(Instant::now());
        RouteView {
            acquirer: route.spec().name.clone(),
            method: route.method,
            mode: route.spec().mode,
            state: self.state(now),
            order,
            ordered_at: past.ordered_at,
            failures_in_a_row: self.failures.load(Ordering::Relaxed),
            failing_until: until.map(Timestamp::from_millis),
            last_failure: past.last_failure.clone(),
            last_answer_at: past.last_answer_at,
            under_way: self.under_way.load(Ordering::Acquire),
            waiting: self.waiting.load(Ordering::Relaxed),
            outcomes,
            median_ms,
            p99_ms,
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
    fn nothing_is_sent_until_the_orders_are_known() {
        let health = health();
        assert!(!health.order().sends() && !health.order().takes_new_payments());
        assert_eq!(health.state(NOW), RouteState::Drained, "whoever asks whether payments are taken is told");
        for (order, sends, takes) in [
            (RouteOrder::Open, true, true),
            (RouteOrder::Paused, true, false),
            (RouteOrder::Drained, false, false),
        ] {
            health.follow(order, None);
            let standing = health.order();
            assert_eq!((standing, standing.sends()), (Standing::Ordered(order), sends));
            assert_eq!(standing.takes_new_payments(), takes);
        }
    }

    #[test]
    fn what_is_under_way_keeps_a_drained_route_draining() {
        let health = health();
        health.follow(RouteOrder::Drained, Some(NOW));
        health.set_load(1, 0, false);
        assert_eq!(health.state(NOW), RouteState::Draining);
        health.set_load(0, 0, false);
        assert_eq!(health.state(NOW), RouteState::Drained);
    }

    #[test]
    fn failures_in_a_row_make_it_fail_for_a_while_and_an_answer_mends_it() {
        let health = health();
        health.follow(RouteOrder::Open, None);
        let fails = |why| health.ended(Outcome::Unknown, Duration::ZERO, NOW, Some(why));
        fails("502");
        assert_eq!(health.state(NOW), RouteState::Healthy);
        fails(&"x".repeat(10_000));
        assert_eq!(health.state(NOW), RouteState::Failing);
        let what = health.past().last_failure.as_ref().unwrap().what.len();
        assert_eq!((what, health.state(NOW.plus_ms(10_001))), (CAUSE_LENGTH, RouteState::Healthy));
        health.ended(Outcome::Refused, Duration::ZERO, NOW, None);
        assert_eq!((health.state(NOW), health.past().last_answer_at), (RouteState::Healthy, Some(NOW)));
    }
}
