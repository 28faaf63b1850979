//! Questions about a payment's operations.

use super::Payment;
use super::draft::Draft;
use uuid::Uuid;

use crate::identity::OperationId;
use crate::money::Money;
use crate::operation::{Operation, OperationKind};
use crate::status::Status;

impl Payment {
    /// Returns the operation with this id.
    pub(super) fn operation_of(&self, id: OperationId) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// Returns true if an operation was begun under this id.
    pub(super) fn began(&self, id: &str) -> bool {
        self.operations.iter().any(|operation| operation.id.to_string() == id)
    }

    /// Returns true if this operation is about the payment's own charge.
    pub(super) fn is_own(&self, id: OperationId) -> bool {
        self.operation_of(id).is_some_and(Operation::is_own)
    }

    /// Returns true if an operation must not be sent before this other one has ended: both are about one charge.
    pub(super) fn waits_for(&self, id: OperationId, other: &Operation) -> bool {
        let is_same = self.operation_of(id).is_some_and(|operation| operation.is_about_the_charge_of(other));
        other.id != id && other.is_processing() && is_same
    }

    /// Returns true if a capture of ours may have been done, or may still be.
    pub(super) fn may_have_captured(&self) -> bool {
        let captures = |operation: &Operation| matches!(operation.kind, OperationKind::Capture(_));
        self.own_operations().any(|operation| captures(operation) && operation.may_have_an_effect())
    }

    /// Returns true if money was taken back, and the dispute perhaps won, without a statement that it had come in.
    pub(super) fn was_captured_unheard(&self) -> bool {
        let was_captured = matches!(self.status(), Status::Chargeback | Status::Paid);
        was_captured && self.state.captured_amount.is_none()
    }

    /// Returns the amount that should come in: the amount of the capture under way, or else all of it.
    pub(super) fn expected_settlement(&self) -> Money {
        let processing = |operation: &&Operation| operation.is_processing();
        let captured = self.operations.iter().filter(processing).find_map(|operation| match operation.kind {
            OperationKind::Capture(amount) => Some(amount),
            OperationKind::Cancel | OperationKind::Refund(_) => None,
        });
        captured.unwrap_or(self.order.amount)
    }

    /// Returns true if another operation was sent after this one.
    pub(super) fn was_followed(&self, id: OperationId) -> bool {
        let from_it = self.operations.iter().skip_while(|known| known.id != id);
        let Some(operation) = self.operation_of(id) else { return false };
        from_it.skip(1).any(|next| next.sent > 0 && next.is_about_the_charge_of(operation))
    }

    /// Returns the operation if the acquirer may answer it: one that never left has no answer.
    pub(super) fn awaited(&self, id: OperationId) -> Option<Operation> {
        self.operation_of(id).filter(|operation| operation.is_processing() && operation.sent > 0).cloned()
    }
}

impl Draft {
    /// Returns an id for an operation that nobody requested: one decision may begin several.
    pub(super) fn fresh_operation_id(&self) -> OperationId {
        let id = |number| OperationId::new(Uuid::from_u128(number));
        let mut number = self.context.op.as_u128();
        while self.payment.operation_of(id(number)).is_some() {
            number = number.wrapping_add(1);
        }
        id(number)
    }

    /// Returns true if an operation that only sums reveal may be under way: then sums do not show what others moved.
    pub(super) fn is_hidden_by_an_operation(&self) -> bool {
        self.context.operates_in_turn && self.payment.own_operations().any(Operation::may_have_an_effect)
    }

    /// Returns true if an operation that only sums reveal may have been under way at the time of the inquiry.
    pub(super) fn was_hidden_by_an_operation(&self) -> bool {
        self.is_hidden_by_an_operation() || self.context.operates_in_turn && self.payment.hidden
    }
}
