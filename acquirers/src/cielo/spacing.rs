//! Calls about one sale are five seconds apart, in this process.
//!
//! Cielo asks for it (E-commerce API 3.0, cancellation: "wait 5 seconds between requests for the same sale"). A sale has
//! two names here, that of its order and its own; a call waits for both. A wait is part of the call: one that would not
//! end in time is not begun, and nothing is sent.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use quita_domain::acquiring::CallFailure;
use tokio::time::{Instant, sleep_until};

/// Why a call did not leave. It counts as a try, so that questions about one sale come ever more seldom.
const TOO_SOON: &str = "another call about the sale was too short a time ago";

/// How far apart.
const GAP: Duration = Duration::from_secs(5);

/// Names that are remembered; beyond that the oldest is forgotten, which is the one that is nearly over. 5 s at over
/// 3,000 calls a second.
const MAX_NAMES: usize = 16_384;

/// When each sale was called about last.
#[derive(Default)]
pub(super) struct Spacing(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    last: HashMap<String, Instant>,
    /// In the order in which they were made.
    made: VecDeque<(Instant, String)>,
}

impl Spacing {
    /// Waits until a call about what has these names may leave, and counts it.
    ///
    /// # Errors
    /// When it could not leave before `deadline`.
    pub(super) async fn turn(&self, names: &[&str], deadline: Instant) -> Result<(), CallFailure> {
        while let Some(free_at) = self.take(names) {
            if free_at >= deadline {
                return Err(CallFailure::NotDelivered(TOO_SOON.into()));
            }
            sleep_until(free_at).await;
        }
        Ok(())
    }

    /// What was just called about has this name too.
    pub(super) fn also(&self, name: &str) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.note(name, Instant::now());
    }

    /// Counts a call now if it may leave now; else when it may.
    fn take(&self, names: &[&str]) -> Option<Instant> {
        let now = Instant::now();
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = names.iter().filter_map(|name| calls.last.get(*name)).max();
        let free_at = last.and_then(|last| last.checked_add(GAP)).filter(|free_at| *free_at > now);
        if free_at.is_none() {
            names.iter().for_each(|name| calls.note(name, now));
        }
        free_at
    }
}

impl Calls {
    fn note(&mut self, name: &str, now: Instant) {
        while let Some((at, _)) = self.made.front() {
            let is_over = now.saturating_duration_since(*at) >= GAP;
            if !is_over && self.made.len() < MAX_NAMES {
                break;
            }
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
        let (spacing, begun) = (Spacing::default(), Instant::now());
        spacing.turn(&["order"], within(20)).await.unwrap();
        spacing.also("sale");
        spacing.turn(&["another"], within(20)).await.unwrap();
        assert_eq!(begun.elapsed(), Duration::ZERO);
        spacing.turn(&["sale"], within(20)).await.unwrap();
        assert_eq!(begun.elapsed(), GAP);
        let both = [spacing.turn(&["sale", "order"], within(20)), spacing.turn(&["sale"], within(20))];
        let [first, second] = both;
        let (first, second) = tokio::join!(first, second);
        assert_eq!((first, second), (Ok(()), Ok(())));
        assert_eq!(begun.elapsed(), GAP * 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_beyond_the_time_out_is_not_begun() {
        let spacing = Spacing::default();
        spacing.turn(&["sale"], within(20)).await.unwrap();
        let begun = Instant::now();
        assert_eq!(spacing.turn(&["sale"], within(4)).await, Err(CallFailure::NotDelivered(TOO_SOON.into())));
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_over_is_forgotten_and_the_rest_is_bounded() {
        let spacing = Spacing::default();
        for number in 0..MAX_NAMES * 2 {
            spacing.also(&number.to_string());
        }
        let sizes = |spacing: &Spacing| {
            let calls = spacing.0.lock().unwrap();
            (calls.last.len(), calls.made.len())
        };
        assert_eq!(sizes(&spacing), (MAX_NAMES, MAX_NAMES));
        tokio::time::advance(GAP).await;
        spacing.also("last");
        assert_eq!(sizes(&spacing), (1, 1));
    }
}
