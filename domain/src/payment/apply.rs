//! Applying changes that were decided. Never fails.

use std::sync::Arc;

use super::change::OperationChange;
use super::{Change, Check, Payment};
use crate::acquiring::Settlement;
use crate::delivery::{Delivery, DeliveryState};
use crate::event::{Cause, EndedRefund, Event};
use crate::identity::OperationId;
use crate::method::Method;
use crate::numbering::{DeliveryIndex, EventSequence};
use crate::operation::Operation;
use crate::routing::Attempt;
use crate::state::{Refund, RefundStatus};
use crate::status::Status;
use crate::time::Timestamp;

/// Maximum number of other payments' Pix that are kept: the newest ones, so that the document stays bounded.
const MAX_FOREIGN: usize = 64;

impl Payment {
    /// Applies one change. `now` is the time of record; due times are computed from `clock`.
    pub(super) fn apply(&mut self, change: Change, now: Timestamp, clock: Timestamp) {
        match change {
            Change::AttemptStarted { acquirer, inquire_at } => {
                if self.acquirer() != Some(&acquirer) {
                    // These names are the other acquirer's.
                    self.others.clear();
                }
                // A resent charge keeps its number: the first sending may still arrive, and there must be only one
                // slip.
                let last = self.state.attempts.last().filter(|last| last.acquirer == acquirer);
                let our_number = last.and_then(|last| last.our_number);
                self.state_mut().attempts.push(Attempt::sent(acquirer, now, inquire_at, our_number));
            }
            Change::Attempt(change) => {
                if let Some(attempt) = self.state_mut().attempts.last_mut() {
                    attempt.apply(change);
                }
            }
            Change::ReferenceLearnt(number, reference) => {
                let attempts = &mut self.state_mut().attempts;
                if let Some(attempt) = number.index().and_then(|index| attempts.get_mut(index)) {
                    attempt.reference.learn(&reference);
                }
                self.others.retain(|other| !reference.contains(other));
            }
            Change::OtherCharge(reference) => self.others.push(reference),
            Change::PixBound(pix) => self.bind_pix(&pix),
            Change::PixTaken(pix) => self.note_foreign_pix(pix),
            Change::SecondLook(look) => self.second_look = look,
            Change::Inquired => {
                (self.inquired_at, self.hinted) = (Some(clock), false);
                let is_hidden = self.own_operations().any(Operation::may_have_an_effect);
                self.hidden = is_hidden;
            }
            Change::Hinted => self.hinted = true,
            Change::CardForgotten => self.card_fingerprint = None,
            Change::Concluded => self.concluded = true,
            Change::MoneyAwaited(since) => self.concluded_since = Some(since),
            Change::Mismatched => self.mismatches = self.mismatches.saturating_add(1),
            Change::Check(change) => self.check = Check::after(self.check, change),
            Change::Issued(issued) => self.state_mut().issued = Some(Arc::new(issued)),
            Change::Approved(approval) => {
                self.state_mut().authorization_code = Some(approval.authorization_code);
            }
            Change::Settled(settlement) => self.apply_settlement(settlement, clock),
            Change::Cost(amount) => self.state_mut().cost = Some(amount),
            Change::Declined(decline) => self.state_mut().decline = Some(decline),
            Change::StatusChanged { to, reason, cause } => self.apply_status(to, reason, cause, now, clock),
            Change::Captured(amount) => self.state_mut().captured_amount = Some(amount),
            Change::CaptureRefused => self.state_mut().status_reason = Some("capture_refused".into()),
            Change::RefundAdded(refund) => self.state_mut().refunds.push(refund),
            Change::RefundSucceeded(id) => self.with_refund(&id, |refund| {
                refund.status = RefundStatus::Succeeded;
                refund.failure_reason = None;
            }),
            Change::RefundFailed(id, why) => self.with_refund(&id, |refund| {
                refund.status = RefundStatus::Failed;
                refund.failure_reason = Some(why);
            }),
            Change::RefundReported(id, cause) => self.apply_refund_event(&id, cause, now, clock),
            Change::ChargedBack(chargeback) => self.chargebacks.push(chargeback),
            Change::DisputeWon(id, won) => {
                if let Some(chargeback) = self.chargebacks.iter_mut().find(|chargeback| chargeback.id == id) {
                    chargeback.won = Some(won);
                }
            }
            Change::OperationRequested(operation) => self.operations.push(operation),
            Change::Operation(id, change) => {
                // The inquiry and the operation leave together.
                let leaves_too = matches!(change, OperationChange::Sent { .. });
                self.hidden |= leaves_too && self.inquired_at == Some(clock);
                self.apply_to_operation(id, change);
            }
            Change::DeliveryClaimed(index, until) => {
                self.with_delivery(index, |delivery| delivery.next_attempt_at = Some(until));
            }
            Change::DeliveryAttempted(index, attempt, next) => self.with_delivery(index, |delivery| {
                // The receiver's answer time counts, not the time of this write, which may have waited for seconds
                // (decision 32).
                delivery.delivered_at = attempt.is_confirmed().then(|| attempt.ended_at());
                delivery.state = match (attempt.is_confirmed(), next) {
                    (true, _) => DeliveryState::Delivered,
                    (false, Some(_)) => DeliveryState::Pending,
                    (false, None) => DeliveryState::Exhausted,
                };
                delivery.next_attempt_at = next;
                delivery.attempts.push(attempt);
            }),
            Change::ReceiverGone => {
                for delivery in &mut self.outbox {
                    if delivery.state == DeliveryState::Pending {
                        delivery.state = DeliveryState::Exhausted;
                        delivery.next_attempt_at = None;
                    }
                }
            }
            Change::Redelivered(index) => {
                if let Some(sequence) = self.delivery(index).map(|delivery| delivery.sequence) {
                    // Pushed as a new delivery, because outbox indexes are part of the deliveries' ids (decision 7).
                    self.outbox.push(Delivery { repeats: Some(index), ..fresh_delivery(sequence, clock) });
                }
            }
            Change::Reporting(report) => self.reports.push(report),
            Change::ReportsClaimed(until) => {
                for report in &mut self.reports {
                    report.due_at = until;
                }
            }
            Change::Reported(keys) => self.reports.retain(|report| !keys.contains(&report.key())),
        }
    }

    fn apply_settlement(&mut self, settlement: Settlement, clock: Timestamp) {
        let is_boleto = self.method() == Method::Boleto;
        let came = settlement.amount;
        // Fine and interest of a boleto belong to the beneficiary, and are never refunded with the payment.
        let principal = self.order.terms.due().filter(|_| is_boleto).map(|due| {
            let day = settlement.paid_on.unwrap_or_else(|| clock.sao_paulo_date());
            due.principal_of(self.order.amount, came, day)
        });
        if let Some(pix) = &settlement.end_to_end_id {
            self.bind_pix(pix);
        }
        let state = self.state_mut();
        state.captured_amount = Some(principal.unwrap_or(came));
        state.paid_amount = is_boleto.then_some(came);
        state.settlement_id = Some(settlement.id);
        state.end_to_end_id = settlement.end_to_end_id;
        state.paid_on = settlement.paid_on;
    }

    fn apply_status(
        &mut self,
        to: Status,
        reason: Option<String>,
        cause: Cause,
        now: Timestamp,
        clock: Timestamp,
    ) {
        let previous_status = self.state.status;
        let state = self.state_mut();
        state.status = to;
        state.status_reason.clone_from(&reason);
        let moment = match to {
            Status::Paid => Some(&mut state.paid_at),
            Status::Refund => Some(&mut state.refunded_at),
            Status::Chargeback => Some(&mut state.chargeback_at),
            Status::Cancelled => Some(&mut state.cancelled_at),
            Status::Expired => Some(&mut state.expired_at),
            Status::Initial | Status::Pending | Status::Approved | Status::Declined => None,
        };
        if let Some(moment) = moment {
            // The first time is kept: a won dispute makes a payment `paid` again.
            moment.get_or_insert(now);
        }
        let hinted = self.check.filter(|check| check.planned.is_some());
        let scheduled = self.check_after(to, clock);
        self.check = hinted.map(|hinted| Check::kept(hinted, scheduled)).or(scheduled);
        self.push_event(Event { status: to, previous_status, reason, ..self.next_event(cause, now) }, clock);
    }

    /// Adds the event of a refund that ended without a change of status.
    fn apply_refund_event(&mut self, id: &str, cause: Cause, now: Timestamp, clock: Timestamp) {
        let refund = self.state.refunds.iter().find(|refund| refund.id == id).map(EndedRefund::of);
        self.push_event(Event { refund, ..self.next_event(cause, now) }, clock);
    }

    /// Returns the next event, without a change of status.
    fn next_event(&self, cause: Cause, now: Timestamp) -> Event {
        Event {
            sequence: self.history.last().map_or(EventSequence::FIRST, |event| event.sequence.next()),
            status: self.state.status,
            previous_status: self.state.status,
            occurred_at: now,
            reason: None,
            actor: cause,
            refund: None,
            snapshot: None,
        }
    }

    /// Adds an event, with a delivery if the payment has a receiver.
    fn push_event(&mut self, event: Event, clock: Timestamp) {
        let sequence = event.sequence;
        self.history.reserve_exact(1);
        self.history.push(event);
        if self.order.postback_url.is_some() {
            let mut delivery = fresh_delivery(sequence, clock);
            // A receiver that answered 410 (Gone) gets nothing more of this payment.
            if self.receiver_is_gone() {
                delivery.state = DeliveryState::Exhausted;
                delivery.next_attempt_at = None;
            }
            self.outbox.push(delivery);
        }
    }

    /// Returns true if the receiver answered 410 to the latest attempt that got an answer.
    fn receiver_is_gone(&self) -> bool {
        let attempts = self.outbox.iter().flat_map(|delivery| &delivery.attempts);
        // A later time-out proves nothing: only another answer shows that the receiver is back.
        let answered = attempts.filter(|attempt| attempt.status.is_some());
        answered.max_by_key(|attempt| attempt.at).is_some_and(|attempt| attempt.is_gone())
    }

    fn with_refund(&mut self, id: &str, change: impl FnOnce(&mut Refund)) {
        if let Some(refund) = self.state_mut().refunds.iter_mut().find(|refund| refund.id == id) {
            change(refund);
        }
    }

    fn apply_to_operation(&mut self, id: OperationId, change: OperationChange) {
        if let Some(operation) = self.operations.iter_mut().find(|operation| operation.id == id) {
            operation.apply(change);
        }
    }

    fn with_delivery(&mut self, index: DeliveryIndex, change: impl FnOnce(&mut Delivery)) {
        if let Some(delivery) = self.outbox.get_mut(index.place()) {
            change(delivery);
        }
    }

    /// Binds a Pix to the payment.
    fn bind_pix(&mut self, pix: &str) {
        if !self.bound_pix.iter().any(|known| known == pix) {
            self.bound_pix.push(pix.to_owned());
        }
    }

    /// Notes the Pix of another payment.
    fn note_foreign_pix(&mut self, pix: String) {
        self.foreign_pix.push(pix);
        let excess = self.foreign_pix.len().saturating_sub(MAX_FOREIGN);
        self.foreign_pix.drain(..excess);
    }
}

const fn fresh_delivery(sequence: EventSequence, due_at: Timestamp) -> Delivery {
    Delivery {
        sequence,
        state: DeliveryState::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(due_at),
        delivered_at: None,
        repeats: None,
    }
}
