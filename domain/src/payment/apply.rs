//! Making a change that was decided. Cannot fail.

use std::sync::Arc;

use super::{Change, Check, Payment};
use crate::acquiring::Settlement;
use crate::delivery::{Delivery, DeliveryState};
use crate::event::{Cause, Event};
use crate::operation::{Operation, OperationState};
use crate::routing::{Attempt, AttemptOutcome};
use crate::state::State;
use crate::status::Status;
use crate::time::Timestamp;
use uuid::Uuid;

impl Change {
    /// Whether the merchant can see it in the record.
    pub(super) const fn shows(&self) -> bool {
        match self {
            Self::AttemptStarted { .. }
            | Self::AttemptUnknown { .. }
            | Self::AttemptEnded(_)
            | Self::Issued(_)
            | Self::Approved(_)
            | Self::Settled(_)
            | Self::Refused(_)
            | Self::StatusChanged { .. }
            | Self::Captured(_)
            | Self::RefundAdded(_)
            | Self::RefundEnded(..) => true,
            Self::AskScheduled(_)
            | Self::AskWithheld(_)
            | Self::NotFoundCounted { .. }
            | Self::CheckScheduled(_)
            | Self::LookWithheld
            | Self::DisputeLearnt(_)
            | Self::OperationRequested(_)
            | Self::OperationSent(_)
            | Self::OperationScheduled(..)
            | Self::OperationWithheld(..)
            | Self::OperationEnded(..)
            | Self::DeliveryClaimed(..)
            | Self::DeliveryAttempted(..)
            | Self::ReceiverGone
            | Self::Redelivered(_) => false,
        }
    }
}

impl Payment {
    /// Makes one change at this time of record. What comes due with it is due at this time of the clock.
    pub(super) fn apply(&mut self, change: Change, now: Timestamp, clock: Timestamp) {
        match change {
            Change::AttemptStarted { acquirer, ask_at } => self.state_mut().attempts.push(Attempt {
                acquirer,
                outcome: AttemptOutcome::Sent,
                at: now,
                asked: 0,
                ask_at: Some(ask_at),
                call_is_over: false,
                not_found: 0,
            }),
            Change::AttemptUnknown { call_is_over, ask_at } => self.with_last_attempt(|attempt| {
                attempt.outcome = AttemptOutcome::Unknown;
                attempt.ask_at = Some(ask_at);
                attempt.call_is_over |= call_is_over;
                attempt.not_found = 0;
            }),
            Change::NotFoundCounted { ask_at } => self.with_last_attempt(|attempt| {
                attempt.not_found = attempt.not_found.saturating_add(1);
                attempt.ask_at = attempt.ask_at.map(|scheduled| scheduled.min(ask_at));
            }),
            Change::AttemptEnded(outcome) => self.with_last_attempt(|attempt| {
                attempt.outcome = outcome;
                attempt.ask_at = None;
            }),
            Change::AskScheduled(at) => self.with_last_attempt(|attempt| {
                attempt.ask_at = Some(at);
                attempt.asked = attempt.asked.saturating_add(1);
            }),
            Change::AskWithheld(at) => self.with_last_attempt(|attempt| {
                attempt.ask_at = Some(at);
                attempt.asked = attempt.asked.saturating_sub(1);
            }),
            Change::CheckScheduled(at) => {
                let made = self.check.map_or(0, |check| check.made.saturating_add(1));
                self.check = at.map(|at| Check { at, made, withheld: false });
            }
            Change::LookWithheld => self.check.iter_mut().for_each(|check| check.withheld = true),
            Change::Issued(issued) => self.state_mut().issued = Some(Arc::new(issued)),
            Change::Approved(approval) => {
                self.state_mut().authorization_code = Some(approval.authorization_code);
            }
            Change::Settled(settlement) => self.apply_settlement(settlement),
            Change::Refused(code) => self.state_mut().decline_code = Some(code),
            Change::StatusChanged { to, reason, cause } => self.apply_status(to, reason, cause, (now, clock)),
            Change::Captured(amount) => self.state_mut().captured_amount = Some(amount),
            Change::RefundAdded(refund) => self.state_mut().refunds.push(refund),
            Change::RefundEnded(id, status) => {
                for refund in self.state_mut().refunds.iter_mut().filter(|refund| refund.id == id) {
                    refund.status = status;
                }
            }
            Change::DisputeLearnt(id) => self.disputes.push(id),
            Change::OperationRequested(operation) => self.operations.push(operation),
            Change::OperationSent(id) => {
                self.with_operation(id, |operation| operation.sent = operation.sent.saturating_add(1));
            }
            Change::OperationScheduled(id, at) => {
                self.with_operation(id, |operation| operation.send_at = Some(at));
            }
            Change::OperationWithheld(id, at) => self.with_operation(id, |operation| {
                operation.sent = operation.sent.saturating_sub(1);
                operation.send_at = Some(at);
            }),
            Change::OperationEnded(id, refusal) => self.with_operation(id, |operation| {
                operation.state =
                    if refusal.is_none() { OperationState::Done } else { OperationState::Refused };
                operation.refusal = refusal;
                operation.send_at = None;
            }),
            Change::DeliveryClaimed(index, until) => {
                self.with_delivery(index, |delivery| delivery.next_attempt_at = Some(until));
            }
            Change::DeliveryAttempted(index, attempt, next) => self.with_delivery(index, |delivery| {
                delivery.delivered_at = attempt.is_confirmed().then_some(now);
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
                let place = usize::try_from(index).unwrap_or(usize::MAX);
                if let Some(sequence) = self.outbox.get(place).map(|delivery| delivery.sequence) {
                    self.outbox.push(Delivery { repeats: Some(index), ..fresh_delivery(sequence, clock) });
                }
            }
        }
    }

    /// The state, to be changed: the last event keeps what it told of.
    pub(super) fn state_mut(&mut self) -> &mut State {
        if let Some(event) = self.history.last_mut()
            && event.snapshot.is_none()
        {
            event.snapshot = Some(Arc::clone(&self.state));
        }
        Arc::make_mut(&mut self.state)
    }

    fn apply_settlement(&mut self, settlement: Settlement) {
        let state = self.state_mut();
        state.captured_amount = Some(settlement.amount);
        state.settlement_id = Some(settlement.id);
        state.end_to_end_id = settlement.end_to_end_id;
    }

    fn apply_status(
        &mut self,
        to: Status,
        reason: Option<String>,
        cause: Cause,
        (now, clock): (Timestamp, Timestamp),
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
            moment.get_or_insert(now);
        }
        self.check = self.check_after(to, clock);
        let sequence = self.history.last().map_or(1, |event| event.sequence.saturating_add(1));
        self.history.reserve_exact(1);
        self.history.push(Event {
            sequence,
            status: to,
            previous_status,
            occurred_at: now,
            reason,
            actor: cause,
            snapshot: None,
        });
        if self.order.postback_url.is_some() {
            let mut delivery = fresh_delivery(sequence, clock);
            if self.receiver_is_gone() {
                delivery.state = DeliveryState::Exhausted;
                delivery.next_attempt_at = None;
            }
            self.outbox.push(delivery);
        }
    }

    /// Whether the receiver answered 410 to the latest attempt that got an answer.
    fn receiver_is_gone(&self) -> bool {
        let attempts = self.outbox.iter().flat_map(|delivery| &delivery.attempts);
        let answered = attempts.filter(|attempt| attempt.status.is_some());
        answered.max_by_key(|attempt| attempt.at).is_some_and(|attempt| attempt.is_gone())
    }

    fn with_last_attempt(&mut self, change: impl FnOnce(&mut Attempt)) {
        if let Some(attempt) = self.state_mut().attempts.last_mut() {
            change(attempt);
        }
    }

    fn with_operation(&mut self, id: Uuid, change: impl FnOnce(&mut Operation)) {
        if let Some(operation) = self.operations.iter_mut().find(|operation| operation.id == id) {
            change(operation);
        }
    }

    fn with_delivery(&mut self, index: u32, change: impl FnOnce(&mut Delivery)) {
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        if let Some(delivery) = self.outbox.get_mut(place) {
            change(delivery);
        }
    }
}

const fn fresh_delivery(sequence: u32, due_at: Timestamp) -> Delivery {
    Delivery {
        sequence,
        state: DeliveryState::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(due_at),
        delivered_at: None,
        repeats: None,
    }
}
