//! Outcomes of cancellations, captures and refunds: acquirers' answers to them, and to inquiries about them.

use super::change::OperationChange;
use super::decide::Draft;
use super::inquire::{Inquiring, NotFound};
use super::schedule::{WITHHELD_WAIT_MS, accepted_wait_ms, resend_wait_ms};
use super::{Change, Discrepancy, DiscrepancyKind};
use crate::acquiring::{CallFailure, Fact, OperationAnswer};
use crate::event::Cause;
use crate::operation::{Operation, OperationKind, OperationState};
use crate::outbound_call::CallChange;
use crate::status::Status;
use uuid::Uuid;

/// Maximum number of characters of an acquirer's reason.
const MAX_REASON_CHARACTERS: usize = 200;

/// Statement of an acquirer whose sums were moved by others.
const SUMS_DO_NOT_FIT: &str = "sums that do not fit";

impl Draft {
    /// Returns true if another operation was sent after this one.
    fn was_followed(&self, id: Uuid) -> bool {
        let from_it = self.payment.operations.iter().skip_while(|known| known.id != id);
        let Some(operation) = self.operation_of(id) else { return false };
        from_it.skip(1).any(|next| next.sent > 0 && next.is_about_the_charge_of(operation))
    }

    /// Returns an operation that the acquirer may answer: one that never left has no answer.
    fn awaited(&self, id: Uuid) -> Option<Operation> {
        self.operation_of(id).filter(|operation| operation.is_processing() && operation.sent > 0).cloned()
    }

    /// Handles the answer to an operation. A failure counts only for the last sending.
    pub(super) fn operation_answered(&mut self, id: Uuid, sending: u32, answer: OperationAnswer) {
        let Some(operation) = self.awaited(id) else { return self.answered_after_the_end(id, &answer) };
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
            OperationAnswer::Failed(CallFailure::Throttled { after_ms }) => {
                self.operation_is_unknown(&operation, after_ms);
            }
            // An operator was advised that it is never sent again, and may have done it by hand since.
            OperationAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Withheld)
                if operation.contradicted =>
            {
                self.operation_is_unknown(&operation, 0);
            }
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
        (id, sending): (Uuid, u32),
        inquiring: Option<Inquiring>,
        answer: OperationAnswer,
    ) {
        let Some(operation) = self.awaited(id) else {
            // Sums that changed after it ended were changed by later operations.
            if !(self.context.operates_in_turn && self.was_followed(id)) {
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

    /// Notes that others moved the acquirer's sums: it is still asked but never sent again, and an operator sees it.
    fn operation_contradicted(&mut self, operation: &Operation, what: &str) {
        if !operation.contradicted {
            self.make(Change::Operation(operation.id, OperationChange::Contradicted));
        }
        self.contradicted(what, (SUMS_DO_NOT_FIT, Some(operation.id.to_string())));
    }

    /// Schedules an inquiry: the operation may have had an effect.
    fn operation_is_unknown(&mut self, operation: &Operation, at_least_ms: u64) {
        self.operation_call(operation.id, self.call_is_lost(&operation.call, at_least_ms));
    }

    /// Applies the acquirer's statement about an operation.
    fn operation_learnt(&mut self, operation: &Operation, answer: OperationAnswer) {
        let (id, kind) = (operation.id, operation.kind);
        match answer {
            OperationAnswer::Done => {
                self.make(Change::Operation(id, OperationChange::Done));
                self.operation_done(id, kind);
            }
            OperationAnswer::Refused(why) => {
                let why = shortened(&why);
                self.make(Change::Operation(id, OperationChange::Refused(why.clone())));
                self.operation_refused(id, kind, (why, Cause::Acquirer));
                // It contradicts our view of the charge: another refund was made at the acquirer before.
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
            OperationKind::Refund(_) => self.context.refund_shows_after_ms,
            OperationKind::Cancel | OperationKind::Capture(_) => 0,
        };
        match NotFound::judge(&operation.call, inquiring, shows_after_ms) {
            // The next inquiry is scheduled already, and is brought forward if this is sooner.
            NotFound::AskAgainAfter(ms) => {
                self.operation_call(id, CallChange::NotFound(self.clock().plus_ms(ms)));
            }
            NotFound::Believed if operation.call.is_taken() => {
                let what = format!("the acquirer took a {}, and does not know it", operation.kind.verb());
                self.contradicted(&what, ("taken, and unknown there", Some(id.to_string())));
            }
            NotFound::Believed if operation.contradicted => {
                let what = format!("the acquirer's sums tell nothing of a {}", operation.kind.verb());
                self.contradicted(&what, (SUMS_DO_NOT_FIT, Some(id.to_string())));
            }
            NotFound::Believed if operation.call.refusal.is_some() => {
                let why = operation.call.refusal.clone().unwrap_or_default();
                self.operation_learnt(operation, OperationAnswer::Refused(why));
            }
            NotFound::Believed if operation.is_too_old_to_send(self.clock()) => {
                let what = format!(
                    "a {} was sent for a day, and the acquirer does not know it",
                    operation.kind.verb()
                );
                self.outcome_is_unknown(what, Some(id.to_string()));
            }
            NotFound::Believed => self.send_operation(id),
        }
    }

    /// Corrects an operation that ended as refused but was done: an answer that came very late.
    pub(super) fn done_after_it_was_refused(&mut self, id: Uuid) {
        let is_refused =
            |operation: &&Operation| operation.state() == OperationState::Refused && operation.is_own();
        let refused = self.operation_of(id).filter(is_refused);
        match refused.map(|operation| operation.kind) {
            Some(OperationKind::Refund(amount)) => {
                let refund_id = id.to_string();
                self.learn_and_keep_discrepancy(Fact::Refunded { refund_id, amount: Some(amount) });
            }
            Some(kind @ (OperationKind::Cancel | OperationKind::Capture(_))) => self.operation_done(id, kind),
            None => {}
        }
    }

    pub(super) fn operation_done(&mut self, id: Uuid, kind: OperationKind) {
        if !self.is_own(id) {
            // An operator has seen that it had to be given back.
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
                } else if self.was_captured_unheard() {
                    self.make(Change::Captured(amount));
                } else if self.payment.state.captured_amount != Some(amount) {
                    self.contradicted("captured", ("captured", Some(id.to_string())));
                }
            }
            OperationKind::Refund(_) => {
                self.make(Change::RefundSucceeded(id.to_string()));
                self.refund_succeeded(id.to_string(), Cause::Merchant);
            }
        }
    }

    /// Reports that the void of an authorisation that came too late was refused.
    fn late_void_refused(&mut self, why: &str) {
        self.discrepancies.push(Discrepancy {
            kind: DiscrepancyKind::LateAuthorization,
            detail: format!("it was authorised too late, and its void was refused: {why}"),
            stated: "not voided",
            about: Some("void".into()),
        });
    }

    pub(super) fn operation_refused(&mut self, id: Uuid, kind: OperationKind, (why, cause): (String, Cause)) {
        if !self.is_own(id) {
            self.surplus_was_kept(id, &why);
            return;
        }
        match kind {
            // A person who says so knows.
            OperationKind::Cancel if self.payment.was_never_approved() && cause == Cause::Acquirer => {
                self.late_void_refused(&why);
            }
            OperationKind::Cancel => {}
            // The card's limit is still held: it can be captured again, or released.
            OperationKind::Capture(_) if self.payment.status() == Status::Approved => {
                self.make(Change::CaptureRefused);
            }
            OperationKind::Capture(_) => {}
            OperationKind::Refund(_) => {
                self.make(Change::RefundFailed(id.to_string(), why));
                self.make(Change::RefundReported(id.to_string(), cause));
            }
        }
    }
}

/// Returns an acquirer's reason, cut to the length that is kept.
fn shortened(why: &str) -> String {
    why.chars().take(MAX_REASON_CHARACTERS).collect()
}
