//! Troubles of a run that its report lists: absences, freezes, a store out of reach, and pauses of the load tester.

use std::fmt::{self, Display};

use quita_domain::time::Timestamp;
use serde::{Serialize, Serializer};

use super::progress::seconds;
use super::reply::NoAnswer;

/// Times in which calls were in progress but nothing was answered. The service then answered as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Freezes {
    /// Number of such times.
    pub(super) count: u64,
    /// Start of the longest one, from the start of the run.
    pub(super) from_ms: u64,
    /// Length of the longest one.
    pub(super) length_ms: u64,
}

/// Times in which the load tester itself stood still, so that it saw no answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnPauses {
    /// Number of such times.
    pub(super) count: u64,
    /// Their total length.
    pub(super) total_ms: u64,
    /// End of the last one, from the start of the run.
    pub(super) last_until_ms: u64,
}

/// Answers of the service reporting that its store was out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoreRefusals {
    /// Number of such answers.
    pub(super) count: u64,
    /// Number of creations among them.
    pub(super) creations: u64,
    /// Start of the first call with this answer, from the start of the run.
    pub(super) from_ms: u64,
    /// Time of the last such answer, from the start of the run.
    pub(super) until_ms: u64,
}

/// Time in which the service did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Absence {
    /// Start, from the start of the run.
    pub(super) from_ms: u64,
    /// End, from the start of the run; absent if the service did not answer again.
    pub(super) until_ms: Option<u64>,
    /// Start in wall-clock time.
    #[serde(serialize_with = "as_text")]
    pub(super) since: Timestamp,
    /// Reason why a call had no answer.
    #[serde(serialize_with = "as_words")]
    pub(super) cause: NoAnswer,
    /// True if the absence began after the load, so that it cost no payment.
    pub(super) is_after_load: bool,
    /// True if the service's metrics say that its store was away.
    pub(super) is_store_away: bool,
}

impl Display for StoreRefusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count;
        let from = seconds(self.from_ms);
        let until = seconds(self.until_ms);
        let requests = if count == 1 { "request was" } else { "requests were" };
        write!(
            f,
            "the service's store was unavailable: {count} {requests} refused because of it, from {from} to {until} of \
             the run"
        )
    }
}

impl Display for OwnPauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = seconds(self.total_ms);
        let until = seconds(self.last_until_ms);
        let times = if self.count == 1 { String::new() } else { format!(" in {} pauses", self.count) };
        write!(
            f,
            "the load tester itself was paused for {total}{times}, until {until} of the run: what it measured then \
             does not reflect the service"
        )
    }
}

impl Display for Freezes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = seconds(self.length_ms);
        let from = seconds(self.from_ms);
        write!(f, "a freeze: nothing was answered for {length}, from {from} of the run on")?;
        match self.count {
            0 | 1 => Ok(()),
            count => write!(f, ", the longest of {count} such times"),
        }
    }
}

impl Absence {
    /// Records that the store was away at that time, according to the metrics. This may explain the absence.
    pub(super) fn explain_by_store(&mut self, read_at_ms: u64) {
        // If nobody listens, the store is not the cause.
        let lasted = self.until_ms.is_none_or(|until| until >= read_at_ms);
        self.is_store_away = lasted && !self.cause.is_certain();
    }
}

impl Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = seconds(self.from_ms);
        let since = self.since;
        let cause = self.cause.as_str();
        if self.is_after_load {
            f.write_str("after the load ")?;
        }
        match self.until_ms {
            None => write!(f, "the service did not answer from {from} of the run on, until its end")?,
            Some(until) => {
                write!(f, "the service did not answer from {from} to {} of the run", seconds(until))?;
            }
        }
        let store = if self.is_store_away { "; its store was unavailable" } else { "" };
        write!(f, " ({since}; {cause}{store})")
    }
}

fn as_text<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}

fn as_words<S: Serializer>(cause: &NoAnswer, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(cause.as_str())
}
