//! Outcomes of calls to an acquirer.

use std::time::Duration;

use quita_domain::acquiring::{CallFailure, ChargeAnswer, Identified, OperationAnswer};

/// Outcome of a call that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Answered,
    Refused,
    NotDelivered,
    Unknown,
    Throttled,
}

impl CallOutcome {
    pub(crate) const ALL: [Self; 5] =
        [Self::Answered, Self::Refused, Self::NotDelivered, Self::Unknown, Self::Throttled];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::NotDelivered => "not_delivered",
            Self::Unknown => "unknown",
            Self::Throttled => "throttled",
        }
    }
}

/// End of a call, as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallEnd<'a> {
    pub(crate) outcome: CallOutcome,
    /// Error, if the call failed on the acquirer's side.
    pub(crate) failure: Option<&'a str>,
    /// Time for which the acquirer wants no calls.
    pub(crate) throttled: Option<Duration>,
}

impl CallEnd<'_> {
    const fn well(outcome: CallOutcome) -> Self {
        Self { outcome, failure: None, throttled: None }
    }
}

/// An answer of an acquirer, or the failure to get one.
pub(crate) trait Answered {
    /// Creates the answer for a call that failed in this way.
    fn failed(why: CallFailure) -> Self;

    /// Returns the end of the call.
    fn ended(&self) -> CallEnd<'_>;
}

/// Cause of a call that was held back.
const NOT_SENT: &str =
    "it was not sent: it waited too long for a token or its turn, or an operator holds calls back";

fn failed(failure: &CallFailure) -> CallEnd<'_> {
    let (outcome, failure, throttled) = match failure {
        CallFailure::NotDelivered(why) => (CallOutcome::NotDelivered, Some(why.as_str()), None),
        CallFailure::Unknown(why) => (CallOutcome::Unknown, Some(why.as_str()), None),
        // Without a failure the breaker does not count it: the acquirer works, but wants fewer calls.
        CallFailure::Throttled { after_ms } => {
            (CallOutcome::Throttled, None, Some(Duration::from_millis(*after_ms)))
        }
        CallFailure::Withheld => (CallOutcome::NotDelivered, Some(NOT_SENT), None),
    };
    CallEnd { outcome, failure, throttled }
}

impl Answered for ChargeAnswer {
    fn failed(why: CallFailure) -> Self {
        Self::Failed(why)
    }

    fn ended(&self) -> CallEnd<'_> {
        match self {
            Self::Known(_)
            | Self::Accepted(_)
            | Self::UnderReview(_)
            | Self::WithoutCode(_)
            | Self::NumberTaken(_)
            | Self::NotFound => CallEnd::well(CallOutcome::Answered),
            Self::Foreign(_) | Self::Mismatched(_) => CallEnd::well(CallOutcome::Unknown),
            Self::Refused(_) => CallEnd::well(CallOutcome::Refused),
            Self::Failed(failure) => failed(failure),
        }
    }
}

impl Answered for OperationAnswer {
    fn failed(why: CallFailure) -> Self {
        Self::Failed(why)
    }

    fn ended(&self) -> CallEnd<'_> {
        match self {
            Self::Done | Self::Accepted | Self::NotFound | Self::Contradicted(_) => {
                CallEnd::well(CallOutcome::Answered)
            }
            Self::Refused(_) | Self::RefusedPerhaps(_) => CallEnd::well(CallOutcome::Refused),
            Self::Failed(failure) => failed(failure),
        }
    }
}

impl Answered for Identified {
    fn failed(why: CallFailure) -> Self {
        Self::Failed(why)
    }

    fn ended(&self) -> CallEnd<'_> {
        match self {
            Self::Payment(_) | Self::NotFound | Self::Unknown => CallEnd::well(CallOutcome::Answered),
            Self::Failed(failure) => failed(failure),
        }
    }
}
