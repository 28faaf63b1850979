//! What acquirers answer to charges: accepted, asked for, sent again, sent elsewhere, given up.

use super::decide::Draft;
use super::due::{CALL_LEASE_MS, WITHHELD_WAIT_MS};
use super::{Change, Oddity};
use crate::acquiring::{CallFailure, ChargeAnswer, Fact};
use crate::event::Cause;
use crate::method::Method;
use crate::routing::AttemptOutcome;
use crate::status::Status;

/// Charges after which a payment is given up although acquirers are left.
const MAX_ATTEMPTS: usize = 8;

/// How often an acquirer has to answer that it does not know a charge until that is believed.
const NOT_FOUND_TIMES: u32 = 2;

/// How long the acquirer must have been asked before the last of these answers: a request that was cut off may still
/// be worked on behind the acquirer's door, and a provider that does not deduplicate would charge twice.
const NOT_FOUND_AFTER_MS: u64 = 20_000;

/// How long after an answer that is not believed yet the acquirer is asked again, at least.
const ASK_AGAIN_MS: u64 = 1_000;

impl Draft {
    /// The answer to a charge.
    pub(super) fn charge_answered(&mut self, attempt: u32, answer: ChargeAnswer) {
        if !self.is_last_attempt(attempt) {
            self.keep_what_an_earlier_charge_did(attempt, &answer);
            return;
        }
        match answer {
            ChargeAnswer::Known(fact) => self.accept(fact),
            ChargeAnswer::NotFound | ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => {
                if self.was_told_by_notice() {
                    self.keep_that_notice_was_right();
                } else if self.last_outcome_is_open() {
                    self.make(Change::AttemptEnded(AttemptOutcome::NotDelivered));
                    self.try_next_acquirer();
                }
            }
            ChargeAnswer::Failed(CallFailure::Unknown(_)) => {
                if self.last_outcome_is_open() {
                    self.ask_soon();
                }
            }
            ChargeAnswer::Failed(CallFailure::Withheld) => self.charge_withheld(),
        }
    }

    /// Another acquirer gets the charge. One that is sent again, and that no other acquirer could take, waits instead:
    /// its merchant was told of the payment long ago.
    fn charge_withheld(&mut self) {
        let may_go_elsewhere = self.payment.next_acquirer().is_some() && self.can_charge();
        if self.was_told_by_notice() {
            self.keep_that_notice_was_right();
        } else if self.last_outcome_is_open() && self.payment.is_sent_again() && !may_go_elsewhere {
            let ask_at = self.clock().plus_ms(WITHHELD_WAIT_MS);
            self.make(Change::AttemptUnknown { call_is_over: true, ask_at });
        } else if self.last_outcome_is_open() {
            self.make(Change::AttemptEnded(AttemptOutcome::NotDelivered));
            self.try_next_acquirer();
        }
    }

    /// The answer to the question what became of a charge.
    pub(super) fn found(&mut self, attempt: u32, asking_for_ms: Option<u64>, answer: ChargeAnswer) {
        if !self.is_last_attempt(attempt) {
            self.keep_what_an_earlier_charge_did(attempt, &answer);
            return;
        }
        match answer {
            ChargeAnswer::Known(fact) => {
                self.accept(fact);
                self.expire_if_over();
                self.late_look_answered();
            }
            ChargeAnswer::NotFound if self.last_outcome_is_open() => {
                self.not_found(asking_for_ms.unwrap_or_default());
            }
            // Acquirers forget what was never paid.
            ChargeAnswer::NotFound if self.payment.ended_unpaid() => self.late_look_answered(),
            ChargeAnswer::NotFound => {
                // The answer to a question from before it was told what became of the charge tells nothing.
                let was_a_look = asking_for_ms.is_none();
                if was_a_look && self.payment.status() == Status::Pending {
                    self.oddity = Some(self.contradiction("the acquirer does not know the payment"));
                }
            }
            ChargeAnswer::Failed(CallFailure::Withheld) => self.question_withheld(),
            // The next question is scheduled already.
            ChargeAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Unknown(_)) => {}
        }
    }

    fn is_last_attempt(&self, attempt: u32) -> bool {
        usize::try_from(attempt).is_ok_and(|attempt| attempt == self.payment.state.attempts.len())
    }

    fn last_outcome_is_open(&self) -> bool {
        self.payment.state.attempts.last().is_some_and(|attempt| attempt.outcome.is_open())
    }

    /// Whether a notice told what became of the last charge before any answer did.
    fn was_told_by_notice(&self) -> bool {
        self.last_outcome_is_open() && self.payment.status() != Status::Initial
    }

    /// The charge had an effect, or no notice could tell of it: another one would charge the payer twice.
    fn keep_that_notice_was_right(&mut self) {
        self.make(Change::AttemptEnded(AttemptOutcome::Accepted));
        self.oddity = Some(self.contradiction("the acquirer does not know the payment"));
    }

    /// A fact that an untold payment can't become leaves the charge open: it is asked for again, never forgotten.
    fn accept(&mut self, fact: Fact) {
        let stays_open = self.payment.status() == Status::Initial && !can_begin_with(&fact);
        if self.last_outcome_is_open() && !stays_open {
            let was_declined = matches!(fact, Fact::Declined { .. });
            let outcome = if was_declined { AttemptOutcome::Declined } else { AttemptOutcome::Accepted };
            self.make(Change::AttemptEnded(outcome));
        }
        if self.payment.status() == Status::Initial && fact == Fact::Expired {
            // Over before anybody had a code to pay with. As a notice it would only be early: the answer follows it.
            self.become_status(Status::Cancelled, Some("expired_at_acquirer"), Cause::Acquirer);
            return;
        }
        let is_settled = matches!(fact, Fact::Settled(_));
        self.learn_and_keep_oddity(fact);
        if self.payment.status() == Status::Initial && is_settled {
            // Another amount came in. It can't be paid any more, and an operator knows of the money.
            self.become_status(Status::Cancelled, Some("amount_mismatch"), Cause::Acquirer);
        }
    }

    /// A charge that was counted as not delivered had an effect after all: the payer may be charged twice.
    fn keep_what_an_earlier_charge_did(&mut self, attempt: u32, answer: &ChargeAnswer) {
        if matches!(answer, ChargeAnswer::Known(Fact::Authorized(_) | Fact::Settled(_))) {
            let what = format!("charge {attempt} was accepted although another one followed it");
            let about = Some(format!("charge {attempt}"));
            self.oddity = Some(Oddity { about, ..self.contradiction(&what) });
        }
    }

    /// The acquirer does not know the charge. The call may still be under way there, so this is believed only when it
    /// was answered often and late enough; until then it is asked again by the schedule.
    fn not_found(&mut self, asking_for_ms: u64) {
        let Some(attempt) = self.payment.state.attempts.last() else { return };
        let may_last_ms = if attempt.call_is_over { 0 } else { CALL_LEASE_MS };
        let early_ms = NOT_FOUND_AFTER_MS.saturating_add(may_last_ms).saturating_sub(asking_for_ms);
        let is_often = attempt.not_found.saturating_add(1) >= NOT_FOUND_TIMES;
        match is_often && early_ms == 0 {
            false => {
                let ask_at = self.clock().plus_ms(early_ms.max(ASK_AGAIN_MS));
                self.make(Change::NotFoundCounted { ask_at });
            }
            true if self.was_told_by_notice() => self.keep_that_notice_was_right(),
            true => self.send_again(),
        }
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
}

/// Whether a payment that is still `initial` becomes something by this fact.
const fn can_begin_with(fact: &Fact) -> bool {
    match fact {
        Fact::Pending { .. } | Fact::Authorized(_) | Fact::Declined { .. } => true,
        Fact::Cancelled | Fact::Expired | Fact::Settled(_) => true,
        Fact::Refunded { .. } | Fact::ChargedBack { .. } | Fact::DisputeWon { .. } => false,
    }
}
