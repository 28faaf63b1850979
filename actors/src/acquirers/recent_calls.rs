//! The calls of the last minutes to one acquirer.

use std::time::Duration;

use tokio::time::Instant;

use crate::acquirers::call_outcome::CallOutcome;
use crate::acquirers::route_view::RouteOutcomes;
use crate::limits::MINUTES_OF_CALLS;
use crate::watch::metric::SECONDS;
use crate::watch::sample::Thousandths;
use crate::watch::tally::{Bounds, Tally};

const MINUTE: Duration = Duration::from_secs(60);

/// Counts calls by minute, for the last [`MINUTES_OF_CALLS`] minutes.
#[derive(Debug)]
pub(crate) struct RecentCalls {
    bounds: Bounds,
    since: Instant,
    minutes: [Minute; MINUTES_OF_CALLS],
}

#[derive(Debug, Clone, Default)]
struct Minute {
    /// Number of this minute since the start.
    number: u64,
    outcomes: [u64; CallOutcome::ALL.len()],
    /// Calls by duration. The last bucket is for those above every bound.
    took: Vec<u64>,
    longest_micros: u64,
}

impl Default for RecentCalls {
    fn default() -> Self {
        Self { bounds: Bounds::of_seconds(&SECONDS), since: Instant::now(), minutes: Default::default() }
    }
}

impl RecentCalls {
    fn number(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.since).as_secs() / MINUTE.as_secs()
    }

    /// Adds a call that ended.
    pub(crate) fn add(&mut self, outcome: CallOutcome, took: Duration, now: Instant) {
        let number = self.number(now);
        let place = number.checked_rem(self.minutes.len().try_into().unwrap_or(1)).unwrap_or(0);
        let Some(minute) = usize::try_from(place).ok().and_then(|place| self.minutes.get_mut(place)) else {
            return;
        };
        // A minute that was never used also has the number 0.
        if minute.number != number || minute.took.is_empty() {
            *minute =
                Minute { number, took: vec![0; self.bounds.len().saturating_add(1)], ..Minute::default() };
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        count(&mut minute.took, self.bounds.bucket(micros));
        minute.longest_micros = minute.longest_micros.max(micros);
        let place = CallOutcome::ALL.iter().position(|known| *known == outcome);
        count(&mut minute.outcomes, place.unwrap_or_default());
    }

    /// Returns the calls by outcome, and the median and 99th percentile of their duration. Neither exceeds the longest
    /// call, although the bucket that it is in may end far above it, or nowhere.
    pub(crate) fn told(&self, now: Instant) -> (RouteOutcomes, Option<Thousandths>, Option<Thousandths>) {
        let oldest =
            self.number(now).saturating_add(1).saturating_sub(MINUTES_OF_CALLS.try_into().unwrap_or(0));
        let mut outcomes = RouteOutcomes::default();
        let mut took = Tally::default();
        let mut longest = Thousandths::default();
        for minute in self.minutes.iter().filter(|minute| minute.number >= oldest) {
            let [answered, refused, not_delivered, unknown, throttled] = minute.outcomes;
            outcomes.answered = outcomes.answered.saturating_add(answered);
            outcomes.refused = outcomes.refused.saturating_add(refused);
            outcomes.not_delivered = outcomes.not_delivered.saturating_add(not_delivered);
            outcomes.unknown = outcomes.unknown.saturating_add(unknown);
            outcomes.throttled = outcomes.throttled.saturating_add(throttled);
            took.add(&Tally::of_buckets(minute.took.iter().copied()));
            longest = longest.max(Thousandths::new(minute.longest_micros));
        }
        let within = |per_mille| took.quantile_up_to(&self.bounds, per_mille, longest);
        (outcomes, within(500), within(990))
    }
}

fn count(places: &mut [u64], place: usize) {
    if let Some(place) = places.get_mut(place) {
        *place = place.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_time_is_told_that_is_longer_than_the_longest_call() {
        let told = |took: &[u64]| {
            let mut recent = RecentCalls::default();
            for took_ms in took {
                recent.add(CallOutcome::Unknown, Duration::from_millis(*took_ms), Instant::now());
            }
            let (_, median, p99) = recent.told(Instant::now());
            [median, p99].map(|time| time.unwrap().get() / 1_000)
        };
        assert_eq!(told(&[3_001]), [3_001, 3_001], "its bucket ends at 10 s");
        assert_eq!(told(&[40, 40, 3_001])[1], 3_001);
        assert_eq!(told(&[25_000]), [25_000, 25_000], "above all bounds");
        assert_eq!(
            told(&[3_000, 25_000]),
            [10_000, 25_000],
            "interpolated within the bucket of the shorter one"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn calls_of_the_last_five_minutes_are_counted() {
        let mut recent = RecentCalls::default();
        let begun = Instant::now();
        let told = |recent: &RecentCalls, minute: u32| recent.told(begun + MINUTE * minute);
        assert_eq!(told(&recent, 0), (RouteOutcomes::default(), None, None));
        for minute in 0..20 {
            let outcome = if minute % 2 == 0 { CallOutcome::Answered } else { CallOutcome::Unknown };
            recent.add(outcome, Duration::from_millis(40), begun + MINUTE * minute);
        }
        let (outcomes, median, p99) = told(&recent, 19);
        assert_eq!((outcomes.answered, outcomes.unknown, outcomes.refused), (2, 3, 0));
        assert!(median <= p99 && p99 == Some(Thousandths::new(40_000)), "{median:?} {p99:?}");
        assert_eq!(told(&recent, 23).0, RouteOutcomes { unknown: 1, ..RouteOutcomes::default() });
        assert_eq!(told(&recent, 24), (RouteOutcomes::default(), None, None));
    }
}
