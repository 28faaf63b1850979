//! What an acquirer states, held against the table.

use super::decide::Draft;
use super::{Change, Oddity, OddityKind};
use crate::acquiring::{CallFailure, ChargeAnswer, Fact, Issued, Settlement};
use crate::event::Cause;
use crate::method::Method;
use crate::money::Money;
use crate::routing::AttemptOutcome;
use crate::state::{Refund, RefundStatus};
use crate::status::Status;
use crate::time::Timestamp;

/// Charges after which a payment is given up although acquirers are left.
const MAX_ATTEMPTS: usize = 8;

impl Draft {
    /// The answer to a charge.
    pub(super) fn charge_answered(&mut self, attempt: u32, answer: ChargeAnswer) {
        if !self.is_last_attempt(attempt) {
            return;
        }
        match answer {
            ChargeAnswer::Known(fact) => self.accept(fact),
            ChargeAnswer::NotFound | ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => {
                if self.last_outcome_is_open() {
                    self.make(Change::AttemptEnded(AttemptOutcome::NotDelivered));
                    self.try_next_acquirer();
                }
            }
            ChargeAnswer::Failed(CallFailure::Unknown(_)) => {
                if self.last_outcome_is_open() {
                    self.make(Change::AttemptEnded(AttemptOutcome::Unknown));
                    if let Some(acquirer) = self.payment.acquirer().cloned() {
                        self.ask(acquirer, 0);
                    }
                }
            }
        }
    }

    /// The answer to the question what became of a charge.
    pub(super) fn found(&mut self, attempt: u32, answer: ChargeAnswer) {
        if !self.is_last_attempt(attempt) {
            return;
        }
        match answer {
            ChargeAnswer::Known(fact) => {
                let waits = matches!(fact, Fact::Pending { .. });
                self.accept(fact);
                if waits {
                    self.expire_if_over();
                }
            }
            ChargeAnswer::NotFound if self.last_outcome_is_open() => self.send_again(),
            ChargeAnswer::NotFound => {
                self.oddity = Some(self.contradiction("the acquirer does not know the payment"));
            }
            // The next question is scheduled already.
            ChargeAnswer::Failed(_) => {}
        }
    }

    fn is_last_attempt(&self, attempt: u32) -> bool {
        usize::try_from(attempt).is_ok_and(|attempt| attempt == self.payment.state.attempts.len())
    }

    fn last_outcome_is_open(&self) -> bool {
        self.payment.state.attempts.last().is_some_and(|attempt| attempt.outcome.is_open())
    }

    fn accept(&mut self, fact: Fact) {
        if self.last_outcome_is_open() {
            let was_declined = matches!(fact, Fact::Declined { .. });
            let outcome = if was_declined { AttemptOutcome::Declined } else { AttemptOutcome::Accepted };
            self.make(Change::AttemptEnded(outcome));
        }
        self.learn_and_keep_oddity(fact);
    }

    /// The acquirer never saw the charge: the same one gets it again.
    fn send_again(&mut self) {
        let acquirer = self.payment.acquirer().cloned();
        self.make(Change::AttemptEnded(AttemptOutcome::NotDelivered));
        match acquirer {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) | None => self.give_up("interrupted"),
        }
    }

    /// Whether another charge could be sent: the card's number must still be there.
    fn can_charge(&self) -> bool {
        let has_means = self.payment.method() != Method::CreditCard || self.context.card_at_hand;
        has_means && self.payment.state.attempts.len() < MAX_ATTEMPTS
    }

    /// Sends the charge to the next acquirer, or declines the payment if none is left.
    pub(super) fn try_next_acquirer(&mut self) {
        match self.payment.next_acquirer() {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) => self.give_up("interrupted"),
            None => self.give_up("no_acquirer_available"),
        }
    }

    fn give_up(&mut self, reason: &str) {
        self.become_status(Status::Declined, Some(reason), Cause::Service);
    }

    /// Learns a fact; what the table refuses is kept for an operator.
    pub(super) fn learn_and_keep_oddity(&mut self, fact: Fact) {
        if let Err(oddity) = self.learn(fact) {
            self.oddity = Some(oddity);
        }
    }

    fn learn(&mut self, fact: Fact) -> Result<(), Oddity> {
        match fact {
            Fact::Pending { issued, news_at } => self.learn_pending(issued, news_at),
            Fact::Authorized(approval) => match self.payment.status() {
                Status::Initial | Status::Pending => {
                    self.make(Change::Approved(approval));
                    self.become_status(Status::Approved, None, Cause::Acquirer);
                    if self.payment.order.captures_at_once() {
                        self.capture_at_once();
                    }
                }
                _ => {}
            },
            Fact::Settled(settlement) => self.learn_settled(settlement)?,
            Fact::Declined { code } => match self.payment.status() {
                Status::Initial | Status::Pending | Status::Approved => {
                    self.make(Change::Refused(code.clone()));
                    self.become_status(Status::Declined, Some(&code), Cause::Acquirer);
                }
                Status::Declined => {}
                _ => return Err(self.contradiction("declined")),
            },
            Fact::Expired => match self.payment.status() {
                Status::Initial => return Err(self.too_early("expired")),
                Status::Pending => self.become_status(Status::Expired, None, Cause::Acquirer),
                _ => {}
            },
            Fact::Cancelled => self.learn_cancelled(Cause::Acquirer)?,
            Fact::Refunded { refund_id, amount } => self.learn_refunded(refund_id, amount)?,
            Fact::ChargedBack => match self.payment.status() {
                Status::Paid | Status::Approved => {
                    self.become_status(Status::Chargeback, None, Cause::Acquirer);
                }
                Status::Chargeback => {}
                Status::Initial | Status::Pending => return Err(self.too_early("charged back")),
                _ => return Err(self.contradiction("charged back")),
            },
            Fact::DisputeWon => match self.payment.status() {
                Status::Chargeback => {
                    self.become_status(Status::Paid, Some("dispute_won"), Cause::Acquirer);
                }
                Status::Paid => {}
                Status::Initial | Status::Pending => return Err(self.too_early("dispute won")),
                _ => return Err(self.contradiction("dispute won")),
            },
        }
        Ok(())
    }

    fn learn_pending(&mut self, issued: Issued, news_at: Option<Timestamp>) {
        if self.payment.state.issued.is_none() {
            self.make(Change::Issued(issued));
        }
        if self.payment.status() == Status::Initial {
            self.become_status(Status::Pending, None, Cause::Acquirer);
            self.schedule_first_check(news_at);
        }
    }

    fn learn_settled(&mut self, settlement: Settlement) -> Result<(), Oddity> {
        let status = self.payment.status();
        if status.allows(Status::Paid) && status != Status::Chargeback {
            let expected = self.payment.order.amount;
            if settlement.amount != expected {
                let detail = format!("{} came in for a payment of {expected}", settlement.amount);
                return Err(Oddity { kind: OddityKind::AmountMismatch, detail });
            }
            if let Some(approval) = settlement.approval.clone().filter(|_| status == Status::Initial) {
                self.make(Change::Approved(approval));
                self.become_status(Status::Approved, None, Cause::Acquirer);
            }
            self.make(Change::Settled(settlement));
            let is_late = matches!(status, Status::Expired | Status::Cancelled);
            self.become_status(Status::Paid, is_late.then_some("late_settlement"), Cause::Acquirer);
            return Ok(());
        }
        if self.payment.state.settlement_id.as_ref() == Some(&settlement.id) {
            return Ok(());
        }
        let kind = match status {
            Status::Declined => OddityKind::PaidAfterDeclined,
            _ => OddityKind::PaidTwice,
        };
        let detail =
            format!("settlement {} of {} for a payment that is {status}", settlement.id, settlement.amount);
        Err(Oddity { kind, detail })
    }

    pub(super) fn learn_cancelled(&mut self, cause: Cause) -> Result<(), Oddity> {
        let status = self.payment.status();
        if status.allows(Status::Cancelled) {
            self.become_status(Status::Cancelled, None, cause);
        } else if status != Status::Cancelled {
            return Err(self.contradiction("cancelled"));
        }
        Ok(())
    }

    fn learn_refunded(&mut self, id: String, amount: Option<Money>) -> Result<(), Oddity> {
        let state = &self.payment.state;
        match state.refunds.iter().find(|refund| refund.id == id).map(|refund| refund.status) {
            Some(RefundStatus::Succeeded) => return Ok(()),
            Some(RefundStatus::Processing | RefundStatus::Failed) => {
                self.make(Change::RefundEnded(id, RefundStatus::Succeeded));
                self.refund_if_all_is_back(Cause::Acquirer);
                return Ok(());
            }
            None => {}
        }
        match state.status {
            Status::Paid | Status::Chargeback => {}
            Status::Initial | Status::Pending | Status::Approved => return Err(self.too_early("refunded")),
            _ => return Err(self.contradiction("refunded")),
        }
        let left = state.refundable_amount();
        let amount = amount.unwrap_or(left);
        if amount > left || amount == Money::ZERO {
            let detail = format!("refund {id} of {amount}, but {left} is left");
            return Err(Oddity { kind: OddityKind::RefundExceedsPaid, detail });
        }
        let status = RefundStatus::Succeeded;
        self.make(Change::RefundAdded(Refund { id, amount, status, created_at: self.now() }));
        self.refund_if_all_is_back(Cause::Acquirer);
        Ok(())
    }

    /// A payment is `refund` when all that came in was given back.
    pub(super) fn refund_if_all_is_back(&mut self, cause: Cause) {
        let state = &self.payment.state;
        if Some(state.refunded_amount()) == state.captured_amount && state.status.allows(Status::Refund) {
            self.become_status(Status::Refund, None, cause);
        }
    }

    /// Changes the status along an edge of the table; anything else would be a defect and changes nothing.
    pub(super) fn become_status(&mut self, to: Status, reason: Option<&str>, cause: Cause) {
        if self.payment.status().allows(to) {
            self.make(Change::StatusChanged { to, reason: reason.map(String::from), cause });
        }
    }

    fn too_early(&self, what: &str) -> Oddity {
        let detail = format!("{what}, but the payment is still {}", self.payment.status());
        Oddity { kind: OddityKind::TooEarly, detail }
    }

    pub(super) fn contradiction(&self, what: &str) -> Oddity {
        let detail = format!("{what}, but the payment is {}", self.payment.status());
        Oddity { kind: OddityKind::Contradiction, detail }
    }
}
