//! Cancelling, capturing and refunding.

use super::change::OperationChange;
use super::draft::Draft;
use super::schedule::CALL_LEASE_MS;
use super::{Change, Discrepancy, DiscrepancyKind, Effect, Payment, Refusal};
use crate::event::Cause;
use crate::identity::OperationId;
use crate::money::Money;
use crate::operation::{Operation, OperationKind, OperationRequest, RequestedOperation, Surplus};
use crate::state::{Refund, RefundStatus};
use crate::status::Status;

/// Reason of an operation that was never sent because the payment's status changed meanwhile.
pub const STATUS_CHANGED: &str = "status_changed";

impl Payment {
    /// Finds the operation of a repeated request. An equal id means a request whose write seemed to be lost.
    fn find_replay(&self, request: &OperationRequest) -> Result<Option<OperationId>, Refusal> {
        if self.operations.iter().any(|operation| operation.id == request.id) {
            return Ok(Some(request.id));
        }
        let Some(key) = &request.key else { return Ok(None) };
        let mut operations = self.operations.iter();
        match operations.find(|operation| operation.key.as_ref() == Some(key)) {
            None => Ok(None),
            // The amount is compared as it was requested: "the rest" is a different sum after each refund.
            Some(known)
                if known.kind.verb() == request.requested.verb()
                    && known.asked_amount == request.requested.amount() =>
            {
                Ok(Some(known.id))
            }
            Some(_) => Err(Refusal::KeyReused),
        }
    }

    /// Returns true if the status still allows the operation.
    fn may_be_sent(&self, kind: OperationKind) -> bool {
        // A refund after a chargeback would return the money twice. A cancellation after payment would be a refund that
        // nobody requested.
        let status = self.status();
        match kind {
            OperationKind::Cancel => match status {
                Status::Initial | Status::Pending | Status::Approved | Status::Expired => true,
                // Its charge exists at the acquirer, and is withdrawn so that no late code can be paid.
                Status::Declined if self.had_no_code() => true,
                // After the end, only a late authorisation is voided.
                Status::Declined | Status::Cancelled => self.was_never_approved(),
                Status::Paid | Status::Refund | Status::Chargeback => false,
            },
            OperationKind::Capture(_) => status == Status::Approved,
            OperationKind::Refund(_) => status == Status::Paid,
        }
    }
}

impl Draft {
    /// Reports that a surplus charge keeps its money or limit: a person has to give it back at the acquirer.
    fn surplus_was_kept(&mut self, id: OperationId, why: &str) {
        let Some(operation) = self.payment.operation_of(id) else { return };
        let Some(surplus) = operation.surplus.clone() else { return };
        let is_elsewhere = self.payment.has_left(&surplus.acquirer);
        let is_second =
            is_elsewhere || self.payment.others.iter().any(|other| surplus.reference.contains(other));
        let kind = if is_second { DiscrepancyKind::SecondCharge } else { DiscrepancyKind::PaidAfterDecline };
        let detail = format!("what charge {} holds could not be given back: {why}", surplus.id);
        self.discrepancies.push(Discrepancy {
            kind,
            detail,
            stated: "not given back",
            about: Some(surplus.id),
        });
    }

    /// Reports that the void of a late authorisation was refused.
    fn late_void_refused(&mut self, why: &str) {
        self.discrepancies.push(Discrepancy {
            kind: DiscrepancyKind::LateAuthorization,
            detail: format!("the authorisation came too late, and its void was refused: {why}"),
            stated: "not voided",
            about: Some("void".into()),
        });
    }

    pub(super) fn operation_refused(
        &mut self,
        id: OperationId,
        kind: OperationKind,
        why: String,
        cause: Cause,
    ) {
        if !self.payment.is_own(id) {
            self.surplus_was_kept(id, &why);
            return;
        }
        match kind {
            // Reported only if the acquirer refused it: a person who states the refusal already knows.
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

    /// Finds the merchant's operation by its key, or begins it.
    pub(super) fn operate(&mut self, request: OperationRequest) -> Result<(), Refusal> {
        // The replay comes before permission: the first request may itself be what changed the status.
        if let Some(known) = self.payment.find_replay(&request)? {
            self.operation = Some(known);
            self.is_replay = request.key.is_some();
            return Ok(());
        }
        let kind = self.payment.permit(request.requested)?;
        self.check_room(request.requested)?;
        self.begin(request, kind, None);
        Ok(())
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

    pub(super) fn begin(&mut self, request: OperationRequest, kind: OperationKind, surplus: Option<Surplus>) {
        let now = self.now();
        // It is not known here how an acquirer that the payment has left identifies operations.
        let goes_in_turn = self.context.operates_in_turn
            || surplus.as_ref().is_some_and(|surplus| self.payment.has_left(&surplus.acquirer));
        self.make(Change::OperationRequested(Operation {
            key: request.key,
            asked_amount: request.requested.amount(),
            surplus,
            ..Operation::ready(request.id, kind, now)
        }));
        if let OperationKind::Refund(amount) = kind
            && self.payment.is_own(request.id)
        {
            let id = request.id.to_string();
            let status = RefundStatus::Processing;
            let refund = Refund { id, amount, status, created_at: now, failure_reason: None };
            self.make(Change::RefundAdded(refund));
        }
        self.operation = Some(request.id);
        // An acquirer that identifies operations only by sums can't tell two apart, so one is under way at a time
        // (decision 15).
        let is_first = !self.payment.operations.iter().any(|other| self.payment.waits_for(request.id, other));
        if is_first || !goes_in_turn {
            self.send_operation(request.id);
        }
    }

    /// Sends an operation that certainly had no effect yet, if the payment's status still allows it. If there is no
    /// answer before the lease ends, the acquirer is asked.
    pub(super) fn send_operation(&mut self, id: OperationId) {
        let Some(operation) = self.payment.operation_of(id) else { return };
        let kind = operation.kind;
        // A withheld operation may leave hours after it was permitted, so the status is asked each time (decision 18).
        if operation.is_own() && !self.payment.may_be_sent(kind) {
            self.end_unsent(id, kind);
            return;
        }
        let acquirer = self.payment.acquirer_of(operation).cloned();
        // Stored with the sending: an acquirer without ids of operations shows the outcome as a change of this sum.
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

    /// Ends an operation without sending it: its goal was reached without it, or can no longer be.
    fn end_unsent(&mut self, id: OperationId, kind: OperationKind) {
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
        self.operation_refused(id, kind, STATUS_CHANGED.into(), Cause::Service);
        if self.payment.was_captured_unheard() {
            // Somebody else captured it, and the amount is unknown.
            self.bring_check_forward(self.clock());
        }
    }

    /// Sends the operation that waited for earlier ones, if they have ended.
    pub(super) fn send_operation_in_turn(&mut self) {
        let next = |draft: &Self| {
            let operations = &draft.payment.operations;
            let is_first = |place: usize, one: &Operation| {
                !operations.iter().take(place).any(|before| draft.payment.waits_for(one.id, before))
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
