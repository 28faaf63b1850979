//! What may change in a charge.

use crate::acquiring::Decline;
use crate::routing::{Attempt, AttemptOutcome};
use crate::time::Timestamp;

/// One change of the last charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::payment) enum AttemptChange {
    /// Its outcome is unknown from now on: no earlier `NotFound` tells anything of it.
    Unknown {
        /// Whether the call is known to be over.
        call_is_over: bool,
        /// When it is asked for.
        inquire_at: Timestamp,
    },
    /// The acquirer took it and does not say yet what becomes of it. It is asked for at this time.
    Registering(Timestamp),
    /// The acquirer took it, and has no code to pay with.
    WithoutCode,
    /// The acquirer refused it, although it may have taken it before: an inquiry decides.
    Refused(String),
    /// The acquirer does not know it, which need not mean that it never will: it is asked again by this time.
    NotFound(Timestamp),
    /// The acquirer is asked what became of it, and again at this time.
    InquiryScheduled(Timestamp),
    /// The last inquiry does not count. It is made again at this time.
    InquiryPostponed(Timestamp),
    /// It leaves only now: it is asked for at this time if no answer comes.
    LeaseRenewed(Timestamp),
    /// The next inquiry is made at this time already.
    InquiryBroughtForward(Timestamp),
    /// It has this outcome.
    Ended(AttemptOutcome),
    /// The issuer declined it, and another acquirer is tried.
    DeclinedForNow(Decline),
}

impl AttemptChange {
    /// Whether the merchant can see it in the record.
    pub(super) const fn shows(&self) -> bool {
        match self {
            Self::Unknown { .. } | Self::Registering(_) => true,
            Self::Ended(_) | Self::DeclinedForNow(_) => true,
            Self::WithoutCode
            | Self::Refused(_)
            | Self::NotFound(_)
            | Self::InquiryScheduled(_)
            | Self::InquiryPostponed(_)
            | Self::LeaseRenewed(_)
            | Self::InquiryBroughtForward(_) => false,
        }
    }
}

impl Attempt {
    /// Makes a change.
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
            AttemptChange::Refused(why) => self.refusal = Some(why),
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
