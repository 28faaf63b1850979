//! Cancelling, capturing and refunding.

use super::change::OperationChange;
use super::decide::Draft;
use super::schedule::CALL_LEASE_MS;
use super::{Change, Context, Effect, Payment, Refusal};
use crate::event::Cause;
use crate::method::Method;
use crate::money::Money;
use crate::operation::{
    Operation, OperationKind, OperationRequest, OperationState, RequestedOperation, Surplus,
};
use crate::state::{Refund, RefundStatus};
use crate::status::Status;
use uuid::Uuid;

/// Reason of an operation that was never sent because the payment's status changed meanwhile.
pub const STATUS_CHANGED: &str = "status_changed";

impl Payment {
    /// Checks an operation against the payment as it is now, without deciding anything.
    ///
    /// # Errors
    /// The reason why it is refused.
    pub fn permits(&self, requested: RequestedOperation) -> Result<(), Refusal> {
        let context = Context::plain(self.state.updated_at, Uuid::nil());
        Draft::new(self.clone(), context).permit(requested).map(drop)
    }
}

impl Draft {
    /// Finds the merchant's operation by its key, or begins it.
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

    /// Finds the operation of a repeated request. The same id is a request whose write seemed to be lost.
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

    /// Returns the operation in full, if the payment allows it.
    fn permit(&self, requested: RequestedOperation) -> Result<OperationKind, Refusal> {
        let status = self.payment.status();
        let refuse = |verb, allowed| Err(Refusal::NotAllowed { status, verb, allowed });
        if let Some(verb) = self.processing_verb(requested) {
            return Err(Refusal::Busy(verb));
        }
        match requested {
            RequestedOperation::Cancel if self.payment.is_withdrawable() => Ok(OperationKind::Cancel),
            // A charge that can be paid may exist already, or begin to.
            RequestedOperation::Cancel if status == Status::Initial => Err(Refusal::OutcomeUnknown),
            RequestedOperation::Cancel if self.payment.method() == Method::Boleto => {
                refuse("be cancelled", "pending, expired")
            }
            RequestedOperation::Cancel => refuse("be cancelled", "pending, approved"),
            RequestedOperation::Capture(_) if !self.payment.method().can_be_captured() => {
                Err(Refusal::NotCapturable(status))
            }
            // We capture a card that is captured at once, unless the acquirer refused that capture.
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
            matches!(operation.kind, OperationKind::Capture(_))
                && operation.state() == OperationState::Refused
        })
    }

    /// Returns the verb of a cancellation or capture under way that excludes another operation.
    fn processing_verb(&self, requested: RequestedOperation) -> Option<&'static str> {
        let is_refund = |verb: &str| verb == "refund";
        let processing = self.payment.own_operations().filter(|operation| operation.is_processing());
        processing
            .map(|operation| operation.kind.verb())
            .find(|verb| !is_refund(verb) && !is_refund(requested.verb()))
    }

    /// Withdraws a charge or an authorisation that is no longer wanted.
    pub(super) fn withdraw(&mut self) {
        let requested = RequestedOperation::Cancel;
        let request = OperationRequest { id: self.fresh_operation_id(), requested, key: None };
        self.begin(request, OperationKind::Cancel, None);
    }

    /// Captures an authorisation that should have been captured in one step with it.
    pub(super) fn capture_at_once(&mut self) {
        let requested = RequestedOperation::Capture(None);
        let kind = OperationKind::Capture(self.payment.order.amount);
        let request = OperationRequest { id: self.fresh_operation_id(), requested, key: None };
        self.begin(request, kind, None);
    }

    /// Returns an id for an operation that nobody requested: one decision may begin several.
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
            key: request.key,
            asked_amount: request.requested.amount(),
            surplus,
            ..Operation::ready(request.id, kind, now)
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

    /// Sends an operation that certainly had no effect yet, if the payment's status still allows it. If there is no
    /// answer until the lease ends, the acquirer is asked.
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

    /// Returns true if the status still allows the operation.
    fn may_be_sent(&self, kind: OperationKind) -> bool {
        // A refund after a chargeback gives the money back twice. A cancellation after the payment is a refund that
        // nobody requested.
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

    /// Ends an operation without sending it: its aim was reached without it, or no longer can be.
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
            // Somebody else captured it, and the amount is unknown.
            self.bring_check_forward(self.clock());
        }
    }

    /// Returns true if money was taken back, and the dispute perhaps won, without a statement that it had come in.
    pub(super) fn was_captured_unheard(&self) -> bool {
        let was_captured = matches!(self.payment.status(), Status::Chargeback | Status::Paid);
        was_captured && self.payment.state.captured_amount.is_none()
    }

    /// Returns true if a capture of ours may have been done, or may still be.
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

    /// Sends the operation that waited for those before it, if they have ended.
    pub(super) fn send_operation_in_turn(&mut self) {
        let next = |draft: &Self| {
            let operations = &draft.payment.operations;
            let is_first = |place: usize, one: &Operation| {
                !operations.iter().take(place).any(|before| draft.waits_for(one.id, before))
            };
            let mut waiting = operations
                .iter()
                .enumerate()
                .filter(|(_, one)| one.is_processing() && one.call.next_at.is_none());
            waiting.find(|(place, one)| is_first(*place, one)).map(|(_, one)| one.id)
        };
        // An operation that is no longer sent makes room for the one after it.
        while let Some(id) = next(self) {
            self.send_operation(id);
        }
    }
}
