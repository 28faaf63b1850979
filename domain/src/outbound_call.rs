//! The call by which a charge or an operation reaches its acquirer, and the inquiries about its outcome.
//!
//! Charges and operations are sent, lost, accepted and inquired about by the same rules. They differ in their possible
//! ends, which is `E`.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// A call with an effect at an acquirer. It is made again only when the acquirer is known not to have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboundCall<E> {
    /// Its progress.
    pub progress: Progress<E>,
    /// True if the call is known to be over, because its caller reported a failure. If only its lease is over, a
    /// process with another clock may still be making the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
    /// Number of inquiries about its outcome.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inquiries: u32,
    /// Number of "not found" answers since its outcome became unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_found: u32,
    /// Time of the next step: a sending or an inquiry. Absent after its end, and while it waits for an earlier call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// The acquirer's reason for a refusal. Until the call has ended, the acquirer may have executed it nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// Progress of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress<E> {
    /// No call was made, or it certainly had no effect: it is sent when it is due.
    Ready,
    /// Sent, or about to be; no answer yet.
    Sent,
    /// It may have had an effect. It is inquired about, and sent again only when the acquirer is known not to have it.
    Unknown,
    /// The acquirer accepted it: it is inquired about until it ends, and never sent again.
    Taken,
    /// It ended in this way. Stored as the name of the end.
    #[serde(untagged)]
    Ended(E),
}

/// One change of a call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallChange {
    /// Its outcome is unknown from now on: no earlier `NotFound` counts.
    Unknown {
        /// True if the call is known to be over.
        is_over: bool,
        /// Time of the next inquiry.
        next_at: Timestamp,
    },
    /// The acquirer accepted it without reporting an outcome yet. The next inquiry is at this time.
    Taken(Timestamp),
    /// The acquirer refused it, but may already have it: an inquiry decides.
    RefusedPerhaps(String),
    /// The acquirer does not have it, but may still receive it. The next inquiry is at this time or earlier.
    NotFound(Timestamp),
    /// An inquiry about it is made, and the next one at this time.
    InquiryScheduled(Timestamp),
    /// The last inquiry does not count. It is repeated at this time.
    InquiryPostponed(Timestamp),
    /// Its next step is at this time.
    Due(Timestamp),
}

impl CallChange {
    /// Returns true if the merchant can see it: the acquirer's answer is missing or not final.
    pub(crate) const fn shows(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Taken(_))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
pub(crate) const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl<E: Copy> OutboundCall<E> {
    /// Creates a call that has not left yet.
    pub const fn ready() -> Self {
        Self {
            progress: Progress::Ready,
            is_over: false,
            inquiries: 0,
            not_found: 0,
            next_at: None,
            refusal: None,
        }
    }

    /// Creates a call that is sent now. The first inquiry is at `next_at` if no answer comes.
    pub const fn sent(next_at: Timestamp) -> Self {
        let mut call = Self::ready();
        (call.progress, call.next_at) = (Progress::Sent, Some(next_at));
        call
    }

    /// Marks it as sent. Findings about an earlier sending do not apply to this one.
    pub(crate) fn send(&mut self, next_at: Timestamp) {
        *self = Self { inquiries: self.inquiries, ..Self::sent(next_at) };
    }

    /// Ends it.
    pub(crate) fn end(&mut self, end: E, refusal: Option<String>) {
        (self.progress, self.next_at, self.refusal) = (Progress::Ended(end), None, refusal);
    }

    /// Applies a change.
    pub(crate) fn apply(&mut self, change: CallChange) {
        match change {
            CallChange::Unknown { is_over, next_at } => {
                (self.progress, self.next_at) = (Progress::Unknown, Some(next_at));
                // Once the caller has reported the end it stays known: a lease that ends later is weaker evidence.
                self.is_over |= is_over;
                // The call may have been under way when these answers were given, so they prove nothing.
                self.not_found = 0;
            }
            CallChange::Taken(next_at) => {
                (self.progress, self.next_at) = (Progress::Taken, Some(next_at));
                // The acquirer has it: the slower schedule of accepted calls starts at its first step.
                (self.is_over, self.inquiries, self.not_found) = (true, 0, 0);
            }
            CallChange::RefusedPerhaps(why) => self.refusal = Some(why),
            CallChange::NotFound(again_at) => {
                self.not_found = self.not_found.saturating_add(1);
                self.next_at = self.next_at.map(|scheduled| scheduled.min(again_at));
            }
            CallChange::InquiryScheduled(at) => {
                self.next_at = Some(at);
                self.inquiries = self.inquiries.saturating_add(1);
            }
            CallChange::InquiryPostponed(at) => {
                self.next_at = Some(at);
                self.inquiries = self.inquiries.saturating_sub(1);
            }
            CallChange::Due(at) => self.next_at = Some(at),
        }
    }

    /// Returns its end, if it has ended.
    pub const fn ended(&self) -> Option<E> {
        match self.progress {
            Progress::Ended(end) => Some(end),
            Progress::Ready | Progress::Sent | Progress::Unknown | Progress::Taken => None,
        }
    }

    /// Returns true if it has not ended.
    pub const fn is_open(&self) -> bool {
        self.ended().is_none()
    }

    /// Returns true if the acquirer accepted it without reporting an outcome yet.
    pub const fn is_taken(&self) -> bool {
        matches!(self.progress, Progress::Taken)
    }

    /// Returns true if the acquirer is asked about its outcome.
    pub const fn is_inquired_about(&self) -> bool {
        matches!(self.progress, Progress::Unknown | Progress::Taken)
    }
}
