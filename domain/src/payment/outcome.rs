//! Outcomes of cancellations, captures and refunds: acquirers' answers to them, and to inquiries about them.

use super::change::OperationChange;
use super::draft::Draft;
use super::inquire::NotFound;
use super::schedule::{WITHHELD_WAIT_MS, accepted_wait_ms, resend_wait_ms};
use super::{Change, Inquiring};
use crate::acquiring::{CallFailure, Fact, OperationAnswer};
use crate::event::Cause;
use crate::identity::OperationId;
use crate::operation::{Operation, OperationKind, OperationState};
use crate::outbound_call::CallChange;
use crate::status::Status;

/// Maximum number of characters of an acquirer's reason.
const MAX_REASON_CHARACTERS: usize = 200;

/// Statement of an acquirer whose sums were moved by others.
const SUMS_DO_NOT_FIT: &str = "sums that do not fit";

impl Draft {
    /// Handles an answer to an operation that has ended. One that was recorded as refused but was done counts as done.
    /// If a person ended it differently, the contradiction is reported.
    fn answered_after_the_end(&mut self, id: OperationId, answer: &OperationAnswer) {
        let known = self.payment.operations.iter().find(|operation| operation.id == id);
        let Some(operation) = known else { return };
        let said = match (operation.state(), answer) {
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
        let what = format!(
            "a {} operation was {said} although an operator had recorded otherwise",
            operation.kind.verb()
        );
        self.contradicted(&what, said, Some(id.to_string()));
    }

    /// Handles the answer to an operation. A failure counts only for the last sending.
    pub(super) fn operation_answered(&mut self, id: OperationId, sending: u32, answer: OperationAnswer) {
        let Some(operation) = self.payment.awaited(id) else {
            return self.answered_after_the_end(id, &answer);
        };
        let is_last = operation.sending() == sending && !operation.call.is_taken();
        match answer {
            OperationAnswer::Done | OperationAnswer::Accepted | OperationAnswer::Refused(_) => {
                self.operation_learnt(&operation, answer);
            }
            OperationAnswer::NotFound
            | OperationAnswer::Contradicted(_)
            | OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::Failed(_)
                if !is_last => {}
            OperationAnswer::RefusedPerhaps(why) => {
                self.operation_call(id, CallChange::RefusedPerhaps(shortened(&why)));
                self.operation_is_unknown(&operation, 0);
            }
            OperationAnswer::Contradicted(what) => {
                self.operation_is_unknown(&operation, 0);
                self.operation_contradicted(&operation, &what);
            }
            OperationAnswer::NotFound | OperationAnswer::Failed(CallFailure::Unknown(_)) => {
                self.operation_is_unknown(&operation, 0);
            }
            // A 429 does not prove that nothing was done: inquire first, and send it again only after that.
            OperationAnswer::Failed(CallFailure::Throttled { after_ms }) => {
                self.operation_is_unknown(&operation, after_ms);
            }
            // An operator was told that it is never sent again, and may have done it by hand since.
            OperationAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Withheld)
                if operation.contradicted =>
            {
                self.operation_is_unknown(&operation, 0);
            }
            // It certainly had no effect, so it is sent again without asking (decision 15).
            OperationAnswer::Failed(CallFailure::NotDelivered(_)) => {
                let due_at = self.after(resend_wait_ms(operation.sent));
                self.make(Change::Operation(id, OperationChange::NotSent { counts: true, due_at }));
            }
            OperationAnswer::Failed(CallFailure::Withheld) => {
                let wait_ms = WITHHELD_WAIT_MS.max(resend_wait_ms(operation.sent.saturating_sub(1)));
                let due_at = self.after(wait_ms);
                self.make(Change::Operation(id, OperationChange::NotSent { counts: false, due_at }));
            }
        }
    }

    /// Handles the answer to an inquiry about an operation.
    pub(super) fn operation_inquired(
        &mut self,
        id: OperationId,
        sending: u32,
        inquiring: Option<Inquiring>,
        answer: OperationAnswer,
    ) {
        let Some(operation) = self.payment.awaited(id) else {
            // Sums that changed after this operation ended were changed by later ones.
            if !(self.context.operates_in_turn && self.payment.was_followed(id)) {
                self.answered_after_the_end(id, &answer);
            }
            return;
        };
        match answer {
            OperationAnswer::Done | OperationAnswer::Accepted | OperationAnswer::Refused(_) => {
                self.operation_learnt(&operation, answer);
            }
            // An answer to an inquiry from before the last sending proves nothing.
            OperationAnswer::NotFound
            | OperationAnswer::Contradicted(_)
            | OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::Failed(_)
                if !operation.call.is_inquired_about() || sending != operation.sending() => {}
            OperationAnswer::Contradicted(what) => self.operation_contradicted(&operation, &what),
            OperationAnswer::NotFound => self.operation_not_found(&operation, inquiring),
            OperationAnswer::Failed(CallFailure::Withheld) => {
                self.operation_inquiry_postponed(&operation, WITHHELD_WAIT_MS);
            }
            OperationAnswer::Failed(CallFailure::Throttled { after_ms }) => {
                if self.clock().ms_since(operation.requested_at) >= operation.overdue_ms() {
                    let about = Some(id.to_string());
                    self.report_throttled_inquiry(operation.kind.verb(), inquiring, about);
                }
                self.operation_inquiry_postponed(&operation, after_ms);
            }
            // The next inquiry is scheduled already.
            OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Unknown(_)) => {}
        }
    }

    /// Records that others moved the acquirer's sums. The operation is still inquired about but never sent again, and
    /// an operator sees it.
    fn operation_contradicted(&mut self, operation: &Operation, what: &str) {
        if !operation.contradicted {
            self.make(Change::Operation(operation.id, OperationChange::Contradicted));
        }
        self.contradicted(what, SUMS_DO_NOT_FIT, Some(operation.id.to_string()));
    }

    /// Schedules an inquiry: the operation may have had an effect.
    fn operation_is_unknown(&mut self, operation: &Operation, at_least_ms: u64) {
        self.operation_call(operation.id, self.call_is_lost(&operation.call, at_least_ms));
    }

    /// Applies the acquirer's statement about an operation.
    fn operation_learnt(&mut self, operation: &Operation, answer: OperationAnswer) {
        let id = operation.id;
        let kind = operation.kind;
        match answer {
            OperationAnswer::Done => {
                self.make(Change::Operation(id, OperationChange::Done));
                self.operation_done(id, kind);
            }
            OperationAnswer::Refused(why) => {
                let why = shortened(&why);
                self.make(Change::Operation(id, OperationChange::Refused(why.clone())));
                self.operation_refused(id, kind, why, Cause::Acquirer);
                // It contradicts our view of the charge: another refund was made at the acquirer earlier.
                self.bring_check_forward(self.clock());
            }
            OperationAnswer::Accepted if !operation.call.is_taken() => {
                self.operation_call(id, CallChange::Taken(self.after(accepted_wait_ms(0))));
            }
            OperationAnswer::Accepted
            | OperationAnswer::NotFound
            | OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::Contradicted(_)
            | OperationAnswer::Failed(_) => {}
        }
    }

    /// Handles "not found". It is believed by the same rules as for a charge; then the operation is sent again. An
    /// operation that was once accepted is never sent again.
    fn operation_not_found(&mut self, operation: &Operation, inquiring: Option<Inquiring>) {
        let id = operation.id;
        let shows_after_ms = match operation.kind {
            // A refund that its acquirer shows late would be paid twice if "not found" were believed sooner.
            OperationKind::Refund(_) => self.context.refund_shows_after_ms,
            OperationKind::Cancel | OperationKind::Capture(_) => 0,
        };
        match NotFound::judge(&operation.call, inquiring, shows_after_ms) {
            // The next inquiry is scheduled already, and is brought forward if this is sooner.
            NotFound::AskAgainAfter(ms) => {
                self.operation_call(id, CallChange::NotFound(self.clock().plus_ms(ms)));
            }
            NotFound::Believed if operation.call.is_taken() => {
                let what = format!(
                    "the acquirer accepted a {} operation and now does not know it",
                    operation.kind.verb()
                );
                self.contradicted(&what, "taken, and unknown there", Some(id.to_string()));
            }
            NotFound::Believed if operation.contradicted => {
                let what = format!(
                    "the acquirer's sums do not show the outcome of a {} operation",
                    operation.kind.verb()
                );
                self.contradicted(&what, SUMS_DO_NOT_FIT, Some(id.to_string()));
            }
            NotFound::Believed if operation.call.refusal.is_some() => {
                let why = operation.call.refusal.clone().unwrap_or_default();
                // Sums may grow after the refusal was believed.
                self.look_again_later();
                self.operation_learnt(operation, OperationAnswer::Refused(why));
            }
            NotFound::Believed if operation.is_too_old_to_send(self.clock()) => {
                let what = format!(
                    "Quita has been sending a {} operation for a day, and the acquirer does not know it",
                    operation.kind.verb()
                );
                self.outcome_is_unknown(what, Some(id.to_string()));
            }
            NotFound::Believed => self.send_operation(id),
        }
    }

    /// Corrects an operation that ended as refused but was done: an answer that came very late.
    fn done_after_it_was_refused(&mut self, id: OperationId) {
        let is_refused =
            |operation: &&Operation| operation.state() == OperationState::Refused && operation.is_own();
        let refused = self.payment.operation_of(id).filter(is_refused);
        match refused.map(|operation| operation.kind) {
            Some(OperationKind::Refund(amount)) => {
                let refund_id = id.to_string();
                self.learn_and_keep_discrepancy(Fact::Refunded { refund_id, amount: Some(amount) });
            }
            Some(kind @ (OperationKind::Cancel | OperationKind::Capture(_))) => self.operation_done(id, kind),
            None => {}
        }
    }

    pub(super) fn operation_done(&mut self, id: OperationId, kind: OperationKind) {
        if !self.payment.is_own(id) {
            // An operator has already been told that it has to be given back.
            return;
        }
        match kind {
            OperationKind::Cancel => {
                if let Err(discrepancy) = self.learn_cancelled(Cause::Merchant) {
                    self.discrepancies.push(discrepancy);
                }
            }
            OperationKind::Capture(amount) => {
                if self.payment.status() == Status::Approved {
                    self.make(Change::Captured(amount));
                    self.become_status(Status::Paid, None, Cause::Merchant);
                } else if self.payment.was_captured_unheard() {
                    self.make(Change::Captured(amount));
                } else if self.payment.state.captured_amount != Some(amount) {
                    self.contradicted("captured", "captured", Some(id.to_string()));
                }
            }
            OperationKind::Refund(_) => {
                self.make(Change::RefundSucceeded(id.to_string()));
                self.refund_succeeded(id.to_string(), Cause::Merchant);
            }
        }
    }
}

/// Returns an acquirer's reason, truncated to the stored length.
fn shortened(why: &str) -> String {
    why.chars().take(MAX_REASON_CHARACTERS).collect()
}
