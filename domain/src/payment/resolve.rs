//! A person ends an operation that is stuck, because the acquirer was asked by telephone or looked at by hand.

use super::answer::AMOUNT_MISMATCH;
use super::change::OperationChange;
use super::decide::Draft;
use super::{Change, Payment, Refusal};
use crate::acquiring::OperationAnswer;
use crate::event::Cause;
use crate::operation::{Operation, OperationCall, OperationState, Verdict};
use crate::routing::AttemptOutcome;
use crate::status::Status;
use crate::time::Timestamp;
use uuid::Uuid;

/// How long an operation must have been open before a person may say what became of it: until then the acquirer may
/// still be at work on it, and tells by itself.
const STUCK_AFTER_MS: u64 = 10 * 60_000;

/// What the merchant reads as the reason.
pub const RESOLVED_BY_OPERATOR: &str = "resolved_by_operator";

impl Operation {
    /// What a person may say became of it. Nothing while it is on its way, or was only just asked for; what certainly
    /// had no effect can only be given up.
    pub fn possible_verdicts(&self, now: Timestamp) -> &'static [Verdict] {
        let is_stuck = now.ms_since(self.requested_at) >= STUCK_AFTER_MS;
        match (self.state, self.call) {
            (OperationState::Done | OperationState::Refused, _) => &[],
            (OperationState::Processing, OperationCall::Ready) => &[Verdict::Refused],
            (OperationState::Processing, OperationCall::Sent) => &[],
            (OperationState::Processing, OperationCall::Unknown | OperationCall::Accepted) => {
                if is_stuck {
                    &[Verdict::Done, Verdict::Refused]
                } else {
                    &[]
                }
            }
        }
    }
}

impl Payment {
    /// Verdicts of a person on the last charge, of which no answer tells: it holds nothing, and never will. That it holds
    /// money, only its acquirer may say, which names it then. None while it is on its way, or was only just asked for.
    pub fn possible_charge_verdicts(&self, now: Timestamp) -> &'static [Verdict] {
        let Some(last) = self.state.attempts.last() else { return &[] };
        let is_unclear = matches!(last.outcome, AttemptOutcome::Unknown | AttemptOutcome::Registering);
        let is_stuck = now.ms_since(last.at) >= STUCK_AFTER_MS;
        if is_unclear && is_stuck && self.status() == Status::Initial { &[Verdict::Refused] } else { &[] }
    }

    /// Whether nobody but a person can end it: its acquirer takes no more money, and what it has is not what was asked for.
    pub fn waits_for_a_person(&self) -> bool {
        self.concluded && self.status() == Status::Pending
    }
}

impl Draft {
    /// A person says what became of an operation. The payment goes on as if the acquirer had said so.
    pub(super) fn operation_resolved(&mut self, id: Uuid, verdict: Verdict) -> Result<(), Refusal> {
        let known = self.payment.operations.iter().find(|operation| operation.id == id);
        let stuck = known.filter(|known| known.possible_verdicts(self.clock()).contains(&verdict));
        let kind = stuck.ok_or(Refusal::NotStuck)?.kind;
        self.operation = Some(id);
        self.make(Change::Operation(id, OperationChange::Resolved(verdict)));
        match verdict {
            Verdict::Done => self.operation_done(id, kind),
            Verdict::Refused => {
                self.operation_refused(id, kind, (RESOLVED_BY_OPERATOR.into(), Cause::Service));
                // Somebody else may have captured, withdrawn or given back; there may have been no room to record it.
                self.bring_check_forward(self.clock());
            }
        }
        Ok(())
    }

    /// A person says that a charge without an answer holds nothing. The payment is declined; what its acquirer says
    /// otherwise later is learnt as of any declined payment: it is given back, and reported.
    pub(super) fn charge_resolved(&mut self, attempt: u32, verdict: Verdict) -> Result<(), Refusal> {
        let is_possible = self.payment.possible_charge_verdicts(self.clock()).contains(&verdict);
        if !(self.payment.is_last_attempt(attempt) && is_possible) {
            return Err(Refusal::NotStuck);
        }
        self.charge_is_known_to_hold_nothing();
        Ok(())
    }

    /// A person ends a payment that can't be paid any more, after giving back, or settling, what came in for it.
    pub(super) fn end_mismatch(&mut self) -> Result<(), Refusal> {
        if !self.payment.waits_for_a_person() {
            return Err(Refusal::NotStuck);
        }
        self.become_status(Status::Cancelled, Some(AMOUNT_MISMATCH), Cause::Service);
        Ok(())
    }

    /// The acquirer answers, after all, for an operation that has ended. What was refused and is done counts as done; if a
    /// person ended it otherwise, somebody has to know.
    pub(super) fn answered_after_the_end(&mut self, id: Uuid, answer: &OperationAnswer) {
        let known = self.payment.operations.iter().find(|operation| operation.id == id);
        let Some(operation) = known else { return };
        let said = match (operation.state, answer) {
            (OperationState::Refused, OperationAnswer::Done) if !operation.resolved_by_operator => {
                self.done_after_it_was_refused(id);
                return;
            }
            (OperationState::Refused, OperationAnswer::Done) => "done",
            (OperationState::Done, OperationAnswer::Refused(_)) if operation.resolved_by_operator => {
                "refused"
            }
            (OperationState::Processing | OperationState::Done | OperationState::Refused, _) => return,
        };
        let what = format!("a {} that an operator resolved otherwise was {said}", operation.kind.verb());
        self.contradicted(&what, (said, Some(id.to_string())));
    }
}
