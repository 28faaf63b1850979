//! Changes of a charge.

use crate::acquiring::Decline;
use crate::routing::{Attempt, AttemptOutcome};
use crate::time::Timestamp;

/// One change of the last charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::payment) enum AttemptChange {
    /// Its outcome is unknown from now on: no earlier `NotFound` counts.
    Unknown {
        /// True if the call is known to be over.
        call_is_over: bool,
        /// Time of the next inquiry.
        inquire_at: Timestamp,
    },
    /// The acquirer took it and has not said yet what becomes of it. The next inquiry is at this time.
    Registering(Timestamp),
    /// The acquirer took it, and has no code to pay with.
    WithoutCode,
    /// The acquirer examines it for fraud.
    UnderReview,
    /// The acquirer refused it, although it may have it already: an inquiry decides.
    Refused(String),
    /// The acquirer does not have it, but may still receive it: the next inquiry is at this time or before.
    NotFound(Timestamp),
    /// An inquiry about it is made, and the next one at this time.
    InquiryScheduled(Timestamp),
    /// The last inquiry does not count. It is repeated at this time.
    InquiryPostponed(Timestamp),
    /// It leaves only now: the first inquiry is at this time if no answer comes.
    LeaseRenewed(Timestamp),
    /// The next inquiry is brought forward to this time.
    InquiryBroughtForward(Timestamp),
    /// It has this outcome.
    Ended(AttemptOutcome),
    /// The acquirer has somebody else's slip under its number.
    NumberTaken,
    /// The issuer declined it, and another acquirer is tried.
    DeclinedForNow(Decline),
}

impl AttemptChange {
    /// Returns true if the merchant can see it in the record.
    pub(super) const fn shows(&self) -> bool {
        match self {
            Self::Unknown { .. } | Self::Registering(_) => true,
            Self::Ended(_) | Self::DeclinedForNow(_) => true,
            Self::WithoutCode
            | Self::UnderReview
            | Self::Refused(_)
            | Self::NumberTaken
            | Self::NotFound(_)
            | Self::InquiryScheduled(_)
            | Self::InquiryPostponed(_)
            | Self::LeaseRenewed(_)
            | Self::InquiryBroughtForward(_) => false,
        }
    }
}

impl Attempt {
    /// Applies a change.
    pub(in crate::payment) fn apply(&mut self, change: AttemptChange) {
        match change {
            AttemptChange::Unknown { call_is_over, inquire_at } => {
                self.outcome = AttemptOutcome::Unknown;
                self.inquire_at = Some(inquire_at);
                self.call_is_over |= call_is_over;
                self.not_found = 0;
            }
            AttemptChange::Registering(inquire_at) => {
                self.outcome = AttemptOutcome::Registering;
                self.inquire_at = Some(inquire_at);
                (self.call_is_over, self.inquiries, self.not_found) = (true, 0, 0);
            }
            AttemptChange::WithoutCode => self.without_code = true,
            AttemptChange::UnderReview => self.under_review = true,
            AttemptChange::Refused(why) => self.refusal = Some(why),
            AttemptChange::NumberTaken => self.our_number = None,
            AttemptChange::NotFound(again_at) => {
                self.not_found = self.not_found.saturating_add(1);
                self.inquire_at = self.inquire_at.map(|scheduled| scheduled.min(again_at));
            }
            AttemptChange::InquiryScheduled(at) => {
                self.inquire_at = Some(at);
                self.inquiries = self.inquiries.saturating_add(1);
            }
            AttemptChange::InquiryPostponed(at) => {
                self.inquire_at = Some(at);
                self.inquiries = self.inquiries.saturating_sub(1);
            }
            AttemptChange::InquiryBroughtForward(at) | AttemptChange::LeaseRenewed(at) => {
                self.inquire_at = Some(at);
            }
            AttemptChange::Ended(outcome) => {
                self.outcome = outcome;
                self.inquire_at = None;
            }
            AttemptChange::DeclinedForNow(decline) => {
                (self.outcome, self.inquire_at) = (AttemptOutcome::Declined, None);
                self.decline = Some(decline);
            }
        }
    }
}
