//! Cancelling, capturing and refunding.

use super::change::OperationChange;
use super::decide::Draft;
use super::inquire::{Inquiring, NotFound};
use super::schedule::{
    CALL_LEASE_MS, HINT_GAP_MS, WITHHELD_WAIT_MS, accepted_wait_ms, inquiry_wait_ms, resend_wait_ms,
};
use super::{Change, Context, Effect, Payment, Refusal};
use crate::acquiring::{CallFailure, Fact, OperationAnswer};
use crate::event::Cause;
use crate::method::Method;
use crate::money::Money;
use crate::operation::{
    Operation, OperationCall, OperationKind, OperationRequest, OperationState, RequestedOperation, Surplus,
};
use crate::state::{Refund, RefundStatus};
use crate::status::Status;
use uuid::Uuid;

/// The most characters of an acquirer's reason that are kept.
const MAX_REASON_CHARACTERS: usize = 200;

/// What an acquirer states whose sums others moved.
const SUMS_DO_NOT_FIT: &str = "sums that do not fit";

/// Why an operation that never left is sent no more: the payment became something else meanwhile.
pub const STATUS_CHANGED: &str = "status_changed";

impl Payment {
    /// Whether this could be asked of the payment as it is now; nothing is decided by that.
    ///
    /// # Errors
    /// Why not.
    pub fn permits(&self, requested: RequestedOperation) -> Result<(), Refusal> {
        let context = Context {
            now: self.state.updated_at,
            dice: 0,
            op: Uuid::nil(),
            card_at_hand: false,
            operates_in_turn: false,
            charge_name: None,
            refund_shows_after_ms: 0,
            hint_gap_ms: HINT_GAP_MS,
            reads_approved: false,
            looks_at_paid: false,
            card_tries: None,
        };
        Draft::new(self.clone(), context).permit(requested).map(drop)
    }
}

impl Draft {
    /// The merchant wants something: find it under its key, or begin it.
    pub(super) fn operate(&mut self, request: OperationRequest) -> Result<(), Refusal> {
        if let Some(known) = self.find_replay(&request)? {
            self.operation = Some(known);
            self.is_replay = request.key.is_some();
            return Ok(());
        }
        let kind = self.permit(request.requested)?;
        self.check_room(request.requested)?;
        self.begin(request, kind, None);
        Ok(())
    }

    /// The same id is the same request, decided once more because its write seemed to be lost.
    fn find_replay(&self, request: &OperationRequest) -> Result<Option<Uuid>, Refusal> {
        if self.payment.operations.iter().any(|operation| operation.id == request.id) {
            return Ok(Some(request.id));
        }
        let Some(key) = &request.key else { return Ok(None) };
        let mut operations = self.payment.operations.iter();
        match operations.find(|operation| operation.key.as_ref() == Some(key)) {
            None => Ok(None),
            Some(known)
                if known.kind.verb() == request.requested.verb()
                    && known.asked_amount == request.requested.amount() =>
            {
                Ok(Some(known.id))
            }
            Some(_) => Err(Refusal::KeyReused),
        }
    }

    /// What exactly is to be done, if the payment allows it.
    fn permit(&self, requested: RequestedOperation) -> Result<OperationKind, Refusal> {
        let status = self.payment.status();
        let refuse = |verb, allowed| Err(Refusal::NotAllowed { status, verb, allowed });
        if let Some(verb) = self.processing_verb(requested) {
            return Err(Refusal::Busy(verb));
        }
        match requested {
            RequestedOperation::Cancel if self.payment.is_withdrawable() => Ok(OperationKind::Cancel),
            // A charge that can be paid may exist, or come to be.
            RequestedOperation::Cancel if status == Status::Initial => Err(Refusal::OutcomeUnknown),
            RequestedOperation::Cancel if self.payment.method() == Method::Boleto => {
                refuse("be cancelled", "pending, expired")
            }
            RequestedOperation::Cancel => refuse("be cancelled", "pending, approved"),
            RequestedOperation::Capture(_) if !self.payment.method().can_be_captured() => {
                Err(Refusal::NotCapturable(status))
            }
            // The capture of a card that is captured at once is ours, unless the acquirer refused it.
            RequestedOperation::Capture(_)
                if self.payment.order.captures_at_once() && !self.was_capture_refused() =>
            {
                Err(Refusal::NotCapturable(status))
            }
            RequestedOperation::Capture(_) if status != Status::Approved => refuse("be captured", "approved"),
            RequestedOperation::Capture(amount) => {
                let authorized = self.payment.order.amount;
                let amount = amount.unwrap_or(authorized);
                let fits = Money::ZERO < amount && amount <= authorized;
                fits.then_some(OperationKind::Capture(amount)).ok_or(Refusal::CaptureOutOfBounds(authorized))
            }
            RequestedOperation::Refund(_) if status != Status::Paid => refuse("be refunded", "paid"),
            RequestedOperation::Refund(amount) => {
                let left = self.payment.state.refundable_amount();
                let amount = amount.unwrap_or(left);
                let fits = Money::ZERO < amount && amount <= left;
                fits.then_some(OperationKind::Refund(amount)).ok_or(Refusal::RefundExceedsPaid(left))
            }
        }
    }

    fn was_capture_refused(&self) -> bool {
        self.payment.own_operations().any(|operation| {
            matches!(operation.kind, OperationKind::Capture(_)) && operation.state == OperationState::Refused
        })
    }

    /// A cancellation or capture that is on its way, which stands in the way of another.
    fn processing_verb(&self, requested: RequestedOperation) -> Option<&'static str> {
        let is_refund = |verb: &str| verb == "refund";
        let processing = self.payment.own_operations().filter(|operation| operation.is_processing());
        processing
            .map(|operation| operation.kind.verb())
            .find(|verb| !is_refund(verb) && !is_refund(requested.verb()))
    }

    /// A charge, or an authorisation, that nobody wants any more is withdrawn.
    pub(super) fn withdraw(&mut self) {
        let requested = RequestedOperation::Cancel;
        let request = OperationRequest { id: self.fresh_operation_id(), requested, key: None };
        self.begin(request, OperationKind::Cancel, None);
    }

    /// An authorisation that should have been captured in one go is captured now.
    pub(super) fn capture_at_once(&mut self) {
        let requested = RequestedOperation::Capture(None);
        let kind = OperationKind::Capture(self.payment.order.amount);
        let request = OperationRequest { id: self.fresh_operation_id(), requested, key: None };
        self.begin(request, kind, None);
    }

    /// An id for an operation that nobody asked for: one decision may begin several.
    pub(super) fn fresh_operation_id(&self) -> Uuid {
        let mut number = self.context.op.as_u128();
        while self.operation_of(Uuid::from_u128(number)).is_some() {
            number = number.wrapping_add(1);
        }
        Uuid::from_u128(number)
    }

    pub(super) fn begin(&mut self, request: OperationRequest, kind: OperationKind, surplus: Option<Surplus>) {
        let now = self.now();
        self.make(Change::OperationRequested(Operation {
            id: request.id,
            kind,
            key: request.key,
            asked_amount: request.requested.amount(),
            state: OperationState::Processing,
            requested_at: now,
            before: Money::ZERO,
            sent: 0,
            withheld: 0,
            call: OperationCall::Ready,
            call_is_over: false,
            inquiries: 0,
            not_found: 0,
            due_at: None,
            refusal: None,
            contradicted: false,
            resolved_by_operator: false,
            surplus,
        }));
        if let OperationKind::Refund(amount) = kind
            && self.is_own(request.id)
        {
            let (id, status) = (request.id.to_string(), RefundStatus::Processing);
            let refund = Refund { id, amount, status, created_at: now, failure_reason: None };
            self.make(Change::RefundAdded(refund));
        }
        self.operation = Some(request.id);
        let is_first = !self.payment.operations.iter().any(|other| self.waits_for(request.id, other));
        if is_first || !self.context.operates_in_turn {
            self.send_operation(request.id);
        }
    }

    /// Sends an operation that certainly had no effect yet, if the payment still is what allowed it. If nothing is heard
    /// of it until the lease ends, it is asked for.
    pub(super) fn send_operation(&mut self, id: Uuid) {
        let Some(operation) = self.operation_of(id) else { return };
        let kind = operation.kind;
        if operation.is_own() && !self.may_be_sent(kind) {
            self.end_unsent(id, kind);
            return;
        }
        let acquirer = self.payment.acquirer_of(operation).cloned();
        let before = match (kind, &operation.surplus) {
            (OperationKind::Cancel, _) => Money::ZERO,
            (OperationKind::Capture(_), _) => self.payment.state.captured_amount.unwrap_or_default(),
            (OperationKind::Refund(_), None) => self.payment.state.refunded_amount(),
            (OperationKind::Refund(_), Some(surplus)) => surplus.given_back,
        };
        let due_at = self.clock().plus_ms(CALL_LEASE_MS);
        self.make(Change::Operation(id, OperationChange::Sent { before, due_at }));
        if let Some(acquirer) = acquirer {
            self.effects.push(Effect::Operate(acquirer, id));
        }
    }

    /// Whether the status still allows it: a refund after a chargeback gives the money back twice, and the cancellation of
    /// what was paid meanwhile is a refund that nobody asked for.
    fn may_be_sent(&self, kind: OperationKind) -> bool {
        let status = self.payment.status();
        match kind {
            OperationKind::Cancel => match status {
                Status::Initial | Status::Pending | Status::Approved | Status::Expired => true,
                Status::Declined if self.payment.had_no_code() => true,
                Status::Declined | Status::Cancelled => self.payment.was_never_approved(),
                Status::Paid | Status::Refund | Status::Chargeback => false,
            },
            OperationKind::Capture(_) => status == Status::Approved,
            OperationKind::Refund(_) => status == Status::Paid,
        }
    }

    /// It is not sent any more: what it was for came about without it, or can't come about.
    fn end_unsent(&mut self, id: Uuid, kind: OperationKind) {
        let is_done = match kind {
            OperationKind::Cancel => self.payment.status() == Status::Cancelled,
            OperationKind::Capture(amount) => self.payment.state.captured_amount == Some(amount),
            OperationKind::Refund(_) => false,
        };
        if is_done {
            self.make(Change::Operation(id, OperationChange::Done));
            return;
        }
        self.make(Change::Operation(id, OperationChange::Refused(STATUS_CHANGED.into())));
        self.operation_refused(id, kind, (STATUS_CHANGED.into(), Cause::Service));
        if self.was_captured_unheard() {
            // Somebody else captured it, and how much is not known.
            self.bring_check_forward(self.clock());
        }
    }

    /// Whether money was taken back, and the dispute won perhaps, that nobody said had come in.
    pub(super) fn was_captured_unheard(&self) -> bool {
        let was_captured = matches!(self.payment.status(), Status::Chargeback | Status::Paid);
        was_captured && self.payment.state.captured_amount.is_none()
    }

    /// Whether a capture of ours may have been done, or may still be.
    pub(super) fn may_have_captured(&self) -> bool {
        let captures = |operation: &Operation| matches!(operation.kind, OperationKind::Capture(_));
        self.payment.own_operations().any(|operation| captures(operation) && operation.may_have_an_effect())
    }

    /// Returns true if this operation is about the payment's own charge.
    pub(super) fn is_own(&self, id: Uuid) -> bool {
        self.operation_of(id).is_some_and(Operation::is_own)
    }

    /// Returns true if an operation is not sent before this other one has ended: both are about one charge.
    fn waits_for(&self, id: Uuid, other: &Operation) -> bool {
        let is_same = self.operation_of(id).is_some_and(|operation| operation.is_about_the_charge_of(other));
        other.id != id && other.is_processing() && is_same
    }

    pub(super) fn operation_of(&self, id: Uuid) -> Option<&Operation> {
        self.payment.operations.iter().find(|operation| operation.id == id)
    }

    /// Whether another operation was sent after this one.
    fn was_followed(&self, id: Uuid) -> bool {
        let from_it = self.payment.operations.iter().skip_while(|known| known.id != id);
        let Some(operation) = self.operation_of(id) else { return false };
        from_it.skip(1).any(|next| next.sent > 0 && next.is_about_the_charge_of(operation))
    }

    /// An operation that an acquirer may answer: one that never left has no answer.
    fn awaited(&self, id: Uuid) -> Option<Operation> {
        self.operation_of(id).filter(|operation| operation.is_processing() && operation.sent > 0).cloned()
    }

    /// The acquirer answered an operation that was sent. A failure counts only for the last sending.
    pub(super) fn operation_answered(&mut self, id: Uuid, sending: u32, answer: OperationAnswer) {
        let Some(operation) = self.awaited(id) else { return self.answered_after_the_end(id, &answer) };
        let is_last = operation.sending() == sending && operation.call != OperationCall::Accepted;
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
                self.make(Change::Operation(id, OperationChange::RefusedPerhaps(shortened(&why))));
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
            // An operator was told that it is never sent again, and may have done it by hand since.
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

    /// The acquirer answered what became of an operation.
    pub(super) fn operation_inquired(
        &mut self,
        (id, sending): (Uuid, u32),
        inquiring: Option<Inquiring>,
        answer: OperationAnswer,
    ) {
        let Some(operation) = self.awaited(id) else {
            // Sums that moved since it ended moved by what was sent after it.
            if !(self.context.operates_in_turn && self.was_followed(id)) {
                self.answered_after_the_end(id, &answer);
            }
            return;
        };
        match answer {
            OperationAnswer::Done | OperationAnswer::Accepted | OperationAnswer::Refused(_) => {
                self.operation_learnt(&operation, answer);
            }
            // The answer to a question from before it was sent again tells nothing.
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

    /// The acquirer's sums moved by something else: it is asked on and never sent again, and an operator sees it.
    fn operation_contradicted(&mut self, operation: &Operation, what: &str) {
        if !operation.contradicted {
            self.make(Change::Operation(operation.id, OperationChange::Contradicted));
        }
        self.contradicted(what, (SUMS_DO_NOT_FIT, Some(operation.id.to_string())));
    }

    /// It may have had an effect: it is asked for.
    fn operation_is_unknown(&mut self, operation: &Operation, at_least_ms: u64) {
        let due_at = self.after_at_least(inquiry_wait_ms(operation.inquiries), at_least_ms);
        let unknown = OperationChange::Unknown { call_is_over: true, due_at };
        self.make(Change::Operation(operation.id, unknown));
    }

    /// The acquirer states what became of an operation.
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
                // It differs from what we believed about the charge: another refund at the acquirer's desk came first.
                self.bring_check_forward(self.clock());
            }
            OperationAnswer::Accepted if operation.call != OperationCall::Accepted => {
                let due_at = self.after(accepted_wait_ms(0));
                self.make(Change::Operation(id, OperationChange::Accepted(due_at)));
            }
            OperationAnswer::Accepted
            | OperationAnswer::NotFound
            | OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::Contradicted(_)
            | OperationAnswer::Failed(_) => {}
        }
    }

    /// The acquirer does not know of it: believed by the same rules as for a charge, then it is sent again. What was
    /// accepted once is never sent again.
    fn operation_not_found(&mut self, operation: &Operation, inquiring: Option<Inquiring>) {
        let id = operation.id;
        let shows_after_ms = match operation.kind {
            OperationKind::Refund(_) => self.context.refund_shows_after_ms,
            OperationKind::Cancel | OperationKind::Capture(_) => 0,
        };
        match NotFound::judge(operation.call_is_over, operation.not_found, inquiring, shows_after_ms) {
            // The next inquiry is scheduled already, and is made earlier if that is sooner.
            NotFound::AskAgainAfter(ms) => {
                let again_at = self.clock().plus_ms(ms);
                self.make(Change::Operation(id, OperationChange::NotFound(again_at)));
            }
            NotFound::Believed if operation.call == OperationCall::Accepted => {
                let what = format!("the acquirer took a {}, and does not know it", operation.kind.verb());
                self.contradicted(&what, ("taken, and unknown there", Some(id.to_string())));
            }
            NotFound::Believed if operation.contradicted => {
                let what = format!("the acquirer's sums tell nothing of a {}", operation.kind.verb());
                self.contradicted(&what, (SUMS_DO_NOT_FIT, Some(id.to_string())));
            }
            NotFound::Believed if operation.refusal.is_some() => {
                let why = operation.refusal.clone().unwrap_or_default();
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

    /// Sends the operation that waited for those before it, if they have ended.
    pub(super) fn send_operation_in_turn(&mut self) {
        let next = |draft: &Self| {
            let operations = &draft.payment.operations;
            let is_first = |place: usize, one: &Operation| {
                !operations.iter().take(place).any(|before| draft.waits_for(one.id, before))
            };
            let mut waiting =
                operations.iter().enumerate().filter(|(_, one)| one.is_processing() && one.due_at.is_none());
            waiting.find(|(place, one)| is_first(*place, one)).map(|(_, one)| one.id)
        };
        // One that is not sent any more makes way for the one behind it.
        while let Some(id) = next(self) {
            self.send_operation(id);
        }
    }

    /// An operation that ended as refused was done all the same: an answer that came very late.
    pub(super) fn done_after_it_was_refused(&mut self, id: Uuid) {
        let is_refused =
            |operation: &&Operation| operation.state == OperationState::Refused && operation.is_own();
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
            // That it had to be given back, an operator has seen.
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

    pub(super) fn operation_refused(&mut self, id: Uuid, kind: OperationKind, (why, cause): (String, Cause)) {
        if !self.is_own(id) {
            self.surplus_was_kept(id, &why);
            return;
        }
        match kind {
            OperationKind::Cancel => {}
            // The card's limit is still held: it can be captured anew, or set free.
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

/// An acquirer's reason, as far as it is kept.
fn shortened(why: &str) -> String {
    why.chars().take(MAX_REASON_CHARACTERS).collect()
}
