//! Changes of a charge.

use crate::acquiring::Decline;
use crate::outbound_call::CallChange;
use crate::routing::{Attempt, ChargeEnd};

/// One change of the last charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::payment) enum AttemptChange {
    /// Its call changes.
    Call(CallChange),
    /// The acquirer took it, and has no code to pay with.
    WithoutCode,
    /// The acquirer examines it for fraud.
    UnderReview,
    /// Its call ends in this way.
    Ended(ChargeEnd),
    /// The acquirer has somebody else's slip under its number.
    NumberTaken,
    /// The issuer declined it, and another acquirer is tried.
    DeclinedForNow(Decline),
}

impl AttemptChange {
    /// Returns true if the merchant can see it in the record.
    pub(super) const fn shows(&self) -> bool {
        match self {
            Self::Call(change) => change.shows(),
            Self::Ended(_) | Self::DeclinedForNow(_) => true,
            Self::WithoutCode | Self::UnderReview | Self::NumberTaken => false,
        }
    }
}

impl Attempt {
    /// Applies a change.
    pub(in crate::payment) fn apply(&mut self, change: AttemptChange) {
        match change {
            AttemptChange::Call(change) => self.call.apply(change),
            AttemptChange::WithoutCode => self.without_code = true,
            AttemptChange::UnderReview => self.under_review = true,
            AttemptChange::NumberTaken => self.our_number = None,
            AttemptChange::Ended(end) => self.end(end),
            AttemptChange::DeclinedForNow(decline) => {
                self.end(ChargeEnd::Declined);
                self.decline = Some(decline);
            }
        }
    }

    fn end(&mut self, end: ChargeEnd) {
        let refusal = self.call.refusal.take();
        self.call.end(end, refusal);
    }
}
