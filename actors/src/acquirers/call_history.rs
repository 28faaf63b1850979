//! Calls of one route since its start: which were answered, which were lost, and whether the lost ones make it fail.

use std::time::Duration;

use quita_domain::time::Timestamp;
use tokio::time::Instant;

use crate::acquirers::call_outcome::CallOutcome;
use crate::acquirers::lost_beside::LostBeside;
use crate::acquirers::lost_run::LostRun;
use crate::acquirers::recent_calls::RecentCalls;
use crate::acquirers::route_view::RouteFailure;
use crate::limits::CAUSE_LENGTH;

/// Outcomes of a route's calls, as far as its health needs them.
#[derive(Debug, Default)]
pub(super) struct CallHistory {
    pub(super) directed_at: Option<Timestamp>,
    pub(super) last_failure: Option<RouteFailure>,
    pub(super) last_answer_at: Option<Timestamp>,
    pub(super) recent: RecentCalls,
    /// True if any call was answered since the start.
    pub(super) has_answered: bool,
    /// Charges and operations lost since the last answered one. They decide about new payments.
    pub(super) lost_charges: LostRun,
    /// Calls of any kind lost since the last answered one. They are for display.
    pub(super) lost_calls: LostRun,
    /// Inquiries lost beside answered charges. Only inquiries show payments that came in. They are for display.
    pub(super) lost_inquiries: LostBeside,
    /// Beginning of the failure that was already logged.
    pub(super) told_since: Option<Timestamp>,
}

impl CallHistory {
    /// Records the outcome of a call for display.
    pub(super) fn note(&mut self, outcome: CallOutcome, took: Duration, now: Timestamp, why: Option<&str>) {
        self.recent.add(outcome, took, Instant::now());
        self.lost_calls.note(outcome, now, why);
        match outcome {
            CallOutcome::Answered | CallOutcome::Refused => {
                self.last_answer_at = Some(now);
                self.has_answered = true;
            }
            CallOutcome::Throttled => {}
            CallOutcome::NotDelivered | CallOutcome::Unknown => {
                let what = why.unwrap_or_default().chars().take(CAUSE_LENGTH).collect();
                self.last_failure = Some(RouteFailure { at: now, what });
            }
        }
    }

    /// Returns the time at which the first of the lost calls ended, while the route counts as failing.
    pub(super) fn failing_since(&self, failures_to_open: u32, now: Timestamp) -> Option<Timestamp> {
        let by_calls = self.failing_since_calls(failures_to_open, now);
        by_calls.into_iter().chain(self.lost_inquiries.lasting_since()).min()
    }

    /// Returns the same, without the inquiries lost beside answered charges.
    pub(super) fn failing_since_calls(&self, failures_to_open: u32, now: Timestamp) -> Option<Timestamp> {
        let by_charges = self.lost_charges.since.filter(|_| self.charges_fail(failures_to_open, now));
        let by_calls = self.lost_calls.since.filter(|_| self.calls_fail(failures_to_open, now));
        by_charges.into_iter().chain(by_calls).min()
    }

    /// Returns the time at which the first of the lost charges or operations ended, while nothing shows that a new
    /// payment would be taken. Lost inquiries alone say nothing about new payments.
    pub(super) fn unable_since(&self, failures_to_open: u32, now: Timestamp) -> Option<Timestamp> {
        let fails = self.charges_fail(failures_to_open, now) || self.calls_fail(failures_to_open, now);
        self.lost_charges.since.filter(|_| fails)
    }

    /// Returns true if the lost calls of any kind suffice, because none was answered in between.
    fn calls_fail(&self, failures_to_open: u32, now: Timestamp) -> bool {
        let calls = &self.lost_calls;
        // A lost charge and the inquiries about it show an outage before a minute is over.
        let are_many =
            calls.count >= failures_to_open && self.lost_charges.count > 0 && calls.spans_seconds(now);
        calls.lasts(now) || are_many
    }

    /// Returns true if the lost charges suffice: `failures_to_open` lost charges or operations in a row do.
    fn charges_fail(&self, failures_to_open: u32, now: Timestamp) -> bool {
        let charges = &self.lost_charges;
        // Nothing shows that a route works if it has never answered.
        charges.count >= failures_to_open || charges.lasts(now) || (charges.count > 0 && !self.has_answered)
    }
}
