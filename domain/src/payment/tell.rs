//! Deliveries to the merchant: claiming them, and their results.

use super::draft::Draft;
use super::{Change, Effect, Payment, Refusal};
use crate::delivery::{Confirmation, Delivery, DeliveryAttempt, DeliveryState, Lease};
use crate::method::Method;
use crate::numbering::DeliveryIndex;
use crate::status::Status;
use crate::time::Timestamp;
use crate::webhook::schedule;

/// Deliveries that one payment may hold, redeliveries included.
const MAX_DELIVERIES: usize = 200;

/// Time for which a lease must still last for its delivery's confirmation to wait, in milliseconds. It exceeds the wait
/// of a confirmation, if the store is available, by more than the clocks of two nodes may differ.
const CONFIRMED_WITHIN_MS: u64 = 10_000;

/// Time before the end of its lease that remains for storing a confirmation whose wait is over, in milliseconds.
const LEFT_FOR_STORING_MS: u64 = 6_000;

/// Time for which a lease must still last for the next delivery to be sent under it, in milliseconds: that exchange, and
/// storing both outcomes.
const SENT_WITHIN_MS: u64 = schedule::TIME_OUT_MS + 3_000;

/// Longest wait of a confirmation for another write, in milliseconds.
const WAIT_MS: u64 = 4_000;

/// Longest wait of a confirmation while the payer may pay at any moment, in milliseconds.
const WAIT_FOR_PAYER_MS: u64 = 14_000;

/// Consequence of letting a confirmation wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MayWait {
    /// The next delivery, which may be sent now. Until this time the lease of the first waiting delivery covers it.
    pub then: Option<Lease>,
}

impl Payment {
    /// Returns the consequence if a receiver's confirmation may wait for the next write, along with those already
    /// waiting. `None` if it must be stored now. A lease must keep other processes from sending the events again. If
    /// this process dies first, the same events are delivered again, in order.
    pub fn may_wait(&self, waiting: &[Confirmation], new: &Confirmation, now: Timestamp) -> Option<MayWait> {
        // The lease of the first stored delivery keeps others from sending those behind it.
        let leased = self.delivery(waiting.first().unwrap_or(new).delivery)?;
        let lease_ends = leased.next_attempt_at.filter(|at| *at >= now.plus_ms(CONFIRMED_WITHIN_MS))?;
        let is_again = waiting.iter().any(|known| known.delivery == new.delivery);
        let is_known = self.delivery(new.delivery).is_some();
        // A failure is stored immediately: the time of its next attempt must survive this process (decision 32).
        if !new.attempt.is_confirmed() || is_again || !is_known {
            return None;
        }
        let is_open = |index: usize, delivery: &Delivery| {
            let is_confirmed = waiting.iter().chain([new]).any(|known| known.delivery.place() == index);
            delivery.state == DeliveryState::Pending && !is_confirmed
        };
        let mut open = self.outbox.iter().enumerate().filter(|(index, delivery)| is_open(*index, delivery));
        let Some((index, next)) = open.next() else { return Some(MayWait { then: None }) };
        // The lease of a delivery outside the order holds back no other.
        let is_in_order = open.chain([(0, leased), (index, next)]).all(|(_, one)| one.repeats.is_none());
        let is_due = next.next_attempt_at.is_some_and(|at| at <= now) && next.attempts.is_empty();
        let ends_at = lease_ends.minus_ms(SENT_WITHIN_MS);
        let delivery = DeliveryIndex::at(index);
        let may_go = is_in_order && is_due && now < ends_at;
        may_go.then_some(MayWait { then: Some(Lease { delivery, ends_at }) })
    }

    /// Returns true if the payer may pay at any moment, so that another write may come soon.
    pub fn awaits_payer(&self) -> bool {
        self.status() == Status::Pending && self.method() == Method::Pix
    }

    /// Returns the longest time that these confirmations may wait for another write, in milliseconds from now.
    /// `is_long` is true if the wait is for a payer.
    pub fn confirmations_wait_ms(&self, waiting: &[Confirmation], now: Timestamp, is_long: bool) -> u64 {
        let lease_ends = waiting.first().and_then(|first| self.delivery(first.delivery)?.next_attempt_at);
        let left_ms = lease_ends.map_or(0, |at| at.ms_since(now)).saturating_sub(LEFT_FOR_STORING_MS);
        if is_long && self.awaits_payer() { left_ms.clamp(WAIT_MS, WAIT_FOR_PAYER_MS) } else { WAIT_MS }
    }
}

impl Draft {
    /// Claims every delivery that may be sent now, until the end of its lease. `held` are the caller's own leases,
    /// which may still run: no other node relies on them.
    pub(super) fn claim_due_deliveries(&mut self, held: &[Lease]) {
        let now = self.clock();
        let may_go = |index: DeliveryIndex, at: Timestamp| {
            at <= now || held.contains(&Lease { delivery: index, ends_at: at })
        };
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

    /// Handles the end of a delivery attempt. An answer changes nothing if its delivery was settled meanwhile.
    pub(super) fn delivery_answered(&mut self, index: DeliveryIndex, attempt: DeliveryAttempt) {
        let Some(delivery) = self.payment.delivery(index) else { return };
        if delivery.state != DeliveryState::Pending {
            return;
        }
        let made = delivery.attempts.len().saturating_add(1);
        // After a 410 (Gone) no attempt follows, even if the schedule has more.
        let is_over = attempt.is_confirmed() || attempt.is_gone();
        let wait = schedule::wait_ms(made, attempt.retry_after_ms, self.context.dice);
        let next = wait.filter(|_| !is_over).map(|wait| self.clock().plus_ms(wait));
        let is_gone = attempt.is_gone();
        self.make(Change::DeliveryAttempted(index, attempt, next));
        if is_gone {
            self.make(Change::ReceiverGone);
        }
    }

    /// Applies a receiver's confirmation. If another node has already stored the end of the delivery, that result is
    /// kept.
    pub(super) fn confirm(&mut self, Confirmation { delivery, attempt }: &Confirmation) {
        self.delivery_answered(*delivery, attempt.clone());
        self.wait_for_a_reason();
    }

    /// Adds a new delivery of an event for the merchant, outside the order.
    pub(super) fn redeliver(&mut self, index: DeliveryIndex) -> Result<(), Refusal> {
        if self.payment.delivery(index).is_none() {
            return Err(Refusal::NoSuchDelivery);
        }
        if self.payment.outbox.len() >= MAX_DELIVERIES {
            return Err(Refusal::TooManyOperations(MAX_DELIVERIES));
        }
        self.make(Change::Redelivered(index));
        Ok(())
    }
}
