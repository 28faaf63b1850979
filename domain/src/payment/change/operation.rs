//! Changes of a cancellation, a capture or a refund.

use crate::money::Money;
use crate::operation::{Operation, OperationCall, OperationState, Verdict};
use crate::payment::RESOLVED_BY_OPERATOR;
use crate::time::Timestamp;

/// One change of an operation. The merchant sees none of them: the effects of an operation are changes of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::payment) enum OperationChange {
    /// It is sent now.
    Sent {
        /// Amount that had certainly been captured or given back before.
        before: Money,
        /// Time of the first inquiry if no answer comes.
        due_at: Timestamp,
    },
    /// Its last sending had no effect. It is sent again at this time.
    NotSent {
        /// True if that sending counts: it does not if the operation never left.
        counts: bool,
        /// Time of the next sending.
        due_at: Timestamp,
    },
    /// Its outcome is unknown from now on: no earlier `NotFound` counts.
    Unknown {
        /// True if its call is known to be over.
        call_is_over: bool,
        /// Time of the next inquiry.
        due_at: Timestamp,
    },
    /// The acquirer took it. The next inquiry is at this time.
    Accepted(Timestamp),
    /// The acquirer does not have it, but may still receive it: the next inquiry is at this time or before.
    NotFound(Timestamp),
    /// The acquirer's sums moved by something else.
    Contradicted,
    /// An inquiry about it is made, and the next one at this time.
    InquiryScheduled(Timestamp),
    /// The last inquiry does not count. It is repeated at this time.
    InquiryPostponed(Timestamp),
    /// It was refused for this reason, but may have been done all the same.
    RefusedPerhaps(String),
    /// It was done.
    Done,
    /// It was refused for this reason.
    Refused(String),
    /// A person stated its outcome.
    Resolved(Verdict),
}

impl Operation {
    /// Applies a change.
    pub(in crate::payment) fn apply(&mut self, change: OperationChange) {
        match change {
            OperationChange::Sent { before, due_at } => {
                self.sent = self.sent.saturating_add(1);
                self.step(OperationCall::Sent, due_at);
                (self.call_is_over, self.not_found, self.before) = (false, 0, before);
                self.refusal = None;
            }
            OperationChange::NotSent { counts, due_at } => {
                if !counts {
                    self.sent = self.sent.saturating_sub(1);
                    self.withheld = self.withheld.saturating_add(1);
                }
                self.step(OperationCall::Ready, due_at);
            }
            OperationChange::Unknown { call_is_over, due_at } => {
                self.step(OperationCall::Unknown, due_at);
                self.call_is_over |= call_is_over;
                self.not_found = 0;
            }
            OperationChange::Accepted(due_at) => {
                self.step(OperationCall::Accepted, due_at);
                (self.call_is_over, self.inquiries, self.not_found) = (true, 0, 0);
            }
            OperationChange::NotFound(again_at) => {
                self.not_found = self.not_found.saturating_add(1);
                self.due_at = self.due_at.map(|scheduled| scheduled.min(again_at));
            }
            OperationChange::Contradicted => self.contradicted = true,
            OperationChange::InquiryScheduled(at) => {
                self.due_at = Some(at);
                self.inquiries = self.inquiries.saturating_add(1);
            }
            OperationChange::InquiryPostponed(at) => {
                self.due_at = Some(at);
                self.inquiries = self.inquiries.saturating_sub(1);
            }
            OperationChange::RefusedPerhaps(why) => self.refusal = Some(why),
            OperationChange::Done => self.end(OperationState::Done, None),
            OperationChange::Refused(why) => self.end(OperationState::Refused, Some(why)),
            OperationChange::Resolved(verdict) => {
                self.resolved_by_operator = true;
                match verdict {
                    Verdict::Done => self.end(OperationState::Done, None),
                    Verdict::Refused => self.end(OperationState::Refused, Some(RESOLVED_BY_OPERATOR.into())),
                }
            }
        }
    }

    const fn step(&mut self, call: OperationCall, due_at: Timestamp) {
        (self.call, self.due_at) = (call, Some(due_at));
    }

    fn end(&mut self, state: OperationState, refusal: Option<String>) {
        (self.state, self.refusal, self.due_at) = (state, refusal, None);
    }
}
