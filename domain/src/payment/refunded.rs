//! Refunds that the acquirer states: one by one, or as a sum.

use super::change::OperationChange;
use super::draft::Draft;
use super::{Change, Discrepancy, DiscrepancyKind};
use crate::event::Cause;
use crate::money::Money;
use crate::operation::Operation;
use crate::state::{Refund, RefundStatus};
use crate::status::Status;

impl Draft {
    pub(super) fn learn_refunded(&mut self, id: String, amount: Option<Money>) -> Result<(), Discrepancy> {
        // Money given back from another charge is no refund of this payment's own money.
        if self.surplus_was_given_back(&id) {
            return Ok(());
        }
        let state = &self.payment.state;
        match state.refunds.iter().find(|refund| refund.id == id).map(|refund| refund.status) {
            Some(RefundStatus::Succeeded) => {
                self.report_refunds_beside_chargebacks(|refund, _| refund.id == id);
                return Ok(());
            }
            Some(RefundStatus::Processing) => {
                self.end_refund(&id);
                return Ok(());
            }
            Some(RefundStatus::Failed) => return self.learn_refunded_after_all(&id),
            None => {}
        }
        match state.status {
            Status::Paid | Status::Chargeback => {}
            Status::Initial | Status::Pending | Status::Approved | Status::Expired | Status::Cancelled => {
                return Err(self.payment.too_early("refunded", Some(id)));
            }
            Status::Declined | Status::Refund => {
                return Err(self.payment.contradiction("refunded", Some(id)));
            }
        }
        let left = state.refundable_amount();
        let amount = amount.unwrap_or(left);
        let is_under_way = state.refunds.iter().any(|refund| refund.status == RefundStatus::Processing);
        if amount > left && is_under_way {
            // Either the acquirer will refuse the refund under way, or this one was a mistake.
            return Err(self.payment.too_early("refunded", Some(id)));
        }
        if amount > left || amount == Money::ZERO {
            let detail = format!("refund {id} is of {amount}, but {left} is left to refund");
            let kind = DiscrepancyKind::RefundExceedsPaid;
            let about = Some(id);
            return Err(Discrepancy { kind, detail, stated: "", about });
        }
        let status = RefundStatus::Succeeded;
        let refund = Refund { id: id.clone(), amount, status, created_at: self.now(), failure_reason: None };
        self.make(Change::RefundAdded(refund));
        self.refund_succeeded(id, Cause::Acquirer);
        Ok(())
    }

    /// Learns the sum of all refunds. A sum that was read before one of our refunds began may arrive after it ended. So
    /// only the excess over the sum known now was given back by others. While a refund of ours may have moved the sum,
    /// nothing is learnt.
    pub(super) fn learn_refunded_in_total(&mut self, id: String, total: Money) -> Result<(), Discrepancy> {
        let payment = &self.payment;
        let name = self.context.charge_name;
        let known = payment.state.refunded_amount().plus(payment.given_back_after_decline(name));
        // Money given back from another charge moves no sum of this one.
        let may_move_it = |operation: &Operation| {
            operation.may_have_an_effect() && payment.is_about_last_charge(operation, name)
        };
        if total <= known || payment.operations.iter().any(may_move_it) {
            return Ok(());
        }
        self.learn_refunded(id, Some(total.minus(known)))
    }

    /// Learns that a refund was done although the acquirer had refused it. Its amount may have been refunded again
    /// meanwhile.
    fn learn_refunded_after_all(&mut self, id: &str) -> Result<(), Discrepancy> {
        let state = &self.payment.state;
        let left = state.refundable_amount();
        let amount = state.refunds.iter().find(|refund| refund.id == id).map(|refund| refund.amount);
        if amount.is_some_and(|amount| amount > left) {
            let detail =
                format!("refund {id} was done after it had been refused, but only {left} is left to refund");
            let kind = DiscrepancyKind::RefundExceedsPaid;
            let about = Some(id.to_owned());
            return Err(Discrepancy { kind, detail, stated: "after all", about });
        }
        self.end_refund(id);
        Ok(())
    }

    /// Ends a refund as done, because the acquirer states so. If we requested it, it is not sent again.
    fn end_refund(&mut self, id: &str) {
        self.make(Change::RefundSucceeded(id.to_owned()));
        let asked_for = self.payment.operations.iter().find(|operation| operation.id.to_string() == id);
        if let Some(operation) = asked_for.filter(|operation| operation.is_processing()).map(|known| known.id)
        {
            self.make(Change::Operation(operation, OperationChange::Done));
        }
        self.refund_succeeded(id.to_owned(), Cause::Acquirer);
    }

    /// Ends a refund as paid back. The payment becomes `refund` if nothing is left; otherwise the refund has its own
    /// event.
    pub(super) fn refund_succeeded(&mut self, id: String, cause: Cause) {
        let state = &self.payment.state;
        if Some(state.refunded_amount()) == state.captured_amount && state.status.allows(Status::Refund) {
            self.become_status(Status::Refund, None, cause);
        } else {
            self.make(Change::RefundReported(id.clone(), cause));
        }
        self.report_refunds_beside_chargebacks(|refund, _| refund.id == id);
    }
}
