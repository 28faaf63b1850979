//! What acquirers answer to charges: accepted, asked for, sent again, sent elsewhere, given up.

use super::change::AttemptChange;
use super::decide::Draft;
use super::inquire::{Inquiring, NotFound};
use super::schedule::{WITHHELD_CHECK_WAIT_MS, WITHHELD_WAIT_MS, accepted_wait_ms};
use super::{Change, Discrepancy, DiscrepancyKind};
use crate::acquiring::{CallFailure, ChargeAnswer, Decline, Fact, Reference, Statement};
use crate::event::Cause;
use crate::operation::Operation;
use crate::routing::AttemptOutcome;
use crate::status::Status;
use crate::time::Timestamp;

/// Charges after which a payment is given up although acquirers are left.
pub(super) const MAX_ATTEMPTS: usize = 8;

/// Why a payment ended that another amount came in for.
pub const AMOUNT_MISMATCH: &str = "amount_mismatch";

/// Why a payment ended whose acquirer had no code to pay with.
pub(super) const NO_CODE: &str = "no_code";

/// Why a payment ends without an acquirer that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GivenUp {
    /// None is left that could be tried.
    NoneAvailable,
    /// The last one explicitly refused to take it.
    Refused,
    /// The card's number is gone from memory, or too many charges were sent.
    Interrupted,
    /// The acquirer that took it has no code to pay with.
    NoCode,
}

impl GivenUp {
    /// As the record spells it.
    const fn reason(self) -> &'static str {
        match self {
            Self::NoneAvailable => "no_acquirer_available",
            Self::Refused => "acquirer_refused",
            Self::Interrupted => "interrupted",
            Self::NoCode => NO_CODE,
        }
    }
}

impl Draft {
    /// The answer to a charge.
    pub(super) fn charge_answered(&mut self, attempt: u32, answer: ChargeAnswer) {
        if !self.is_last_attempt(attempt) {
            self.keep_what_an_earlier_charge_did(attempt, &answer);
            return;
        }
        match answer {
            ChargeAnswer::Known(statement) => {
                let was_asked_about = self.was_asked_about();
                self.accept(attempt, statement);
                if was_asked_about && !self.last_outcome_is_open() {
                    // That question may be lost, and with it what a hint before it told of.
                    self.bring_check_forward(self.clock());
                }
            }
            ChargeAnswer::Accepted(reference) => self.charge_accepted(attempt, reference),
            ChargeAnswer::WithoutCode(reference) => self.charge_has_no_code(attempt, reference),
            ChargeAnswer::Foreign(what) => {
                self.charge_is_foreign(&what);
                self.charge_is_unclear();
            }
            ChargeAnswer::Mismatched(what) => {
                self.answer_mismatched(&what);
                self.charge_is_unclear();
            }
            ChargeAnswer::Refused(why) => self.charge_refused(why),
            // An inquiry learnt meanwhile that the acquirer took it: that the call failed tells nothing any more.
            ChargeAnswer::NotFound | ChargeAnswer::Failed(_)
                if self.last_outcome_is(AttemptOutcome::Registering) => {}
            ChargeAnswer::NotFound | ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => {
                self.charge_had_no_effect(GivenUp::NoneAvailable);
            }
            ChargeAnswer::Failed(CallFailure::Unknown(_)) => self.charge_is_unknown(0),
            ChargeAnswer::Failed(CallFailure::Throttled { after_ms }) => self.charge_is_unknown(after_ms),
            ChargeAnswer::Failed(CallFailure::Withheld) => self.charge_withheld(),
        }
    }

    /// The answer to the question what became of a charge, asked at this time.
    pub(super) fn charge_inquired(
        &mut self,
        (attempt, asked_at): (u32, Option<Timestamp>),
        inquiring: Option<Inquiring>,
        answer: ChargeAnswer,
    ) {
        if !self.is_last_attempt(attempt) {
            self.keep_what_an_earlier_charge_did(attempt, &answer);
            return;
        }
        let is_newest = asked_at.is_some() && asked_at == self.payment.inquired_at;
        let was_asked_again = asked_at.is_some() && !is_newest && self.last_outcome_is_open();
        if matches!(answer, ChargeAnswer::Failed(_)) {
            self.keep_hint_without_answer();
        }
        match answer {
            ChargeAnswer::Known(statement) => {
                self.accept(attempt, statement);
                if was_asked_again && !self.last_outcome_is_open() {
                    // Perhaps because of a hint, whose answer may be lost and is no longer missed.
                    self.bring_check_forward(self.clock());
                }
                self.expire_if_over(asked_at);
                self.check_answered(is_newest);
                if self.was_hidden_by_an_operation() {
                    self.remember_hint();
                }
            }
            ChargeAnswer::Accepted(reference) => {
                self.charge_accepted(attempt, reference);
                self.check_answered(is_newest);
            }
            ChargeAnswer::WithoutCode(reference) => {
                self.charge_still_has_no_code(attempt, reference);
                self.check_answered(is_newest);
            }
            // The next inquiry is scheduled already; what was hinted of our charge is still to be learnt.
            ChargeAnswer::Foreign(what) => self.charge_is_foreign(&what),
            ChargeAnswer::Mismatched(what) => self.answer_mismatched(&what),
            ChargeAnswer::Refused(_) if self.last_outcome_is_open() => {
                self.charge_had_no_effect(GivenUp::Refused);
            }
            ChargeAnswer::NotFound if self.last_outcome_is_open() => self.charge_not_found(inquiring),
            // Acquirers forget what was never paid, and never knew what had no effect.
            ChargeAnswer::Refused(_) | ChargeAnswer::NotFound
                if self.payment.ended_unpaid()
                    || self.last_charge_had_no_effect()
                    || self.payment.is_looked_at_long_after() =>
            {
                self.check_answered(is_newest);
            }
            ChargeAnswer::Refused(_) | ChargeAnswer::NotFound => {
                // The answer to a question from before it was learnt what became of the charge tells nothing.
                let was_a_check = inquiring.is_none() && self.payment.check.is_some();
                // A hint may come sooner than what it is about can be read at the acquirer.
                let may_lag = self.payment.check.is_some_and(|check| check.may_lag());
                if was_a_check && !may_lag {
                    self.contradicted("the acquirer does not know the payment", ("unknown there", None));
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

    /// Whether it was asked what became of the present charge.
    fn was_asked_about(&self) -> bool {
        let sent_at = self.payment.state.attempts.last().map(|attempt| attempt.at);
        self.payment.inquired_at.is_some() && self.payment.inquired_at >= sent_at
    }

    /// What was hinted before the acquirer was asked has no answer. If the charge is answered by itself meanwhile, that may
    /// be from before the hint.
    fn keep_hint_without_answer(&mut self) {
        if self.last_outcome_is_open() {
            self.remember_hint();
        } else if self.payment.check.is_none() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Whether an operation may be under way whose effect only sums tell: what others moved can't be told from it.
    pub(super) fn is_hidden_by_an_operation(&self) -> bool {
        self.context.operates_in_turn && self.payment.own_operations().any(Operation::may_have_an_effect)
    }

    /// Whether one may have been when the acquirer was asked.
    fn was_hidden_by_an_operation(&self) -> bool {
        self.is_hidden_by_an_operation() || self.context.operates_in_turn && self.payment.hidden
    }

    /// What was asked while an operation hid it is asked again once there is none.
    pub(super) fn ask_again_what_was_hidden(&mut self) {
        let was_hidden = self.payment.hinted && !self.last_outcome_is_open();
        if self.context.operates_in_turn && was_hidden && !self.is_hidden_by_an_operation() {
            self.bring_check_forward(self.clock());
        }
    }

    /// It may have had an effect: it is asked for, and nothing goes elsewhere meanwhile.
    fn charge_is_unknown(&mut self, at_least_ms: u64) {
        if self.last_outcome_is_open() {
            self.inquire_soon(at_least_ms);
        }
    }

    /// Another acquirer gets the charge. One that is sent again, and that no other acquirer could take, waits instead:
    /// its merchant knows of the payment since long ago.
    fn charge_withheld(&mut self) {
        let may_go_elsewhere = self.payment.next_acquirer().is_some() && self.can_charge();
        let waits = self.payment.is_sent_again() && !may_go_elsewhere && !self.was_told_by_notice();
        if self.last_outcome_is_open() && waits {
            self.inquire_soon(WITHHELD_WAIT_MS);
        } else {
            self.charge_had_no_effect(GivenUp::NoneAvailable);
        }
    }

    /// The acquirer has no such charge: the next one gets it.
    fn charge_had_no_effect(&mut self, if_none_is_left: GivenUp) {
        if self.was_told_by_notice() {
            self.keep_that_notice_was_right();
        } else if self.last_outcome_is_open() {
            let outcome = match if_none_is_left {
                GivenUp::Refused => AttemptOutcome::Declined,
                GivenUp::NoneAvailable | GivenUp::Interrupted | GivenUp::NoCode => {
                    AttemptOutcome::NotDelivered
                }
            };
            self.make(Change::Attempt(AttemptChange::Ended(outcome)));
            self.charge_elsewhere(if_none_is_left);
        }
    }

    /// The acquirer refused to take it. If it may have taken it before, it may refuse just because of that: it is asked.
    fn charge_refused(&mut self, why: String) {
        if self.last_outcome_is_open() && self.payment.is_sent_again() {
            self.make(Change::Attempt(AttemptChange::Refused(why)));
            self.inquire_soon(0);
        } else {
            self.charge_had_no_effect(GivenUp::Refused);
        }
    }

    /// The acquirer took it and does not say yet what becomes of it.
    fn charge_accepted(&mut self, attempt: u32, reference: Reference) {
        if self.is_of_another_charge(&reference, &[]) {
            self.find_another_charge(&reference);
            return;
        }
        self.count_this_charge(attempt, reference);
        if self.last_outcome_is_open() && !self.last_outcome_is(AttemptOutcome::Registering) {
            let inquire_at = self.after(accepted_wait_ms(0));
            self.make(Change::Attempt(AttemptChange::Registering(inquire_at)));
        }
    }

    /// The acquirer took it and answered in full, without a code to pay with: it is asked once more.
    fn charge_has_no_code(&mut self, attempt: u32, reference: Reference) {
        self.charge_accepted(attempt, reference);
        let is_new = self.payment.state.attempts.last().is_some_and(|attempt| !attempt.without_code);
        if is_new && self.last_outcome_is_open() {
            self.make(Change::Attempt(AttemptChange::WithoutCode));
        }
    }

    /// It was asked once more: nobody can pay what has no code, so it is withdrawn.
    fn charge_still_has_no_code(&mut self, attempt: u32, reference: Reference) {
        let was_asked_again = self.payment.state.attempts.last().is_some_and(|attempt| attempt.without_code);
        if !(was_asked_again && self.last_outcome_is_open() && self.payment.status() == Status::Initial) {
            self.charge_has_no_code(attempt, reference);
            return;
        }
        self.learn_reference(attempt, reference);
        self.make(Change::Attempt(AttemptChange::Ended(AttemptOutcome::Accepted)));
        self.give_up(GivenUp::NoCode);
        self.withdraw();
    }

    /// Under our name of the charge the acquirer has somebody else's. Nothing of that is believed; it is told once.
    fn charge_is_foreign(&mut self, what: &str) {
        let detail = format!("{what}, and the payment is {}", self.payment.status());
        let (kind, about) = (DiscrepancyKind::ForeignCharge, Some("charge".into()));
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
    }

    /// An answer about something else. It happens when connections are mixed up; twice in one payment's life it needs a
    /// person.
    fn answer_mismatched(&mut self, what: &str) {
        if self.payment.mismatches > 0 {
            self.contradicted(what, ("an answer about another charge", Some("answers".into())));
        } else {
            self.make(Change::Mismatched);
        }
    }

    /// The answer tells nothing of the charge. If an inquiry learnt meanwhile that the acquirer took it, that stays.
    fn charge_is_unclear(&mut self) {
        if !self.last_outcome_is(AttemptOutcome::Registering) {
            self.charge_is_unknown(0);
        }
    }

    fn is_last_attempt(&self, attempt: u32) -> bool {
        self.payment.is_last_attempt(attempt)
    }

    pub(super) fn last_outcome_is(&self, outcome: AttemptOutcome) -> bool {
        self.payment.state.attempts.last().is_some_and(|attempt| attempt.outcome == outcome)
    }

    fn last_charge_had_no_effect(&self) -> bool {
        self.last_outcome_is(AttemptOutcome::Declined) || self.last_outcome_is(AttemptOutcome::NotDelivered)
    }

    pub(super) fn last_outcome_is_open(&self) -> bool {
        self.payment.state.attempts.last().is_some_and(|attempt| attempt.outcome.is_open())
    }

    /// The charge has no money and never will, as a person found out.
    pub(super) fn charge_is_known_to_hold_nothing(&mut self) {
        self.make(Change::Attempt(AttemptChange::Ended(AttemptOutcome::NotDelivered)));
        self.give_up(GivenUp::Interrupted);
    }

    /// Whether a notice reported what became of the last charge before any answer did.
    fn was_told_by_notice(&self) -> bool {
        self.last_outcome_is_open() && self.payment.status() != Status::Initial
    }

    /// The charge had an effect, or no notice could tell of it: another one would charge the payer twice.
    fn keep_that_notice_was_right(&mut self) {
        self.make(Change::Attempt(AttemptChange::Ended(AttemptOutcome::Accepted)));
        self.contradicted("the acquirer does not know the payment", ("unknown there", None));
    }

    /// The acquirer states what happened to the charge.
    fn accept(&mut self, attempt: u32, statement: Statement) {
        let Statement { facts, reference } = statement;
        if self.is_of_another_charge(&reference, &facts) {
            self.find_another_charge(&reference);
            return;
        }
        self.count_this_charge(attempt, reference);
        if self.try_further(attempt, &facts) {
            return;
        }
        for fact in facts {
            self.accept_fact(fact);
        }
        // What was hinted while the charge was under way may have come after this answer was given.
        let is_to_ask = self.payment.hinted && !self.last_outcome_is_open();
        if is_to_ask && !self.is_hidden_by_an_operation() {
            self.bring_check_forward(self.clock());
        }
    }

    /// A fact that a payment can't begin with leaves the charge open: it is asked about again, never forgotten.
    fn accept_fact(&mut self, fact: Fact) {
        let stays_open = self.payment.status() == Status::Initial && !can_begin_with(&fact);
        if self.last_outcome_is_open() && !stays_open {
            let was_declined = matches!(fact, Fact::Declined(_));
            let outcome = if was_declined { AttemptOutcome::Declined } else { AttemptOutcome::Accepted };
            self.make(Change::Attempt(AttemptChange::Ended(outcome)));
        }
        if self.payment.status() == Status::Initial && fact == Fact::Expired {
            // Over before anybody had a code to pay with. As a notice it would only be early: the answer follows it.
            self.become_status(Status::Cancelled, Some("expired_at_acquirer"), Cause::Acquirer);
            return;
        }
        let is_settled = matches!(fact, Fact::Settled(_));
        self.learn_and_keep_discrepancy(fact);
        if self.payment.status() == Status::Initial && is_settled {
            // Another amount came in. It can't be paid any more, and an operator knows of the money.
            self.become_status(Status::Cancelled, Some(AMOUNT_MISMATCH), Cause::Acquirer);
        }
    }

    pub(super) fn learn_reference(&mut self, attempt: u32, reference: Reference) {
        let place = usize::try_from(attempt).unwrap_or_default().saturating_sub(1);
        let known = self.payment.state.attempts.get(place).map(|attempt| &attempt.reference);
        if known.is_some_and(|known| !known.contains(&reference)) {
            self.make(Change::ReferenceLearnt(attempt, reference));
        }
    }

    /// A charge that was counted as not delivered had an effect after all: the payer may be charged twice.
    fn keep_what_an_earlier_charge_did(&mut self, attempt: u32, answer: &ChargeAnswer) {
        let ChargeAnswer::Known(statement) = answer else { return };
        let takes_money =
            |fact: &Fact| matches!(fact, Fact::Authorized(_) | Fact::Settled(_) | Fact::SecondCharge(_));
        if statement.facts.iter().any(takes_money) {
            self.learn_reference(attempt, statement.reference.clone());
            self.earlier_charge_was_accepted(attempt);
            self.look_for_earlier_charge(attempt, &statement.reference);
        }
    }

    pub(super) fn earlier_charge_was_accepted(&mut self, attempt: u32) {
        let what = format!("charge {attempt} was accepted although another one followed it");
        self.contradicted(&what, ("accepted", Some(format!("charge {attempt}"))));
    }

    /// The acquirer does not know the charge. The call may still be under way there, so this is believed only when it
    /// was answered often and late enough; until then it is asked again by the schedule.
    fn charge_not_found(&mut self, inquiring: Option<Inquiring>) {
        let Some(attempt) = self.payment.state.attempts.last() else { return };
        let (was_taken, was_refused) =
            (attempt.outcome == AttemptOutcome::Registering, attempt.refusal.is_some());
        match NotFound::judge(attempt.call_is_over, attempt.not_found, inquiring, 0) {
            NotFound::AskAgainAfter(ms) => {
                let again_at = self.clock().plus_ms(ms);
                self.make(Change::Attempt(AttemptChange::NotFound(again_at)));
            }
            NotFound::Believed if was_taken => {
                self.contradicted(
                    "the acquirer took the charge, and does not know it",
                    ("taken, and unknown there", None),
                );
            }
            NotFound::Believed if was_refused => {
                self.look_again_later();
                self.charge_had_no_effect(GivenUp::Refused);
            }
            NotFound::Believed if self.was_told_by_notice() => self.keep_that_notice_was_right(),
            NotFound::Believed => {
                // It may arrive all the same, after it was sent again or given up.
                self.look_again_later();
                self.send_charge_again();
            }
        }
    }

    /// The acquirer never saw the charge: the same one gets it again.
    fn send_charge_again(&mut self) {
        let acquirer = self.payment.acquirer().cloned();
        self.make(Change::Attempt(AttemptChange::Ended(AttemptOutcome::NotDelivered)));
        match acquirer {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) | None => self.give_up(GivenUp::Interrupted),
        }
    }

    /// Whether another charge could be sent: a card's number must still be there.
    pub(super) fn can_charge(&self) -> bool {
        let has_means = self.context.card_at_hand || !self.payment.method().needs_card_number();
        has_means && self.payment.state.attempts.len() < MAX_ATTEMPTS
    }

    /// Sends the first charge, or declines the payment if nobody can take it.
    pub(super) fn charge_first(&mut self) {
        self.charge_elsewhere(GivenUp::NoneAvailable);
    }

    /// Sends the charge to the next acquirer, or declines the payment if none is left.
    fn charge_elsewhere(&mut self, if_none_is_left: GivenUp) {
        match self.payment.next_acquirer() {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) => self.give_up(GivenUp::Interrupted),
            None => self.give_up(if_none_is_left),
        }
    }

    fn give_up(&mut self, why: GivenUp) {
        if let Some(decline) = self.payment.declined_before().cloned() {
            // The further acquirer has nothing to say of it: what the issuer said stays its last word.
            let code = decline.code.clone();
            self.make(Change::Declined(decline));
            self.become_status(Status::Declined, Some(&code), Cause::Acquirer);
            return;
        }
        let is_card = self.payment.method().needs_card_number();
        let (has_decline_code, cause) = match why {
            GivenUp::NoneAvailable | GivenUp::NoCode => (false, Cause::Service),
            GivenUp::Interrupted => (is_card, Cause::Service),
            GivenUp::Refused => (is_card, Cause::Acquirer),
        };
        if has_decline_code {
            self.make(Change::Declined(Decline::of(why.reason())));
        }
        self.become_status(Status::Declined, Some(why.reason()), cause);
    }

    /// An operator has to see that what an acquirer states does not fit: what, in few words, and about what.
    pub(super) fn contradicted(&mut self, what: &str, (stated, about): (&'static str, Option<String>)) {
        let detail = format!("{what}, but the payment is {}", self.payment.status());
        let kind = DiscrepancyKind::Contradiction;
        self.discrepancies.push(Discrepancy { kind, detail, stated, about });
    }
}

/// Whether a payment that is still `initial` becomes something by this fact.
const fn can_begin_with(fact: &Fact) -> bool {
    match fact {
        Fact::Pending { .. } | Fact::Authorized(_) | Fact::Declined(_) => true,
        Fact::Cancelled | Fact::Expired | Fact::Settled(_) => true,
        Fact::Removed { .. } => true,
        Fact::Concluded | Fact::PaidToOthers { .. } => false,
        Fact::Refunded { .. } | Fact::RefundedInTotal { .. } => false,
        Fact::ChargedBack { .. } | Fact::DisputeWon { .. } => false,
        Fact::SecondCharge(_) | Fact::Unclear { .. } | Fact::Hint => false,
    }
}
