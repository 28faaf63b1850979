//! Acquirers' answers to charges: accepted, unknown, sent again, sent elsewhere, given up.

use super::change::AttemptChange;
use super::decide::Draft;
use super::inquire::{Inquiring, NotFound};
use super::schedule::{WITHHELD_CHECK_WAIT_MS, WITHHELD_WAIT_MS, accepted_wait_ms};
use super::{Change, Discrepancy, DiscrepancyKind};
use crate::acquiring::{CallFailure, ChargeAnswer, Decline, Fact, Reference, Statement};
use crate::event::Cause;
use crate::operation::Operation;
use crate::outbound_call::{CallChange, Progress};
use crate::routing::ChargeEnd;
use crate::status::Status;
use crate::time::Timestamp;

/// Number of charges after which a payment is given up although acquirers are left.
pub(super) const MAX_ATTEMPTS: usize = 8;

/// Reason of a payment that ended because another amount came in.
pub const AMOUNT_MISMATCH: &str = "amount_mismatch";

/// Reason of a payment that ended because its acquirer had no code to pay with.
pub(super) const NO_CODE: &str = "no_code";

/// Reason why a payment ends without an acquirer that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GivenUp {
    /// None is left to be tried.
    NoneAvailable,
    /// The last one explicitly refused to take it.
    Refused,
    /// The card's number is no longer in memory, or too many charges were sent.
    Interrupted,
    /// The acquirer that took it has no code to pay with.
    NoCode,
}

impl GivenUp {
    /// Returns the reason's name in the record.
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
    /// Handles the answer to a charge.
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
                    // The answer to that inquiry may be lost, and with it the answer to an earlier hint.
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
            ChargeAnswer::NotFound | ChargeAnswer::Failed(_) if self.last_outcome_is(Progress::Taken) => {}
            ChargeAnswer::NotFound | ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => {
                self.charge_had_no_effect(GivenUp::NoneAvailable);
            }
            ChargeAnswer::Failed(CallFailure::Unknown(_)) => self.charge_is_unknown(0),
            ChargeAnswer::Failed(CallFailure::Throttled { after_ms }) => self.charge_is_unknown(after_ms),
            ChargeAnswer::Failed(CallFailure::Withheld) => self.charge_withheld(),
        }
    }

    /// Handles the answer to an inquiry about a charge, made at this time.
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
                // Money came, and only its amount is not known: such a charge never expires.
                let has_money = statement.facts.contains(&Fact::AmountUnknown);
                self.accept(attempt, statement);
                if was_asked_again && !self.last_outcome_is_open() {
                    // A hint may have caused the newer inquiry. Its answer may be lost, and nobody waits for it any
                    // more.
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
            // The next inquiry is scheduled already; the hinted change of our charge is still to be learnt.
            ChargeAnswer::Foreign(what) => self.charge_is_foreign(&what),
            ChargeAnswer::Mismatched(what) => self.answer_mismatched(&what),
            ChargeAnswer::NumberTaken(what) => self.number_is_taken(attempt, &what),
            ChargeAnswer::Refused(_) if self.last_outcome_is_open() => {
                self.charge_had_no_effect(GivenUp::Refused);
            }
            ChargeAnswer::NotFound if self.last_outcome_is_open() => self.charge_not_found(inquiring),
            // Acquirers forget charges that were never paid, and never had those without effect.
            ChargeAnswer::Refused(_) | ChargeAnswer::NotFound
                if self.payment.ended_unpaid()
                    || self.last_charge_had_no_effect()
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

    /// Returns true if an inquiry about the present charge was made.
    fn was_asked_about(&self) -> bool {
        let sent_at = self.payment.state.attempts.last().map(|attempt| attempt.at);
        self.payment.inquired_at.is_some() && self.payment.inquired_at >= sent_at
    }

    /// Keeps the hints before this inquiry open, because it had no answer. If the charge itself is answered meanwhile,
    /// that answer may be older than the hint.
    fn keep_hint_without_answer(&mut self) {
        if self.last_outcome_is_open() {
            self.remember_hint();
        } else if self.payment.check.is_none() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Returns true if only sums reveal an operation that may be under way: then they don't reveal what others moved.
    pub(super) fn is_hidden_by_an_operation(&self) -> bool {
        self.context.operates_in_turn && self.payment.own_operations().any(Operation::may_have_an_effect)
    }

    /// Returns true if such an operation may have been under way at the time of the inquiry.
    fn was_hidden_by_an_operation(&self) -> bool {
        self.is_hidden_by_an_operation() || self.context.operates_in_turn && self.payment.hidden
    }

    /// Repeats an inquiry that was hidden by an operation, once there is none.
    pub(super) fn ask_again_what_was_hidden(&mut self) {
        let was_hidden = self.payment.hinted && !self.last_outcome_is_open();
        if self.context.operates_in_turn && was_hidden && !self.is_hidden_by_an_operation() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Schedules an inquiry: the charge may have had an effect, and nothing goes elsewhere meanwhile.
    fn charge_is_unknown(&mut self, at_least_ms: u64) {
        if self.last_outcome_is_open() {
            self.inquire_soon(at_least_ms);
        }
    }

    /// Moves the charge to another acquirer. A charge that is sent again, and that no other acquirer could take, waits
    /// instead: its merchant has known of the payment for long.
    fn charge_withheld(&mut self) {
        let may_go_elsewhere = self.payment.next_acquirer().is_some() && self.can_charge();
        let waits = self.payment.is_sent_again() && !may_go_elsewhere && !self.was_told_by_notice();
        if self.last_outcome_is_open() && waits {
            self.inquire_soon(WITHHELD_WAIT_MS);
        } else {
            self.charge_had_no_effect(GivenUp::NoneAvailable);
        }
    }

    /// Ends the charge, which the acquirer does not have, and sends one to the next acquirer.
    fn charge_had_no_effect(&mut self, if_none_is_left: GivenUp) {
        if self.was_told_by_notice() {
            self.keep_that_notice_was_right();
        } else if self.last_outcome_is_open() {
            let end = match if_none_is_left {
                GivenUp::Refused => ChargeEnd::Declined,
                GivenUp::NoneAvailable | GivenUp::Interrupted | GivenUp::NoCode => ChargeEnd::NotDelivered,
            };
            self.make(Change::Attempt(AttemptChange::Ended(end)));
            self.charge_elsewhere(if_none_is_left);
        }
    }

    /// Handles a refusal. If the acquirer may have the charge already, that may be why it refuses: it is asked.
    fn charge_refused(&mut self, why: String) {
        if self.last_outcome_is_open() && self.payment.is_sent_again() {
            self.charge_call(CallChange::RefusedPerhaps(why));
            self.inquire_soon(0);
        } else {
            self.charge_had_no_effect(GivenUp::Refused);
        }
    }

    /// Notes that the acquirer took the charge and has not said yet what becomes of it.
    fn charge_accepted(&mut self, attempt: u32, reference: Reference) {
        if self.is_of_another_charge(&reference, &[]) {
            self.find_another_charge(&reference);
            return;
        }
        self.count_this_charge(attempt, reference);
        if self.last_outcome_is_open() && !self.last_outcome_is(Progress::Taken) {
            self.charge_call(CallChange::Taken(self.after(accepted_wait_ms(0))));
        }
    }

    /// Handles the answer that people examine the charge. Its outcome is expected to take days.
    fn charge_is_under_review(&mut self, attempt: u32, reference: Reference) {
        self.charge_accepted(attempt, reference);
        let is_new = self.payment.state.attempts.last().is_some_and(|attempt| !attempt.under_review);
        if is_new && self.last_outcome_is_open() {
            self.make(Change::Attempt(AttemptChange::UnderReview));
        }
    }

    /// Handles a complete answer without a code to pay with: the acquirer is asked once more.
    fn charge_has_no_code(&mut self, attempt: u32, reference: Reference) {
        self.charge_accepted(attempt, reference);
        let is_new = self.payment.state.attempts.last().is_some_and(|attempt| !attempt.without_code);
        if is_new && self.last_outcome_is_open() {
            self.make(Change::Attempt(AttemptChange::WithoutCode));
        }
    }

    /// Withdraws a charge that has no code at the second answer either: nobody can pay it.
    fn charge_still_has_no_code(&mut self, attempt: u32, reference: Reference) {
        let was_asked_again = self.payment.state.attempts.last().is_some_and(|attempt| attempt.without_code);
        if !(was_asked_again && self.last_outcome_is_open() && self.payment.status() == Status::Initial) {
            self.charge_has_no_code(attempt, reference);
            return;
        }
        self.learn_reference(attempt, reference);
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::Known)));
        self.give_up(GivenUp::NoCode);
        self.withdraw();
    }

    /// Reports, once, that the acquirer has somebody else's charge under our name. Nothing of the answer is believed.
    fn charge_is_foreign(&mut self, what: &str) {
        let detail = format!("{what}, and the payment is {}", self.payment.status());
        let (kind, about) = (DiscrepancyKind::ForeignCharge, Some("charge".into()));
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
    }

    /// Skips the number of the slip, which is somebody else's at the acquirer: none of ours can be there under it. The
    /// charge is sent again, and gets another number.
    fn number_is_taken(&mut self, attempt: u32, what: &str) {
        let number = self.payment.query_of(attempt).our_number;
        let Some(number) = number.filter(|_| self.last_outcome_is_open() && !self.was_told_by_notice())
        else {
            self.charge_is_foreign(what);
            return;
        };
        let (kind, about) = (DiscrepancyKind::NumberTaken, Some(number.to_string()));
        let detail = format!("number {number}: {what}");
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
        self.make(Change::Attempt(AttemptChange::NumberTaken));
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::NotDelivered)));
        match self.payment.acquirer().cloned() {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) | None => self.give_up(GivenUp::Refused),
        }
    }

    /// Notes an answer about something else. It happens when connections are mixed up; twice for one payment needs a
    /// person.
    fn answer_mismatched(&mut self, what: &str) {
        if self.payment.mismatches > 0 {
            self.contradicted(what, ("an answer about another charge", Some("answers".into())));
        } else {
            self.make(Change::Mismatched);
        }
    }

    /// Treats the outcome as unknown, because the answer is not about the charge. One that is known to be taken stays
    /// so.
    fn charge_is_unclear(&mut self) {
        if !self.last_outcome_is(Progress::Taken) {
            self.charge_is_unknown(0);
        }
    }

    fn is_last_attempt(&self, attempt: u32) -> bool {
        self.payment.is_last_attempt(attempt)
    }

    pub(super) fn last_outcome_is(&self, outcome: Progress<ChargeEnd>) -> bool {
        self.payment.state.attempts.last().is_some_and(|attempt| attempt.call.progress == outcome)
    }

    fn last_charge_had_no_effect(&self) -> bool {
        [ChargeEnd::Declined, ChargeEnd::NotDelivered]
            .map(Progress::Ended)
            .into_iter()
            .any(|end| self.last_outcome_is(end))
    }

    pub(super) fn last_outcome_is_open(&self) -> bool {
        self.payment.state.attempts.last().is_some_and(|attempt| attempt.call.is_open())
    }

    /// Ends a charge that has no money and never will, as a person found out.
    pub(super) fn charge_is_known_to_hold_nothing(&mut self) {
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::NotDelivered)));
        self.give_up(GivenUp::Interrupted);
    }

    /// Returns true if a notice reported the outcome of the last charge before any answer did.
    fn was_told_by_notice(&self) -> bool {
        self.last_outcome_is_open() && self.payment.status() != Status::Initial
    }

    /// Keeps the outcome that the notice reported.
    fn keep_that_notice_was_right(&mut self) {
        // No notice could report a charge without effect. Another charge would charge the payer twice.
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::Known)));
        self.contradicted("the acquirer does not know the payment", ("unknown there", None));
    }

    /// Applies the acquirer's statement about the charge.
    fn accept(&mut self, attempt: u32, statement: Statement) {
        let facts = self.without_foreign_pix(statement.facts);
        let reference = self.without_foreign_names(statement.reference);
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
        // A hint that came while the charge was under way may be newer than this answer.
        let is_to_ask = self.payment.hinted && !self.last_outcome_is_open();
        if is_to_ask && !self.is_hidden_by_an_operation() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Applies one fact. If a payment can't begin with it, the charge stays open and is asked about again.
    fn accept_fact(&mut self, fact: Fact) {
        let stays_open = self.payment.status() == Status::Initial && !can_begin_with(&fact);
        if self.last_outcome_is_open() && !stays_open {
            let was_declined = matches!(fact, Fact::Declined(_));
            let end = if was_declined { ChargeEnd::Declined } else { ChargeEnd::Known };
            self.make(Change::Attempt(AttemptChange::Ended(end)));
        }
        if self.payment.status() == Status::Initial && fact == Fact::Expired {
            // It expired before anybody had a code. From a notice this would only be early: the answer follows it.
            self.become_status(Status::Cancelled, Some("expired_at_acquirer"), Cause::Acquirer);
            return;
        }
        let is_settled = matches!(fact, Fact::Settled(_));
        self.learn_and_keep_discrepancy(fact);
        if self.payment.status() == Status::Initial && is_settled {
            // Another amount came in. The payment can't be paid any more, and the money is reported to an operator.
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

    /// Keeps the effect of a charge that was counted as not delivered: the payer may be charged twice.
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

    /// Handles "not found". The call may still be under way there, so it is believed only when it was answered often
    /// and late enough. Until then the schedule repeats the inquiry.
    fn charge_not_found(&mut self, inquiring: Option<Inquiring>) {
        let Some(attempt) = self.payment.state.attempts.last() else { return };
        let (was_taken, was_refused) = (attempt.call.is_taken(), attempt.call.refusal.is_some());
        match NotFound::judge(&attempt.call, inquiring, 0) {
            NotFound::AskAgainAfter(ms) => {
                self.charge_call(CallChange::NotFound(self.clock().plus_ms(ms)));
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
                // The charge may still arrive after it was sent again or given up.
                self.look_again_later();
                self.send_charge_again();
            }
        }
    }

    /// Sends the charge to the same acquirer again, which never received it.
    fn send_charge_again(&mut self) {
        let acquirer = self.payment.acquirer().cloned();
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::NotDelivered)));
        match acquirer {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) | None => self.give_up(GivenUp::Interrupted),
        }
    }

    /// Returns true if another charge could be sent: a card's number must still be in memory.
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
            // The further acquirer states nothing about the charge: the issuer's decline stays final.
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

    /// Reports to operators that an acquirer's statement contradicts the payment: `stated` in few words, and its
    /// subject.
    pub(super) fn contradicted(&mut self, what: &str, (stated, about): (&'static str, Option<String>)) {
        let detail = format!("{what}, but the payment is {}", self.payment.status());
        let kind = DiscrepancyKind::Contradiction;
        self.discrepancies.push(Discrepancy { kind, detail, stated, about });
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
