//! Answers of acquirers to charges, and to inquiries about them.

use super::change::AttemptChange;
use super::charge::GivenUp;
use super::draft::Draft;
use super::inquire::NotFound;
use super::schedule::{WITHHELD_CHECK_WAIT_MS, WITHHELD_WAIT_MS, accepted_wait_ms};
use super::status_change::AMOUNT_MISMATCH;
use super::{Change, Discrepancy, DiscrepancyKind, Inquiring};
use crate::acquiring::{CallFailure, ChargeAnswer, Fact, Reference, Statement};
use crate::event::Cause;
use crate::numbering::AttemptNumber;
use crate::outbound_call::{CallChange, Progress};
use crate::routing::ChargeEnd;
use crate::status::Status;
use crate::time::Timestamp;

impl Draft {
    /// Handles the answer to a charge.
    pub(super) fn charge_answered(&mut self, attempt: AttemptNumber, answer: ChargeAnswer) {
        // A payment is bound to its last charge: an answer about an earlier one never changes its status.
        if !self.payment.is_last_attempt(attempt) {
            self.keep_what_an_earlier_charge_did(attempt, &answer);
            return;
        }
        match answer {
            ChargeAnswer::Known(statement) => {
                let was_asked_about = self.payment.was_asked_about();
                self.accept(attempt, statement);
                if was_asked_about && !self.payment.last_outcome_is_open() {
                    // The answer to that inquiry may be lost, and an earlier hint may be waiting for it.
                    self.bring_check_forward(self.clock());
                }
            }
            ChargeAnswer::Accepted(reference) => self.charge_accepted(attempt, reference),
            ChargeAnswer::UnderReview(reference) => self.charge_is_under_review(attempt, reference),
            ChargeAnswer::WithoutCode(reference) => self.charge_has_no_code(attempt, reference),
            ChargeAnswer::Foreign(what) => {
                self.charge_is_foreign(&what);
                self.charge_is_unclear();
            }
            ChargeAnswer::Mismatched(what) => {
                self.answer_mismatched(&what);
                self.charge_is_unclear();
            }
            ChargeAnswer::NumberTaken(what) => self.number_is_taken(attempt, &what),
            ChargeAnswer::Refused(why) => self.charge_refused(why),
            // An inquiry found meanwhile that the acquirer took it: the failed call no longer matters.
            ChargeAnswer::NotFound | ChargeAnswer::Failed(_)
                if self.payment.last_outcome_is(Progress::Taken) => {}
            ChargeAnswer::NotFound | ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => {
                self.charge_had_no_effect(GivenUp::NoneAvailable);
            }
            ChargeAnswer::Failed(CallFailure::Unknown(_)) => self.charge_is_unknown(0),
            // A 429 does not prove that no charge was made. Inquire about it, and send it nowhere else meanwhile.
            ChargeAnswer::Failed(CallFailure::Throttled { after_ms }) => self.charge_is_unknown(after_ms),
            // A withheld call is neither a failure nor an attempt: it never left this process.
            ChargeAnswer::Failed(CallFailure::Withheld) => self.charge_withheld(),
        }
    }

    /// Handles the answer to an inquiry about a charge. `asked_at` is the time of the inquiry.
    pub(super) fn charge_inquired(
        &mut self,
        attempt: AttemptNumber,
        asked_at: Option<Timestamp>,
        inquiring: Option<Inquiring>,
        answer: ChargeAnswer,
    ) {
        if !self.payment.is_last_attempt(attempt) {
            if matches!(answer, ChargeAnswer::Failed(_)) {
                self.inquiry_elsewhere_failed(attempt);
            }
            self.keep_what_an_earlier_charge_did(attempt, &answer);
            return;
        }
        let is_newest = asked_at.is_some() && asked_at == self.payment.inquired_at;
        let was_asked_again = asked_at.is_some() && !is_newest && self.payment.last_outcome_is_open();
        if matches!(answer, ChargeAnswer::Failed(_)) {
            self.keep_hint_without_answer();
        }
        match answer {
            ChargeAnswer::Known(statement) => {
                // Money came in and only its amount is unknown, so the charge never expires.
                let has_money = statement.facts.contains(&Fact::AmountUnknown);
                self.accept(attempt, statement);
                if was_asked_again && !self.payment.last_outcome_is_open() {
                    // A hint may have caused the newer inquiry, whose answer may be lost without anyone waiting for it.
                    self.bring_check_forward(self.clock());
                }
                if !has_money {
                    self.expire_if_over(asked_at);
                }
                self.check_answered(is_newest);
                if self.was_hidden_by_an_operation() {
                    self.remember_hint();
                }
            }
            ChargeAnswer::Accepted(reference) => {
                self.charge_accepted(attempt, reference);
                self.check_answered(is_newest);
            }
            ChargeAnswer::UnderReview(reference) => {
                self.charge_is_under_review(attempt, reference);
                self.check_answered(is_newest);
            }
            ChargeAnswer::WithoutCode(reference) => {
                self.charge_still_has_no_code(attempt, reference);
                self.check_answered(is_newest);
            }
            // The next inquiry is already scheduled, and may still reveal the change that was hinted at.
            ChargeAnswer::Foreign(what) => self.charge_is_foreign(&what),
            ChargeAnswer::Mismatched(what) => self.answer_mismatched(&what),
            ChargeAnswer::NumberTaken(what) => self.number_is_taken(attempt, &what),
            ChargeAnswer::Refused(_) if self.payment.last_outcome_is_open() => {
                self.charge_had_no_effect(GivenUp::Refused);
            }
            ChargeAnswer::NotFound if self.payment.last_outcome_is_open() => self.charge_not_found(inquiring),
            // Acquirers forget charges that were never paid, and never knew of those that had no effect.
            ChargeAnswer::Refused(_) | ChargeAnswer::NotFound
                if self.payment.ended_unpaid()
                    || self.payment.last_charge_had_no_effect()
                    || self.payment.is_looked_at_long_after() =>
            {
                self.check_answered(is_newest);
            }
            ChargeAnswer::Refused(_) | ChargeAnswer::NotFound => {
                // An answer to an inquiry from before the outcome of the charge was known proves nothing.
                let was_a_check = inquiring.is_none() && self.payment.check.is_some();
                // A hint may come before the change can be read at the acquirer.
                let may_lag = self.payment.check.is_some_and(|check| check.may_lag());
                if was_a_check && !may_lag {
                    self.contradicted("the acquirer does not know the payment", "unknown there", None);
                    self.check_answered(is_newest);
                }
            }
            ChargeAnswer::Failed(CallFailure::Withheld) => {
                self.charge_inquiry_postponed(WITHHELD_WAIT_MS, WITHHELD_CHECK_WAIT_MS);
            }
            ChargeAnswer::Failed(CallFailure::Throttled { after_ms }) => {
                self.report_throttled_inquiry("charge", inquiring, None);
                self.charge_inquiry_postponed(after_ms, WITHHELD_WAIT_MS);
            }
            // The next inquiry is scheduled already.
            ChargeAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Unknown(_)) => {}
        }
    }

    /// Keeps open the hints received before this inquiry, which got no answer. An answer to the charge itself that
    /// arrives meanwhile may be older than the hint.
    fn keep_hint_without_answer(&mut self) {
        if self.payment.last_outcome_is_open() {
            self.remember_hint();
        } else if self.payment.check.is_none() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Repeats an inquiry that was hidden by an operation, once none is under way.
    pub(super) fn ask_again_what_was_hidden(&mut self) {
        let was_hidden = self.payment.hinted && !self.payment.last_outcome_is_open();
        if self.context.operates_in_turn && was_hidden && !self.is_hidden_by_an_operation() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Schedules an inquiry, because the charge may have had an effect. No other acquirer is tried meanwhile.
    fn charge_is_unknown(&mut self, at_least_ms: u64) {
        if self.payment.last_outcome_is_open() {
            self.inquire_soon(at_least_ms);
        }
    }

    /// Moves a withheld charge to another acquirer. A resent charge that no other acquirer can take waits instead: its
    /// merchant has known of the payment for a long time.
    fn charge_withheld(&mut self) {
        let may_go_elsewhere = self.payment.next_acquirer().is_some() && self.can_charge();
        let waits = self.payment.is_sent_again() && !may_go_elsewhere && !self.payment.was_told_by_notice();
        if self.payment.last_outcome_is_open() && waits {
            self.inquire_soon(WITHHELD_WAIT_MS);
        } else {
            self.charge_had_no_effect(GivenUp::NoneAvailable);
        }
    }

    /// Ends the charge, which the acquirer does not have, and sends one to the next acquirer.
    fn charge_had_no_effect(&mut self, if_none_is_left: GivenUp) {
        if self.payment.was_told_by_notice() {
            self.keep_that_notice_was_right();
        } else if self.payment.last_outcome_is_open() {
            let end = match if_none_is_left {
                GivenUp::Refused => ChargeEnd::Declined,
                GivenUp::NoneAvailable | GivenUp::Interrupted | GivenUp::NoCode => ChargeEnd::NotDelivered,
            };
            if self.payment.is_sent_again() {
                // It is only believed, not known, that an earlier sending had no effect.
                self.look_again_at_this_acquirer();
            }
            self.make(Change::Attempt(AttemptChange::Ended(end)));
            self.charge_elsewhere(if_none_is_left);
        }
    }

    /// Handles a refusal. If the acquirer may already have the charge, that may be why it refuses, so it is asked.
    fn charge_refused(&mut self, why: String) {
        if self.payment.last_outcome_is_open() && self.payment.is_sent_again() {
            self.charge_call(CallChange::RefusedPerhaps(why));
            self.inquire_soon(0);
        } else {
            self.charge_had_no_effect(GivenUp::Refused);
        }
    }

    /// Records that the acquirer accepted the charge without reporting an outcome yet.
    fn charge_accepted(&mut self, attempt: AttemptNumber, reference: Reference) {
        if self.is_of_another_charge(&reference, &[]) {
            self.find_another_charge(&reference);
            return;
        }
        self.count_this_charge(attempt, reference);
        // A repeated answer must not restart the schedule of accepted charges.
        if self.payment.last_outcome_is_open() && !self.payment.last_outcome_is(Progress::Taken) {
            self.charge_call(CallChange::Taken(self.after(accepted_wait_ms(0))));
        }
    }

    /// Handles the answer that the charge is under manual review, which may take days.
    fn charge_is_under_review(&mut self, attempt: AttemptNumber, reference: Reference) {
        self.charge_accepted(attempt, reference);
        let is_new = self.payment.state.attempts.last().is_some_and(|attempt| !attempt.under_review);
        if is_new && self.payment.last_outcome_is_open() {
            self.make(Change::Attempt(AttemptChange::UnderReview));
        }
    }

    /// Handles a complete answer without a code to pay with: the acquirer is asked once more.
    fn charge_has_no_code(&mut self, attempt: AttemptNumber, reference: Reference) {
        self.charge_accepted(attempt, reference);
        let is_new = self.payment.state.attempts.last().is_some_and(|attempt| !attempt.without_code);
        if is_new && self.payment.last_outcome_is_open() {
            self.make(Change::Attempt(AttemptChange::WithoutCode));
        }
    }

    /// Withdraws a charge whose second answer has no code either: nobody can pay it.
    fn charge_still_has_no_code(&mut self, attempt: AttemptNumber, reference: Reference) {
        let was_asked_again = self.payment.state.attempts.last().is_some_and(|attempt| attempt.without_code);
        // A payment that a notice has already moved on is never withdrawn, even if the answer lacks a code.
        if !(was_asked_again
            && self.payment.last_outcome_is_open()
            && self.payment.status() == Status::Initial)
        {
            self.charge_has_no_code(attempt, reference);
            return;
        }
        self.learn_reference(attempt, reference);
        // It ends as known and not as undelivered: the charge exists at the acquirer, and is withdrawn there below.
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::Known)));
        self.give_up(GivenUp::NoCode);
        self.withdraw();
    }

    /// Reports, once, that the acquirer has somebody else's charge under our id. Nothing in the answer is trusted.
    fn charge_is_foreign(&mut self, what: &str) {
        let detail = format!("{what}, and the payment is {}", self.payment.status());
        let kind = DiscrepancyKind::ForeignCharge;
        let about = Some("charge".into());
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
    }

    /// Skips the slip's number, which the acquirer has given to somebody else: no slip of ours can exist under it. The
    /// charge is sent again with another number.
    fn number_is_taken(&mut self, attempt: AttemptNumber, what: &str) {
        let had_no_effect = self.payment.last_charge_had_no_effect();
        let is_open = self.payment.last_outcome_is_open() && !self.payment.was_told_by_notice();
        let number = self.payment.query_of(attempt).our_number;
        let Some(number) = number.filter(|_| is_open || had_no_effect) else {
            self.charge_is_foreign(what);
            return;
        };
        let kind = DiscrepancyKind::NumberTaken;
        let about = Some(number.to_string());
        let detail = format!("number {number}: {what}");
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
        if had_no_effect {
            // It was refused before this answer came, perhaps because of its number.
            return;
        }
        // The number goes first: a next attempt at the same acquirer inherits the number of the one before.
        self.make(Change::Attempt(AttemptChange::NumberTaken));
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::NotDelivered)));
        match self.payment.acquirer().cloned() {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            // `MAX_ATTEMPTS` ends this at a bank where every number is taken.
            Some(_) | None => self.give_up(GivenUp::Refused),
        }
    }

    /// Records an answer about something else, as happens when connections are mixed up. Twice for one payment needs a
    /// person.
    fn answer_mismatched(&mut self, what: &str) {
        if self.payment.mismatches > 0 {
            self.contradicted(what, "an answer about another charge", Some("answers".into()));
        } else {
            self.make(Change::Mismatched);
        }
    }

    /// Treats the outcome as unknown, because the answer is not about the charge. A charge known to be accepted stays
    /// accepted.
    fn charge_is_unclear(&mut self) {
        if !self.payment.last_outcome_is(Progress::Taken) {
            self.charge_is_unknown(0);
        }
    }

    /// Keeps the outcome that the notice reported.
    fn keep_that_notice_was_right(&mut self) {
        // A notice proves that the charge had an effect. Sending another would charge the payer twice.
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::Known)));
        self.contradicted("the acquirer does not know the payment", "unknown there", None);
    }

    /// Applies the acquirer's statement about the charge.
    fn accept(&mut self, attempt: AttemptNumber, statement: Statement) {
        let facts = self.payment.without_foreign_pix(statement.facts);
        let reference = self.payment.without_foreign_names(statement.reference);
        if self.is_of_another_charge(&reference, &facts) {
            self.find_another_charge(&reference);
            return;
        }
        self.count_this_charge(attempt, reference);
        // Before the facts are learnt: a decline that is learnt ends the payment, and then no acquirer may follow.
        if self.try_further(attempt, &facts) {
            return;
        }
        for fact in facts {
            self.accept_fact(fact);
        }
        // A hint that came while the charge was under way may be newer than this answer.
        let is_to_ask = self.payment.hinted && !self.payment.last_outcome_is_open();
        if is_to_ask && !self.is_hidden_by_an_operation() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Applies one fact. If a payment can't begin with it, the charge stays open and is asked about again.
    fn accept_fact(&mut self, fact: Fact) {
        let stays_open = self.payment.status() == Status::Initial && !can_begin_with(&fact);
        if self.payment.last_outcome_is_open() && !stays_open {
            let was_declined = matches!(fact, Fact::Declined(_));
            let end = if was_declined { ChargeEnd::Declined } else { ChargeEnd::Known };
            self.make(Change::Attempt(AttemptChange::Ended(end)));
        }
        if self.payment.status() == Status::Initial && fact == Fact::Expired {
            // It expired before anyone had a code. A notice that says so would merely be early: the answer follows it.
            self.become_status(Status::Cancelled, Some("expired_at_acquirer"), Cause::Acquirer);
            return;
        }
        let is_settled = matches!(fact, Fact::Settled(_));
        self.learn_and_keep_discrepancy(fact);
        if self.payment.status() == Status::Initial && is_settled {
            // A different amount came in. The payment can no longer be paid, and the money is reported to an operator.
            self.become_status(Status::Cancelled, Some(AMOUNT_MISMATCH), Cause::Acquirer);
        }
    }

    /// Keeps the effect of a charge that was counted as not delivered: the payer may be charged twice.
    fn keep_what_an_earlier_charge_did(&mut self, attempt: AttemptNumber, answer: &ChargeAnswer) {
        let acquirer = self.payment.attempt(attempt).map(|attempt| attempt.acquirer.clone());
        if let Some(acquirer) = acquirer.filter(|acquirer| self.payment.has_left(acquirer)) {
            self.learn_of_charge_elsewhere(attempt, acquirer, answer);
            return;
        }
        let ChargeAnswer::Known(statement) = answer else { return };
        // A decline or expiry of an earlier charge was known when the next one began. Only money from it is new.
        let takes_money =
            |fact: &Fact| matches!(fact, Fact::Authorized(_) | Fact::Settled(_) | Fact::SecondCharge(_));
        if statement.facts.iter().any(takes_money) {
            self.learn_reference(attempt, statement.reference.clone());
            self.earlier_charge_was_accepted(attempt);
            self.look_for_earlier_charge(attempt, &statement.reference);
        }
    }

    /// Handles "not found". The call may still be under way there, so it is believed only when it was answered often
    /// and late enough. Until then the schedule repeats the inquiry.
    fn charge_not_found(&mut self, inquiring: Option<Inquiring>) {
        let Some(attempt) = self.payment.state.attempts.last() else { return };
        let was_taken = attempt.call.is_taken();
        let was_refused = attempt.call.refusal.is_some();
        match NotFound::judge(&attempt.call, inquiring, 0) {
            NotFound::AskAgainAfter(ms) => {
                self.charge_call(CallChange::NotFound(self.clock().plus_ms(ms)));
            }
            // An accepted charge is never sent again: the acquirer may still show it later, so a person has to look.
            NotFound::Believed if was_taken => {
                self.contradicted(
                    "the acquirer accepted the charge and now does not know it",
                    "taken, and unknown there",
                    None,
                );
            }
            // The refusal might have meant that the charge already existed. It counts now that the acquirer is known to
            // have none.
            NotFound::Believed if was_refused => {
                self.charge_had_no_effect(GivenUp::Refused);
            }
            NotFound::Believed if self.payment.was_told_by_notice() => self.keep_that_notice_was_right(),
            NotFound::Believed => {
                // The charge may still arrive after it was sent again or given up.
                self.look_again_later();
                self.send_charge_again();
            }
        }
    }
}

/// Returns true if a payment that is still `initial` changes its status by this fact.
const fn can_begin_with(fact: &Fact) -> bool {
    match fact {
        Fact::Pending { .. } | Fact::Authorized(_) | Fact::Declined(_) => true,
        Fact::Cancelled | Fact::Expired | Fact::Settled(_) => true,
        Fact::Removed { .. } => true,
        Fact::Concluded | Fact::PaidToOthers { .. } => false,
        Fact::Refunded { .. } | Fact::RefundedInTotal { .. } => false,
        Fact::ChargedBack { .. } | Fact::DisputeWon { .. } => false,
        Fact::SecondCharge(_) | Fact::Unclear { .. } | Fact::Hint => false,
        Fact::PixCodeMissing | Fact::AmountUnknown | Fact::Cost { .. } => false,
    }
}
