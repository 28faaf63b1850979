//! Changes of a cancellation, a capture or a refund.

use crate::money::Money;
use crate::operation::{Operation, Verdict};
use crate::outbound_call::{CallChange, Progress};
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
    /// Its call changes.
    Call(CallChange),
    /// The acquirer's sums moved by something else.
    Contradicted,
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
                self.before = before;
                self.call.send(due_at);
            }
            OperationChange::NotSent { counts, due_at } => {
                if !counts {
                    self.sent = self.sent.saturating_sub(1);
                    self.withheld = self.withheld.saturating_add(1);
                }
                (self.call.progress, self.call.next_at) = (Progress::Ready, Some(due_at));
            }
            OperationChange::Call(change) => self.call.apply(change),
            OperationChange::Contradicted => self.contradicted = true,
            OperationChange::Done => self.call.end(Verdict::Done, None),
            OperationChange::Refused(why) => self.call.end(Verdict::Refused, Some(why)),
            OperationChange::Resolved(verdict) => {
                self.resolved_by_operator = true;
                self.apply(match verdict {
                    Verdict::Done => OperationChange::Done,
                    Verdict::Refused => OperationChange::Refused(RESOLVED_BY_OPERATOR.into()),
                });
            }
        }
    }
}
