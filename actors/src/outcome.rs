//! How a call to an acquirer ended.

use quita_domain::acquiring::{CallFailure, ChargeAnswer, OperationAnswer};

/// How a call that was sent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered,
    Refused,
    NotDelivered,
    Unknown,
}

impl Outcome {
    pub(crate) const ALL: [Self; 4] = [Self::Answered, Self::Refused, Self::NotDelivered, Self::Unknown];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::NotDelivered => "not_delivered",
            Self::Unknown => "unknown",
        }
    }
}

/// An answer that tells how its call ended.
pub(crate) trait Ended {
    /// How, and why if it brought no answer.
    fn ended(&self) -> (Outcome, Option<&str>);
}

impl Ended for CallFailure {
    fn ended(&self) -> (Outcome, Option<&str>) {
        match self {
            Self::NotDelivered(why) => (Outcome::NotDelivered, Some(why)),
            Self::Unknown(why) => (Outcome::Unknown, Some(why)),
            Self::Withheld => (Outcome::NotDelivered, Some("withheld")),
        }
    }
}

impl Ended for ChargeAnswer {
    fn ended(&self) -> (Outcome, Option<&str>) {
        match self {
            Self::Known(_) | Self::NotFound => (Outcome::Answered, None),
            Self::Failed(failure) => failure.ended(),
        }
    }
}

impl Ended for OperationAnswer {
    fn ended(&self) -> (Outcome, Option<&str>) {
        match self {
            Self::Done => (Outcome::Answered, None),
            Self::Refused(_) => (Outcome::Refused, None),
            Self::Failed(failure) => failure.ended(),
        }
    }
}
