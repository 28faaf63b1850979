//! Permission for operations: what the status allows.

use super::{Payment, Refusal};
use crate::method::Method;
use crate::money::Money;
use crate::operation::{OperationKind, OperationState, RequestedOperation};
use crate::status::Status;

impl Payment {
    /// Checks an operation against the payment as it is now, without deciding anything.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn permits(&self, requested: RequestedOperation) -> Result<(), Refusal> {
        self.permit(requested).map(drop)
    }

    /// Returns the operations that it allows now, in the API's words.
    pub fn allowed_operations(&self) -> Vec<&'static str> {
        let all =
            [RequestedOperation::Cancel, RequestedOperation::Capture(None), RequestedOperation::Refund(None)];
        all.into_iter().filter(|one| self.permits(*one).is_ok()).map(RequestedOperation::verb).collect()
    }

    /// Returns the operation in full, if the payment allows it.
    pub(super) fn permit(&self, requested: RequestedOperation) -> Result<OperationKind, Refusal> {
        let status = self.status();
        let refuse = |verb, allowed| Err(Refusal::NotAllowed { status, verb, allowed });
        if let Some(verb) = self.processing_verb(requested) {
            return Err(Refusal::Busy(verb));
        }
        match requested {
            RequestedOperation::Cancel if self.is_withdrawable() => Ok(OperationKind::Cancel),
            // A payable charge may already exist, or be about to.
            RequestedOperation::Cancel if status == Status::Initial => Err(Refusal::OutcomeUnknown),
            RequestedOperation::Cancel if self.method() == Method::Boleto => {
                refuse("be cancelled", "pending, expired")
            }
            RequestedOperation::Cancel => refuse("be cancelled", "pending, approved"),
            RequestedOperation::Capture(_) if !self.method().can_be_captured() => {
                Err(Refusal::NotCapturable(status))
            }
            // This service captures a card that is charged in one step, unless the acquirer refused that capture.
            RequestedOperation::Capture(_)
                if self.order.captures_at_once() && !self.was_capture_refused() =>
            {
                Err(Refusal::NotCapturable(status))
            }
            RequestedOperation::Capture(_) if status != Status::Approved => refuse("be captured", "approved"),
            RequestedOperation::Capture(amount) => {
                let authorized = self.order.amount;
                let amount = amount.unwrap_or(authorized);
                let fits = Money::ZERO < amount && amount <= authorized;
                fits.then_some(OperationKind::Capture(amount)).ok_or(Refusal::CaptureOutOfBounds(authorized))
            }
            RequestedOperation::Refund(_) if status != Status::Paid => refuse("be refunded", "paid"),
            RequestedOperation::Refund(amount) => {
                let left = self.state.refundable_amount();
                let amount = amount.unwrap_or(left);
                let fits = Money::ZERO < amount && amount <= left;
                fits.then_some(OperationKind::Refund(amount)).ok_or(Refusal::RefundExceedsPaid(left))
            }
        }
    }

    /// Returns true if it can be withdrawn at its acquirer. An expired boleto can still be paid late.
    pub(super) fn is_withdrawable(&self) -> bool {
        match self.state.status {
            Status::Pending | Status::Approved => true,
            Status::Expired => self.order.method == Method::Boleto,
            Status::Initial
            | Status::Declined
            | Status::Refund
            | Status::Chargeback
            | Status::Paid
            | Status::Cancelled => false,
        }
    }

    /// Returns the verb of a cancellation or capture under way that excludes another operation.
    fn processing_verb(&self, requested: RequestedOperation) -> Option<&'static str> {
        let is_refund = |verb: &str| verb == "refund";
        let processing = self.own_operations().filter(|operation| operation.is_processing());
        processing
            .map(|operation| operation.kind.verb())
            .find(|verb| !is_refund(verb) && !is_refund(requested.verb()))
    }

    fn was_capture_refused(&self) -> bool {
        self.own_operations().any(|operation| {
            matches!(operation.kind, OperationKind::Capture(_))
                && operation.state() == OperationState::Refused
        })
    }
}
