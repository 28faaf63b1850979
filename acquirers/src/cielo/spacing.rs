//! Spacing of calls: those about one sale are five seconds apart in this process, and none leaves while Cielo wants
//! fewer.
//!
//! Cielo requires this (E-commerce API 3.0, cancellation: "wait 5 seconds between requests for the same sale"). A sale
//! has two names here, that of its order and its own; a call waits for both. The wait is part of the call: if it would
//! not end in time, it does not begin, and nothing is sent. Somebody waits for an operation, but nobody for an inquiry:
//! if both wait, the operation goes first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::acquiring::CallFailure;
use tokio::time::{Instant, sleep_until};

use crate::exchange::hold::Hold;

/// Reason why a call did not leave. It counts as a try, so that inquiries about one sale become ever less frequent.
const TOO_SOON: &str = "another call about the sale was too short a time ago";

/// Minimum time between two calls about one sale.
const GAP: Duration = Duration::from_secs(5);

/// Maximum number of remembered names; beyond it the oldest is dropped, whose time is almost over. It suffices for 5 s
/// at over 3,000 calls a second.
const MAX_NAMES: usize = 16_384;

/// Purposes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Does something.
    Act,
    /// Asks something.
    Ask,
}

/// Times of the last call about each sale, and holds.
#[derive(Default)]
pub(super) struct Spacing {
    calls: Mutex<Calls>,
    hold: Hold,
}

#[derive(Default)]
struct Calls {
    last: HashMap<String, Instant>,
    /// In the order in which the calls were made.
    made: VecDeque<(Instant, String)>,
    /// Number of operations that wait for each name.
    acts: HashMap<String, usize>,
}

impl Spacing {
    /// Waits until a call about the sale with these names may leave, and counts it.
    ///
    /// # Errors
    /// Fails if it could not leave before `deadline`, or Cielo wants fewer calls.
    pub(super) async fn turn(
        &self,
        names: &[&str],
        purpose: Purpose,
        deadline: Instant,
    ) -> Result<(), CallFailure> {
        let _waits = (purpose == Purpose::Act).then(|| ActWaits::new(self, names));
        while let Some(free_at) = self.take(names, purpose)? {
            if free_at >= deadline {
                return Err(CallFailure::NotDelivered(TOO_SOON.into()));
            }
            sleep_until(free_at).await;
        }
        Ok(())
    }

    /// Adds another name for the sale that was just called about.
    pub(super) fn also(&self, name: &str) {
        self.calls().note(name, Instant::now());
    }

    /// Holds back calls for this long, as Cielo requested.
    pub(super) fn hold(&self, after_ms: u64) {
        self.hold.put(after_ms);
    }

    /// Counts a call if it may leave now; otherwise returns the time at which it may.
    fn take(&self, names: &[&str], purpose: Purpose) -> Result<Option<Instant>, CallFailure> {
        self.hold.check()?;
        let now = Instant::now();
        let mut calls = self.calls();
        let last = names.iter().filter_map(|name| calls.last.get(*name)).max().copied();
        let free_at = last.and_then(|last| last.checked_add(GAP)).filter(|free_at| *free_at > now);
        let makes_way = purpose == Purpose::Ask && names.iter().any(|name| calls.acts.contains_key(*name));
        if free_at.is_none() && makes_way {
            // An operation is leaving at this moment.
            return Ok(now.checked_add(GAP));
        }
        if free_at.is_none() {
            // Checked and recorded under one lock, so that two calls about one sale can't both find it free.
            names.iter().for_each(|name| calls.note(name, now));
        }
        Ok(free_at)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that counts an operation as waiting for its turn until it is dropped.
struct ActWaits<'a> {
    spacing: &'a Spacing,
    names: &'a [&'a str],
}

impl<'a> ActWaits<'a> {
    fn new(spacing: &'a Spacing, names: &'a [&'a str]) -> Self {
        let mut calls = spacing.calls();
        for name in names {
            let waiting = calls.acts.entry((*name).to_owned()).or_default();
            *waiting = waiting.saturating_add(1);
        }
        drop(calls);
        Self { spacing, names }
    }
}

impl Drop for ActWaits<'_> {
    fn drop(&mut self) {
        let mut calls = self.spacing.calls();
        for name in self.names {
            let left = calls.acts.get(*name).map_or(0, |waiting| waiting.saturating_sub(1));
            if left == 0 {
                calls.acts.remove(*name);
            } else {
                calls.acts.insert((*name).to_owned(), left);
            }
        }
    }
}

impl Calls {
    fn note(&mut self, name: &str, now: Instant) {
        while let Some((at, _)) = self.made.front() {
            let is_over = now.saturating_duration_since(*at) >= GAP;
            if !is_over && self.made.len() < MAX_NAMES {
                break;
            }
            // If a later call about the same name has replaced the time, the name must not be removed with the older
            // entry.
            if let Some((at, name)) = self.made.pop_front()
                && self.last.get(&name) == Some(&at)
            {
                self.last.remove(&name);
            }
        }
        self.last.insert(name.to_owned(), now);
        self.made.push_back((now, name.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn calls_about_one_sale_are_five_seconds_apart_by_either_name() {
        let spacing = Spacing::default();
        let begun = Instant::now();
        spacing.turn(&["order"], Purpose::Act, within(20)).await.unwrap();
        spacing.also("sale");
        spacing.turn(&["another"], Purpose::Ask, within(20)).await.unwrap();
        assert_eq!(begun.elapsed(), Duration::ZERO);
        spacing.turn(&["sale"], Purpose::Ask, within(20)).await.unwrap();
        assert_eq!(begun.elapsed(), GAP);
        let both = [
            spacing.turn(&["sale", "order"], Purpose::Ask, within(20)),
            spacing.turn(&["sale"], Purpose::Ask, within(20)),
        ];
        let [first, second] = both;
        let (first, second) = tokio::join!(first, second);
        assert_eq!((first, second), (Ok(()), Ok(())));
        assert_eq!(begun.elapsed(), GAP * 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_beyond_the_time_out_is_not_begun() {
        let spacing = Spacing::default();
        spacing.turn(&["sale"], Purpose::Ask, within(20)).await.unwrap();
        let begun = Instant::now();
        assert_eq!(
            spacing.turn(&["sale"], Purpose::Ask, within(4)).await,
            Err(CallFailure::NotDelivered(TOO_SOON.into()))
        );
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_over_is_forgotten_and_the_rest_is_bounded() {
        let spacing = Spacing::default();
        for number in 0..MAX_NAMES * 2 {
            spacing.also(&number.to_string());
        }
        let sizes = |spacing: &Spacing| {
            let calls = spacing.calls();
            (calls.last.len(), calls.made.len())
        };
        assert_eq!(sizes(&spacing), (MAX_NAMES, MAX_NAMES));
        tokio::time::advance(GAP).await;
        spacing.also("last");
        assert_eq!(sizes(&spacing), (1, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_operation_goes_before_the_questions_that_wait_longer() {
        let spacing = Spacing::default();
        let begun = Instant::now();
        spacing.turn(&["sale"], Purpose::Act, within(20)).await.unwrap();
        let left_at = async |purpose, after_s| {
            tokio::time::sleep(Duration::from_secs(after_s)).await;
            spacing.turn(&["sale"], purpose, within(30)).await.unwrap();
            begun.elapsed()
        };
        let left = tokio::join!(left_at(Purpose::Ask, 0), left_at(Purpose::Ask, 1), left_at(Purpose::Act, 2));
        let questions = [left.0, left.1];
        let operation = left.2;
        assert_eq!(operation, GAP);
        assert!(questions.contains(&(GAP * 2)) && questions.contains(&(GAP * 3)), "{questions:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_operation_that_is_given_up_is_waited_for_no_longer() {
        let spacing = Spacing::default();
        let begun = Instant::now();
        spacing.turn(&["sale"], Purpose::Act, within(20)).await.unwrap();
        let given_up = spacing.turn(&["sale"], Purpose::Act, within(20));
        assert!(tokio::time::timeout(Duration::from_secs(1), given_up).await.is_err());
        spacing.turn(&["sale"], Purpose::Ask, within(20)).await.unwrap();
        assert_eq!(begun.elapsed(), GAP);
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_does_not_leave_once_cielo_wants_fewer_calls() {
        let spacing = Spacing::default();
        spacing.turn(&["sale"], Purpose::Act, within(20)).await.unwrap();
        let waits = spacing.turn(&["sale"], Purpose::Act, within(20));
        let throttles = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            spacing.hold(10_000);
            spacing.hold(1_000);
        };
        let (answer, ()) = tokio::join!(waits, throttles);
        assert_eq!(answer, Err(CallFailure::Throttled { after_ms: 6_000 }));
        tokio::time::sleep(Duration::from_secs(6)).await;
        spacing.turn(&["sale"], Purpose::Act, within(20)).await.unwrap();
    }
}
