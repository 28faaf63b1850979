//! Health of one route: written by its actor and by operators' directives, and read everywhere.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::control::RouteDirective;
use quita_domain::routing::Condition;
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use crate::acquirers::call_history::CallHistory;
use crate::acquirers::call_outcome::CallOutcome;
use crate::acquirers::health_change::{Consequence, HealthChange};
use crate::acquirers::method_outages::Ability;
use crate::acquirers::route_view::{RouteHealth, RouteState, RouteView};
use crate::limits::Limits;

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

/// Health of a route.
#[derive(Debug)]
pub(crate) struct Health {
    /// Last directive, as a number.
    directive: AtomicU8,
    open_until_ms: AtomicI64,
    busy: AtomicBool,
    under_way: AtomicUsize,
    waiting: AtomicUsize,
    failures_to_open: u32,
    open_for_ms: u64,
    /// Locked for each call, and each time that the state is read.
    past: Mutex<CallHistory>,
}

impl Health {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            directive: AtomicU8::new(code(None)),
            open_until_ms: AtomicI64::new(0),
            busy: AtomicBool::new(false),
            under_way: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            failures_to_open: limits.breaker_failures,
            open_for_ms: u64::try_from(limits.breaker_open.as_millis()).unwrap_or(u64::MAX),
            past: Mutex::default(),
        }
    }

    fn past(&self) -> MutexGuard<'_, CallHistory> {
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
        // A node that starts need not report the routes that are open.
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
    ) -> Option<HealthChange> {
        let mut past = self.past();
        let was_away = past.lost_charges.count > 0 || past.lost_calls.lasts(now);
        past.note(outcome, took, now, why);
        match outcome {
            CallOutcome::Answered | CallOutcome::Refused => {
                past.lost_inquiries.charge_answered(was_away);
                past.lost_charges.end();
                // One answered charge shows that the route works.
                self.open_until_ms.store(0, Ordering::Relaxed);
            }
            // Neither an answer nor a failure.
            CallOutcome::Throttled => {}
            CallOutcome::NotDelivered | CallOutcome::Unknown => {
                past.lost_charges.add(now);
                // Each further loss restarts the time for which the breaker is open.
                if past.lost_charges.count >= self.failures_to_open {
                    let until = now.plus_ms(self.open_for_ms);
                    self.open_until_ms.store(until.millis(), Ordering::Relaxed);
                }
            }
        }
        self.judge(&mut past, now)
    }

    /// Records the end of an inquiry, which has no bearing on new payments. After an outage of ours there are thousands
    /// of inquiries, and an acquirer may answer them while it can't charge. Returns the change of health, if there is
    /// one.
    pub(crate) fn inquired(
        &self,
        outcome: CallOutcome,
        took: Duration,
        now: Timestamp,
        why: Option<&str>,
    ) -> Option<HealthChange> {
        let mut past = self.past();
        past.note(outcome, took, now, why);
        past.lost_inquiries.note(outcome, now, why);
        self.judge(&mut past, now)
    }

    /// Returns the change of health since the last call, with the error of the last lost call. A route may begin to
    /// fail merely because time passes.
    pub(crate) fn look(&self, now: Timestamp) -> Option<(HealthChange, Option<String>)> {
        let mut past = self.past();
        let change = self.judge(&mut past, now)?;
        Some((change, past.last_failure.as_ref().map(|failure| failure.what.clone())))
    }

    /// Compares the health with what was logged. Returns each change once.
    fn judge(&self, past: &mut CallHistory, now: Timestamp) -> Option<HealthChange> {
        match (past.failing_since(self.failures_to_open, now), past.told_since) {
            (Some(since), None) => {
                past.told_since = Some(since);
                let by_calls = past.lost_calls.count.max(past.lost_charges.count);
                let lost = by_calls.max(past.lost_inquiries.count());
                let consequence = if past.failing_since_calls(self.failures_to_open, now).is_none() {
                    Consequence::PaymentsUnnoticed
                } else if self.is_open(now) {
                    Consequence::TriedLast
                } else {
                    Consequence::TriedInTurn
                };
                Some(HealthChange::Fails { lost, consequence })
            }
            (None, Some(since)) => {
                past.told_since = None;
                Some(HealthChange::Answers { after_ms: now.ms_since(since) })
            }
            (Some(_), Some(_)) | (None, None) => None,
        }
    }

    /// Returns the time at which the first of the lost calls ended, while the route counts as failing. This is for
    /// display. [`Self::condition`] decides where new payments go: it occasionally allows the route to be tried again,
    /// so that a recovery is noticed.
    pub(crate) fn failing_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.past().failing_since(self.failures_to_open, now)
    }

    /// Returns the error of the last lost call, while the route counts as failing.
    pub(crate) fn failing_with(&self, now: Timestamp) -> Option<String> {
        let past = self.past();
        past.failing_since(self.failures_to_open, now)?;
        past.last_failure.as_ref().map(|failure| failure.what.clone())
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

    /// Returns its ability to take new payments.
    pub(crate) fn ability(&self, now: Timestamp) -> Ability {
        let past = self.past();
        if !self.takes_new_payments() {
            return Ability::Closed { since: past.directed_at };
        }
        match past.unable_since(self.failures_to_open, now) {
            Some(since) => Ability::Failing { since },
            None => Ability::Able,
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
            Some(RouteDirective::Open) if self.failing_since(now).is_some() => RouteState::Failing,
            Some(RouteDirective::Open) if self.past().has_answered => RouteState::Healthy,
            Some(RouteDirective::Open) => RouteState::NotCalled,
        }
    }

    /// Returns the view of this route for operators.
    pub(crate) fn view(&self, route: RouteHealth, now: Timestamp) -> RouteView {
        let RouteHealth { acquirer, method, mode, state, failing_since, error: _ } = route;
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
            failures_in_a_row: past.lost_calls.count,
            charges_lost_in_a_row: past.lost_charges.count,
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
    use crate::limits::CAUSE_LENGTH;

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
        let after_ten = NOW.plus_ms(10_001);
        let after_an_hour = NOW.plus_ms(3_600_000);
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
        let change = health.ended(CallOutcome::NotDelivered, Duration::ZERO, NOW, Some("connect"));
        let first = HealthChange::Fails { lost: 1, consequence: Consequence::TriedInTurn };
        assert_eq!((change, health.state(NOW)), (Some(first), RouteState::Failing));
        assert_eq!(health.failing_with(NOW).as_deref(), Some("connect"));
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
        let ended = |outcome, now| health.ended(outcome, Duration::ZERO, now, Some("502"));
        assert_eq!(ended(CallOutcome::Answered, NOW), None);
        let lost: Vec<_> = (0..5).map(|_| ended(CallOutcome::Unknown, NOW)).collect();
        assert_eq!(
            lost,
            [
                None,
                Some(HealthChange::Fails { lost: 2, consequence: Consequence::TriedLast }),
                None,
                None,
                None
            ]
        );
        let later = NOW.plus_ms(90_000);
        assert_eq!(ended(CallOutcome::Throttled, later), None);
        assert_eq!(ended(CallOutcome::Answered, later), Some(HealthChange::Answers { after_ms: 90_000 }));
        assert_eq!(ended(CallOutcome::Answered, later), None);
    }

    #[test]
    fn the_turn_by_the_passing_of_time_is_told_at_the_next_look_and_so_is_its_end() {
        let health = Health::new(&Limits::default());
        health.follow(RouteDirective::Open, None);
        health.ended(CallOutcome::Answered, Duration::ZERO, NOW, None);
        for _ in 0..3 {
            assert_eq!(health.ended(CallOutcome::Unknown, Duration::ZERO, NOW, Some("500")), None);
        }
        assert_eq!(health.look(NOW.plus_ms(59_999)), None);
        let fails = HealthChange::Fails { lost: 3, consequence: Consequence::TriedInTurn };
        let a_minute_later = NOW.plus_ms(60_000);
        assert_eq!(health.look(a_minute_later), Some((fails, Some("500".into()))));
        assert_eq!(health.look(a_minute_later), None, "once");
        let answers = HealthChange::Answers { after_ms: 75_000 };
        let at = NOW.plus_ms(75_000);
        assert_eq!(health.ended(CallOutcome::Answered, Duration::ZERO, at, None), Some(answers));
        assert_eq!(health.look(at), None);
    }

    #[test]
    fn inquiries_that_stay_unanswered_for_a_minute_make_it_fail_without_a_say_in_routing() {
        let health = health();
        health.follow(RouteDirective::Open, None);
        let inquired = |outcome, seconds: u64, why| {
            health.inquired(outcome, Duration::ZERO, NOW.plus_ms(seconds * 1_000), why)
        };
        inquired(CallOutcome::Answered, 0, None);
        let lost_at = |seconds| inquired(CallOutcome::Unknown, seconds, Some("500"));
        assert_eq!([1, 2, 30, 60].map(lost_at), [None; 4]);
        assert_eq!(health.state(NOW.plus_ms(60_000)), RouteState::Healthy);
        let now = NOW.plus_ms(61_000);
        assert_eq!(lost_at(61), Some(HealthChange::Fails { lost: 5, consequence: Consequence::TriedInTurn }));
        assert_eq!(health.state(now), RouteState::Failing);
        assert_eq!(health.failing_since(now), Some(NOW.plus_ms(1_000)));
        assert_eq!(health.condition(now), Condition::Healthy, "it is tried in its turn");
        let lost = health.past().lost_calls.count;
        assert_eq!((lost, health.past().lost_charges.count), (5, 0));
        let answers = HealthChange::Answers { after_ms: 61_000 };
        assert_eq!(inquired(CallOutcome::Answered, 62, None), Some(answers));
        assert_eq!(health.state(NOW.plus_ms(62_000)), RouteState::Healthy);
    }

    #[test]
    fn an_answered_charge_prevents_and_ends_failing_whatever_inquiries_were_lost() {
        let health = Health::new(&Limits::default());
        health.follow(RouteDirective::Open, None);
        let at = |second: u64| NOW.plus_ms(second * 1_000);
        health.ended(CallOutcome::Answered, Duration::ZERO, NOW, None);
        health.ended(CallOutcome::Unknown, Duration::ZERO, at(1), Some("500"));
        for second in 2..=48 {
            health.inquired(CallOutcome::Unknown, Duration::ZERO, at(second), Some("500"));
        }
        assert_eq!(health.state(at(48)), RouteState::Failing, "neither charges nor inquiries are answered");
        let answers = HealthChange::Answers { after_ms: 48_000 };
        assert_eq!(health.ended(CallOutcome::Answered, Duration::ZERO, at(49), None), Some(answers));
        // One that waited for its answer since before.
        health.inquired(CallOutcome::Unknown, Duration::ZERO, at(63), Some("timeout"));
        assert_eq!((health.state(at(63)), health.look(at(300))), (RouteState::Healthy, None));
        for second in 301..=400 {
            health.inquired(CallOutcome::Unknown, Duration::ZERO, at(second), Some("500"));
        }
        assert_eq!(health.state(at(400)), RouteState::Failing, "without any charge");
        health.ended(CallOutcome::Refused, Duration::ZERO, at(401), None);
        assert_eq!(health.state(at(401)), RouteState::Healthy, "at once");
    }

    #[test]
    fn inquiries_that_all_fail_show_beside_charges_that_all_succeed() {
        let health = health();
        health.follow(RouteDirective::Open, None);
        for second in 0..=70 {
            let now = NOW.plus_ms(second * 1_000);
            health.ended(CallOutcome::Answered, Duration::ZERO, now, None);
            health.inquired(CallOutcome::Unknown, Duration::ZERO, now, Some("403"));
        }
        let now = NOW.plus_ms(70_000);
        assert_eq!(health.state(now), RouteState::Failing);
        assert_eq!(health.condition(now), Condition::Healthy, "charges go there as before");
        assert_eq!(health.ability(now), Ability::Able);
        health.inquired(CallOutcome::Answered, Duration::ZERO, now, None);
        assert_eq!(health.state(now), RouteState::Healthy);
    }

    #[test]
    fn a_route_is_unable_once_its_charges_are_lost_and_not_by_lost_inquiries_alone() {
        let health = health();
        assert_eq!(health.ability(NOW), Ability::Closed { since: None }, "its directive is not known");
        health.follow(RouteDirective::Open, None);
        let end = |outcome, second: u64| {
            health.ended(outcome, Duration::ZERO, NOW.plus_ms(second * 1_000), Some("500"))
        };
        end(CallOutcome::Answered, 0);
        for second in 1..=61 {
            let now = NOW.plus_ms(second * 1_000);
            health.inquired(CallOutcome::Unknown, Duration::ZERO, now, Some("500"));
        }
        let now = NOW.plus_ms(61_000);
        assert_eq!((health.state(now), health.ability(now)), (RouteState::Failing, Ability::Able));
        end(CallOutcome::Unknown, 62);
        let unable = Ability::Failing { since: NOW.plus_ms(62_000) };
        assert_eq!(health.ability(NOW.plus_ms(62_000)), unable, "no call of any kind is answered");
        end(CallOutcome::Refused, 63);
        assert_eq!(health.ability(NOW.plus_ms(63_000)), Ability::Able);
        end(CallOutcome::NotDelivered, 64);
        assert_eq!(health.ability(NOW.plus_ms(64_000)), Ability::Able, "one may be lost");
        end(CallOutcome::NotDelivered, 65);
        let unable = Ability::Failing { since: NOW.plus_ms(64_000) };
        assert_eq!(health.ability(NOW.plus_ms(3_600_000)), unable, "until a call works");
        health.follow(RouteDirective::Paused, Some(NOW));
        assert_eq!(health.ability(NOW.plus_ms(65_000)), Ability::Closed { since: Some(NOW) });
    }

    #[test]
    fn two_lost_charges_and_the_inquiries_about_them_are_one_run_of_lost_calls() {
        let health = Health::new(&Limits::default());
        health.follow(RouteDirective::Open, None);
        health.ended(CallOutcome::Answered, Duration::ZERO, NOW, None);
        for _ in 0..2 {
            health.ended(CallOutcome::Unknown, Duration::ZERO, NOW, Some("500"));
        }
        health.inquired(CallOutcome::Unknown, Duration::ZERO, NOW.plus_ms(1_000), Some("500"));
        assert_eq!(health.state(NOW.plus_ms(59_999)), RouteState::Healthy);
        assert_eq!(health.state(NOW.plus_ms(60_000)), RouteState::Failing);
    }

    #[test]
    fn one_answered_inquiry_a_minute_keeps_it_healthy() {
        let health = Health::new(&Limits::default());
        health.follow(RouteDirective::Open, None);
        for second in 0..600 {
            let (outcome, why) = match second % 50 {
                0 => (CallOutcome::Answered, None),
                _ => (CallOutcome::NotDelivered, Some("connect")),
            };
            let now = NOW.plus_ms(second * 1_000);
            assert_eq!(health.inquired(outcome, Duration::ZERO, now, why), None);
        }
    }

    #[test]
    fn an_answer_about_something_else_is_no_lost_call() {
        let health = Health::new(&Limits::default());
        health.follow(RouteDirective::Open, None);
        for minute in 0..10 {
            let now = NOW.plus_ms(minute * 60_000);
            assert_eq!(health.inquired(CallOutcome::Unknown, Duration::ZERO, now, None), None);
        }
    }

    #[test]
    fn inquiries_make_it_neither_fail_at_once_nor_well() {
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
