//! Calls of the load that are in progress: their number, and the age of the oldest.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::measures::{Creation, millis};
use super::progress::seconds;

/// Age from which an unanswered call is reported, and from which a call without a good answer counts in the latencies.
pub(super) const LONG_WAIT: Duration = Duration::from_secs(1);

/// Calls that have no reply yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct CallsUnderWay {
    begun: u64,
    calls: BTreeMap<CallTicket, PendingCall>,
}

/// Key of a call among those in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallTicket {
    since: Instant,
    number: u64,
}

/// Call that has no reply yet.
#[derive(Debug, Clone, Copy)]
pub(super) enum PendingCall {
    /// Creation.
    Create(Creation),
    /// Read right after a creation.
    Read,
}

/// Calls that had no answer when the run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnansweredCalls {
    /// Number of creations.
    pub(super) creations: u64,
    /// Number of reads.
    pub(super) reads: u64,
    /// Age of the oldest call. A creation's age counts from its intended start.
    pub(super) oldest_ms: u64,
}

impl CallsUnderWay {
    /// Adds a call that has been due since this time.
    pub(super) fn begin(&mut self, call: PendingCall, since: Instant) -> CallTicket {
        self.begun += 1;
        // Several calls may be due at the same instant. The number keeps their keys distinct.
        let ticket = CallTicket { since, number: self.begun };
        self.calls.insert(ticket, call);
        ticket
    }

    /// Removes a call. Returns false if it is no longer there.
    pub(super) fn end(&mut self, ticket: CallTicket) -> bool {
        self.calls.remove(&ticket).is_some()
    }

    /// Returns the number of calls.
    pub(super) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Returns the age of the oldest call.
    pub(super) fn oldest(&self, now: Instant) -> Option<Duration> {
        self.calls.first_key_value().map(|(ticket, _)| now.saturating_duration_since(ticket.since))
    }

    /// Removes every call, and returns each with its age.
    pub(super) fn take_all(&mut self, now: Instant) -> Vec<(PendingCall, Duration)> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        calls.map(|(ticket, call)| (call, now.saturating_duration_since(ticket.since))).collect()
    }
}

impl UnansweredCalls {
    /// Summarises calls. `None` if none of them waited long.
    pub(super) fn of(calls: &[(PendingCall, Duration)]) -> Option<Self> {
        let oldest = calls.iter().map(|(_, age)| *age).max().filter(|age| *age >= LONG_WAIT)?;
        let of_kind = |wanted: fn(&PendingCall) -> bool| {
            u64::try_from(calls.iter().filter(|(call, _)| wanted(call)).count()).unwrap_or(u64::MAX)
        };
        Some(Self {
            creations: of_kind(|call| matches!(call, PendingCall::Create(_))),
            reads: of_kind(|call| matches!(call, PendingCall::Read)),
            oldest_ms: millis(oldest),
        })
    }
}

impl Display for UnansweredCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = [(self.creations, "creation"), (self.reads, "read")];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| {
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {name}{plural}")
        });
        let were = if self.creations + self.reads == 1 { "was" } else { "were" };
        let counted = counted.collect::<Vec<_>>().join(" and ");
        let oldest = seconds(self.oldest_ms);
        write!(f, "{counted} {were} under way without an answer, the oldest for {oldest}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Method;
    use super::*;

    const CREATE: PendingCall = PendingCall::Create(Creation { method: Method::Pix, stage: 0 });

    #[test]
    fn the_oldest_call_is_the_one_that_is_due_first() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut calls = CallsUnderWay::default();
        assert_eq!((calls.count(), calls.oldest(at(0))), (0, None));
        let later = calls.begin(CREATE, at(500));
        let first = calls.begin(PendingCall::Read, at(200));
        let same = calls.begin(CREATE, at(500));
        assert_eq!((calls.count(), calls.oldest(at(1_200))), (3, Some(Duration::from_secs(1))));
        assert!(calls.end(first) && !calls.end(first), "it ends once");
        assert_eq!(calls.oldest(at(1_500)), Some(Duration::from_secs(1)));
        assert!(calls.end(same) && calls.end(later));
        assert_eq!(calls.count(), 0);
    }

    #[test]
    fn calls_without_an_answer_are_summed_up_if_one_waited_for_long() {
        let waited = |ms| Duration::from_millis(ms);
        assert_eq!(UnansweredCalls::of(&[]), None);
        assert_eq!(UnansweredCalls::of(&[(CREATE, waited(999))]), None, "a healthy service has these too");
        let many = [(CREATE, waited(14_050)), (PendingCall::Read, waited(3)), (CREATE, waited(100))];
        for (calls, expected) in [
            (&many[..], "2 creations and 1 read were under way without an answer, the oldest for 14.0 s"),
            (&many[..1], "1 creation was under way without an answer, the oldest for 14.0 s"),
        ] {
            assert_eq!(UnansweredCalls::of(calls).unwrap().to_string(), expected);
        }
    }
}
