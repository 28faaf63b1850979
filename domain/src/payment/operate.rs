//! Cancelling, capturing and refunding.

use super::decide::Draft;
use super::due::{CALL_LEASE_MS, WITHHELD_WAIT_MS, retry_wait_ms};
use super::{Change, Command, Context, Effect, Payment, Refusal};
use crate::acquiring::{CallFailure, OperationAnswer};
use crate::event::Cause;
use crate::method::Method;
use crate::money::Money;
use crate::operation::{Operation, OperationKind, OperationRequest, OperationState, Wish};
use crate::state::{Refund, RefundStatus};
use crate::status::Status;
use uuid::Uuid;

/// Operations that one payment may hold.
const MAX_OPERATIONS: usize = 100;

impl Payment {
    /// Whether this could be asked of the payment as it is now; nothing is decided by that.
    ///
    /// # Errors
    /// Why not.
    pub fn permits(&self, wish: Wish) -> Result<(), Refusal> {
        let request = OperationRequest { id: Uuid::nil(), wish, key: None };
        let context = Context { now: self.state.updated_at, dice: 0, op: Uuid::nil(), card_at_hand: false };
        self.decide(Command::Operate(request), &context).map(drop)
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
        if self.payment.operations.len() >= MAX_OPERATIONS {
            return Err(Refusal::TooManyOperations(MAX_OPERATIONS));
        }
        let kind = self.permit(request.wish)?;
        self.begin(request, kind);
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
                if known.kind.verb() == request.wish.verb()
                    && known.asked_amount == request.wish.amount() =>
            {
                Ok(Some(known.id))
            }
            Some(_) => Err(Refusal::KeyReused),
        }
    }

    /// What exactly is to be done, if the payment allows it.
    fn permit(&self, wish: Wish) -> Result<OperationKind, Refusal> {
        let status = self.payment.status();
        let refuse = |verb, allowed| Err(Refusal::NotAllowed { status, verb, allowed });
        if let Some(verb) = self.processing_verb(wish) {
            return Err(Refusal::Busy(verb));
        }
        match wish {
            Wish::Cancel if matches!(status, Status::Pending | Status::Approved) => Ok(OperationKind::Cancel),
            Wish::Cancel => refuse("be cancelled", "pending, approved"),
            Wish::Capture(_) if self.payment.method() != Method::CreditCard => Err(Refusal::NotCapturable),
            Wish::Capture(_) if self.payment.order.captures_at_once() => Err(Refusal::NotCapturable),
            Wish::Capture(_) if status != Status::Approved => refuse("be captured", "approved"),
            Wish::Capture(amount) => {
                let authorized = self.payment.order.amount;
                let amount = amount.unwrap_or(authorized);
                let fits = Money::ZERO < amount && amount <= authorized;
                fits.then_some(OperationKind::Capture(amount)).ok_or(Refusal::CaptureOutOfBounds(authorized))
            }
            Wish::Refund(_) if status != Status::Paid => refuse("be refunded", "paid"),
            Wish::Refund(amount) => {
                let left = self.payment.state.refundable_amount();
                let amount = amount.unwrap_or(left);
                let fits = Money::ZERO < amount && amount <= left;
                fits.then_some(OperationKind::Refund(amount)).ok_or(Refusal::RefundExceedsPaid(left))
            }
        }
    }

    /// A cancellation or capture that is on its way, which stands in the way of another.
    fn processing_verb(&self, wish: Wish) -> Option<&'static str> {
        let is_refund = |verb: &str| verb == "refund";
        let processing =
            self.payment.operations.iter().filter(|operation| operation.state == OperationState::Processing);
        processing
            .map(|operation| operation.kind.verb())
            .find(|verb| !is_refund(verb) && !is_refund(wish.verb()))
    }

    /// An authorisation that should have been captured in one go is captured now.
    pub(super) fn capture_at_once(&mut self) {
        let wish = Wish::Capture(None);
        let kind = OperationKind::Capture(self.payment.order.amount);
        self.begin(OperationRequest { id: self.context.op, wish, key: None }, kind);
    }

    fn begin(&mut self, request: OperationRequest, kind: OperationKind) {
        let now = self.now();
        self.make(Change::OperationRequested(Operation {
            id: request.id,
            kind,
            key: request.key,
            asked_amount: request.wish.amount(),
            state: OperationState::Processing,
            requested_at: now,
            sent: 0,
            send_at: None,
            refusal: None,
        }));
        if let OperationKind::Refund(amount) = kind {
            let (id, status) = (request.id.to_string(), RefundStatus::Processing);
            self.make(Change::RefundAdded(Refund { id, amount, status, created_at: now }));
        }
        self.operation = Some(request.id);
        self.send_operation(request.id);
    }

    /// Sends an operation; if nothing is heard of it until the lease ends, it is sent again.
    pub(super) fn send_operation(&mut self, id: Uuid) {
        self.make(Change::OperationSent(id));
        self.make(Change::OperationScheduled(id, self.clock().plus_ms(CALL_LEASE_MS)));
        if let Some(acquirer) = self.payment.acquirer().cloned() {
            self.effects.push(Effect::Operate(acquirer, id));
        }
    }

    /// The acquirer answered an operation.
    pub(super) fn operation_answered(&mut self, id: Uuid, answer: OperationAnswer) {
        let Some(operation) = self.payment.operations.iter().find(|operation| operation.id == id) else {
            return;
        };
        if operation.state != OperationState::Processing {
            return;
        }
        let (kind, sent) = (operation.kind, operation.sent);
        match answer {
            OperationAnswer::Done => {
                self.make(Change::OperationEnded(id, None));
                self.operation_done(id, kind);
            }
            OperationAnswer::Refused(reason) => {
                self.make(Change::OperationEnded(id, Some(reason)));
                self.operation_refused(id, kind);
            }
            OperationAnswer::Failed(CallFailure::Withheld) => {
                let wait_ms = WITHHELD_WAIT_MS.max(retry_wait_ms(sent.saturating_sub(1)));
                self.make(Change::OperationWithheld(id, self.clock().plus_ms(wait_ms)));
            }
            OperationAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Unknown(_)) => {
                self.make(Change::OperationScheduled(id, self.clock().plus_ms(retry_wait_ms(sent))));
            }
        }
    }

    fn operation_done(&mut self, id: Uuid, kind: OperationKind) {
        match kind {
            OperationKind::Cancel => {
                if let Err(oddity) = self.learn_cancelled(Cause::Merchant) {
                    self.oddity = Some(oddity);
                }
            }
            OperationKind::Capture(amount) => {
                if self.payment.status() == Status::Approved {
                    self.make(Change::Captured(amount));
                    self.become_status(Status::Paid, None, Cause::Merchant);
                } else if self.payment.status() == Status::Chargeback
                    && self.payment.state.captured_amount.is_none()
                {
                    self.make(Change::Captured(amount));
                } else if self.payment.state.captured_amount != Some(amount) {
                    self.oddity = Some(self.contradiction("captured"));
                }
            }
            OperationKind::Refund(_) => {
                self.make(Change::RefundEnded(id.to_string(), RefundStatus::Succeeded));
                self.refund_if_all_is_back(Cause::Merchant);
            }
        }
    }

    fn operation_refused(&mut self, id: Uuid, kind: OperationKind) {
        match kind {
            OperationKind::Cancel => {}
            OperationKind::Capture(_) => {
                self.become_status(Status::Declined, Some("capture_refused"), Cause::Acquirer);
            }
            OperationKind::Refund(_) => {
                self.make(Change::RefundEnded(id.to_string(), RefundStatus::Failed));
            }
        }
    }
}
