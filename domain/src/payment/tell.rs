//! Deliveries to the merchant: claiming them, and their results.

use super::decide::Draft;
use super::{Change, Effect, Payment, Refusal};
use crate::delivery::{Confirmation, DeliveryAttempt, DeliveryState, Lease};
use crate::time::Timestamp;
use crate::webhook::schedule;

/// Deliveries that one payment may hold, redeliveries included.
const MAX_DELIVERIES: usize = 200;

/// Time for which a lease must still last for its delivery's confirmation to wait, in milliseconds. It exceeds the wait
/// of a confirmation, if the store is available, by more than the clocks of two nodes may differ.
const CONFIRMED_WITHIN_MS: u64 = 10_000;

impl Payment {
    /// Returns true if a receiver's confirmation may wait for the next write. No other delivery may be open, and the
    /// lease must keep others from sending this one again. If the process dies first, the same event is delivered once
    /// more.
    pub fn may_wait(&self, new: &Confirmation, now: Timestamp) -> bool {
        let place = usize::try_from(new.delivery).unwrap_or(usize::MAX);
        let mut open = self.outbox.iter().enumerate();
        let is_last =
            open.all(|(other, delivery)| delivery.state != DeliveryState::Pending || other == place);
        let lease_ends = self.outbox.get(place).and_then(|delivery| delivery.next_attempt_at);
        let is_leased = lease_ends.is_some_and(|at| at >= now.plus_ms(CONFIRMED_WITHIN_MS));
        new.attempt.is_confirmed() && is_last && is_leased
    }
}

impl Draft {
    /// Claims every delivery that may go out now, until the end of its lease. `held` are the caller's own leases, which
    /// may still run: no other node relies on them.
    pub(super) fn claim_due_deliveries(&mut self, held: &[Lease]) {
        let now = self.clock();
        let may_go =
            |index: u32, at: Timestamp| at <= now || held.contains(&Lease { delivery: index, ends_at: at });
        let due: Vec<_> = self
            .payment
            .deliverable()
            .filter(|(index, delivery)| delivery.next_attempt_at.is_some_and(|at| may_go(*index, at)))
            .map(|(index, _)| index)
            .collect();
        for index in due {
            self.make(Change::DeliveryClaimed(index, now.plus_ms(schedule::LEASE_MS)));
            self.effects.push(Effect::Deliver(index));
        }
    }

    /// Handles the end of a delivery attempt. The answer to a delivery that was settled meanwhile changes nothing.
    pub(super) fn delivery_answered(&mut self, index: u32, attempt: DeliveryAttempt) {
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(delivery) = self.payment.outbox.get(place) else { return };
        if delivery.state != DeliveryState::Pending {
            return;
        }
        let made = delivery.attempts.len().saturating_add(1);
        let is_over = attempt.is_confirmed() || attempt.is_gone();
        let wait = schedule::wait_ms(made, attempt.retry_after_ms, self.context.dice);
        let next = wait.filter(|_| !is_over).map(|wait| self.clock().plus_ms(wait));
        let is_gone = attempt.is_gone();
        self.make(Change::DeliveryAttempted(index, attempt, next));
        if is_gone {
            self.make(Change::ReceiverGone);
        }
    }

    /// Applies a receiver's confirmation. If another node has stored the end of the delivery, that one is kept.
    pub(super) fn confirm(&mut self, Confirmation { delivery, attempt }: &Confirmation) {
        self.delivery_answered(*delivery, attempt.clone());
        self.wait_for_a_reason();
    }

    /// Adds a new delivery of an event for the merchant, outside of the order.
    pub(super) fn redeliver(&mut self, index: u32) -> Result<(), Refusal> {
        if usize::try_from(index).is_ok_and(|place| place >= self.payment.outbox.len()) {
            return Err(Refusal::NoSuchDelivery);
        }
        if self.payment.outbox.len() >= MAX_DELIVERIES {
            return Err(Refusal::TooManyOperations(MAX_DELIVERIES));
        }
        self.make(Change::Redelivered(index));
        Ok(())
    }
}
