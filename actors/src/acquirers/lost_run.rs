//! Runs of consecutive calls without an answer.

use quita_domain::time::Timestamp;

use crate::acquirers::call_outcome::CallOutcome;

/// Number of consecutive lost calls that show a failing route if few calls are made, and the time that they must span.
const FEW_LOST: u32 = 3;
const FEW_LOST_FOR_MS: u64 = 60_000;

/// Time that many lost calls must span: an outage of a few seconds is over before anybody can look.
const MANY_LOST_FOR_MS: u64 = 15_000;

/// Run of lost calls.
#[derive(Debug, Default)]
pub(crate) struct LostRun {
    /// Number of calls.
    pub(crate) count: u32,
    /// Time at which the first of them ended.
    pub(crate) since: Option<Timestamp>,
}

impl LostRun {
    /// Records the end of a call for display. `why` is the error if it brought no answer.
    pub(crate) fn note(&mut self, outcome: CallOutcome, now: Timestamp, why: Option<&str>) {
        match outcome {
            CallOutcome::Answered | CallOutcome::Refused => self.end(),
            CallOutcome::Throttled => {}
            // Without an error it was answered, but about something else than what was requested.
            CallOutcome::NotDelivered | CallOutcome::Unknown if why.is_none() => {}
            CallOutcome::NotDelivered | CallOutcome::Unknown => self.add(now),
        }
    }

    /// Adds a lost call that ended now.
    pub(crate) fn add(&mut self, now: Timestamp) {
        self.count = self.count.saturating_add(1);
        self.since.get_or_insert(now);
    }

    /// Ends the run: a call was answered.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Returns true if it is several calls, and none was answered for a minute.
    pub(crate) fn lasts(&self, now: Timestamp) -> bool {
        self.count >= FEW_LOST && self.since.is_some_and(|since| now >= since.plus_ms(FEW_LOST_FOR_MS))
    }

    /// Returns true if the run is no blip of a few seconds.
    pub(crate) fn spans_seconds(&self, now: Timestamp) -> bool {
        self.since.is_some_and(|since| now >= since.plus_ms(MANY_LOST_FOR_MS))
    }
}
