//! Charges at acquirers that the payment has left.
//!
//! An acquirer that was believed not to have a charge may have it after all: the request arrives minutes later, or was
//! not shown yet. Meanwhile the payment may have moved to another acquirer. So the acquirer that it left is asked until
//! it answers, and any money or limit held there is given back, once. Source: the contract of acquirers, "If a second
//! charge of one payment holds money or is held".

use super::draft::Draft;
use super::schedule::OPEN_FOR_LONG_MS;
use super::second::SecondLook;
use super::{Change, Discrepancy, DiscrepancyKind, Payment};
use crate::acquiring::{ChargeAnswer, Fact, Holding, Issued, Reference, SecondCharge, Settlement, Statement};
use crate::identity::AcquirerName;
use crate::money::Money;
use crate::numbering::AttemptNumber;
use crate::routing::Attempt;
use crate::time::{DAY_MS, Timestamp};

/// Time for which an acquirer that the payment has left is asked about its charge while it gives no answer.
const ASKED_FOR_MS: u64 = 7 * DAY_MS;

impl Payment {
    /// Returns the acquirers that the payment has left although they may still have one of its charges. Each was
    /// believed to have none, and was sent it again.
    pub(super) fn left_in_doubt(&self) -> Vec<AcquirerName> {
        let attempts = &self.state.attempts;
        let mut left: Vec<AcquirerName> = Vec::new();
        for (before, after) in attempts.iter().zip(attempts.iter().skip(1)) {
            let was_sent_again =
                before.acquirer == after.acquirer && Some(&after.acquirer) != self.acquirer();
            if was_sent_again && !left.contains(&after.acquirer) {
                left.push(after.acquirer.clone());
            }
        }
        left
    }

    /// Returns true if this acquirer is one that the payment has left.
    pub(super) fn has_left(&self, acquirer: &AcquirerName) -> bool {
        self.acquirer() != Some(acquirer)
    }

    /// Returns true if the charge with this id is the one that counts.
    fn counts(&self, id: &str) -> bool {
        let is_last = self.state.attempts.last().is_some_and(|last| last.reference.has(id));
        is_last || self.state.settlement_id.as_deref() == Some(id)
    }

    /// Returns true if an operation was begun to give this charge back.
    fn gives_back(&self, acquirer: &AcquirerName, id: &str) -> bool {
        let mut surplus = self.operations.iter().filter_map(|operation| operation.surplus.as_ref());
        surplus.any(|surplus| surplus.acquirer == *acquirer && surplus.id == id)
    }

    /// Returns true if this is the code that the payer has.
    fn shows(&self, issued: &Issued) -> bool {
        self.state.issued.as_deref() == Some(issued)
    }
}

impl Draft {
    /// Handles an answer about a charge from an acquirer that the payment has left.
    pub(super) fn learn_of_charge_elsewhere(
        &mut self,
        attempt: AttemptNumber,
        acquirer: AcquirerName,
        answer: &ChargeAnswer,
    ) {
        match answer {
            ChargeAnswer::Known(statement) if holds_something(&statement.facts) => {
                self.learn_reference(attempt, statement.reference.clone());
                if self.context.is_one_account {
                    // It shows the charge that counts. The payment's current acquirer reports all charges that exist.
                    self.ask_about_last_charge();
                    return;
                }
                if self.payment.last_outcome_is_open() {
                    // It is not known yet which charge counts.
                    self.look_elsewhere_at(&acquirer, self.after(SecondLook::FIRST_STEP_MS));
                    self.report_held_elsewhere(attempt, &acquirer, statement);
                } else {
                    self.give_back_elsewhere(attempt, acquirer, statement);
                }
            }
            ChargeAnswer::Known(statement) if statement.facts.contains(&Fact::AmountUnknown) => {
                self.look_elsewhere_again(acquirer);
            }
            ChargeAnswer::Accepted(_) | ChargeAnswer::UnderReview(_) | ChargeAnswer::WithoutCode(_) => {
                self.look_elsewhere_again(acquirer);
            }
            // A decline or an end was known when the next charge began, or holds nothing. A failed inquiry is repeated
            // by its own handler.
            ChargeAnswer::Known(_)
            | ChargeAnswer::Failed(_)
            | ChargeAnswer::Foreign(_)
            | ChargeAnswer::Mismatched(_)
            | ChargeAnswer::NumberTaken(_)
            | ChargeAnswer::Refused(_)
            | ChargeAnswer::NotFound => {}
        }
    }

    /// Repeats an inquiry that had no answer.
    pub(super) fn inquiry_elsewhere_failed(&mut self, attempt: AttemptNumber) {
        let acquirer = self.payment.attempt(attempt).map(|attempt| attempt.acquirer.clone());
        if let Some(acquirer) = acquirer.filter(|acquirer| self.payment.has_left(acquirer)) {
            self.look_elsewhere_again(acquirer);
        }
    }

    /// Schedules another inquiry within the hour, as long as an answer can be expected. After that a person has to
    /// look.
    fn look_elsewhere_again(&mut self, acquirer: AcquirerName) {
        let sent = self.payment.attempt(self.payment.newest_attempt_at(&acquirer));
        let Some(sent_at) = sent.map(|attempt| attempt.at) else { return };
        if self.payment.second_look.is_some() {
            return;
        }
        if self.clock().ms_since(sent_at) > ASKED_FOR_MS {
            let detail = format!("{acquirer} did not report whether it also has a charge");
            self.outcome_is_unknown(detail, Some(format!("charge at {acquirer}")));
            return;
        }
        let at = self.after(SecondLook::LAST_STEP_MS);
        self.make(Change::SecondLook(Some(SecondLook::last(acquirer, at))));
    }

    /// Schedules a look at this time at an acquirer that the payment has left, unless one is due earlier. It may not
    /// show yet what it hinted at. So scheduled looks are kept, and there is at least one.
    pub(super) fn look_elsewhere_at(&mut self, acquirer: &AcquirerName, at: Timestamp) {
        if self.payment.newest_attempt_at(acquirer) == AttemptNumber::NONE {
            return;
        }
        let later = self.after(SecondLook::FIRST_STEP_MS);
        let look = match self.payment.second_look.clone() {
            Some(known) if known.acquirer == *acquirer && known.at <= at && known.is_followed() => return,
            Some(known) => {
                let scheduled = known.planned.unwrap_or(known.at).max(later);
                let at = at.min(known.at);
                SecondLook { acquirer: acquirer.clone(), at, planned: Some(scheduled), made: known.made }
            }
            None => {
                let planned = Some(later).filter(|planned| *planned > at);
                SecondLook { acquirer: acquirer.clone(), at, planned, made: 0 }
            }
        };
        self.make(Change::SecondLook(Some(look)));
    }

    /// Stores an acquirer's name for its charge if none is known. The payment has left this acquirer.
    pub(super) fn name_charge_elsewhere(&mut self, acquirer: &AcquirerName, charge: &Reference) {
        let number = self.payment.newest_attempt_at(acquirer);
        let is_unnamed = |attempt: &Attempt| attempt.reference == Reference::none();
        if *charge != Reference::none() && self.payment.attempt(number).is_some_and(is_unnamed) {
            self.learn_reference(number, charge.clone());
        }
    }

    /// Reports any money or limit held there if it has been open for long which charge counts. That may never be known,
    /// as when the last acquirer has somebody else's charge, and then only a person ends it.
    fn report_held_elsewhere(
        &mut self,
        attempt: AttemptNumber,
        acquirer: &AcquirerName,
        statement: &Statement,
    ) {
        let sent_at = self.payment.state.attempts.last().map(|last| last.at);
        if sent_at.is_none_or(|sent_at| self.clock().ms_since(sent_at) < OPEN_FOR_LONG_MS) {
            return;
        }
        let facts = &self.payment.without_foreign_pix(statement.facts.clone());
        let held = facts.iter().filter_map(|fact| self.held_by(fact, attempt, facts));
        // A code alone has taken nothing yet.
        let taken: Vec<_> = held.filter(|second| second.holds != Holding::Code).collect();
        for SecondCharge { id, holds, .. } in taken {
            let detail = format!(
                "a charge of the payment at {acquirer}, {id}, {holds}, and is not given back until it is known whether the last charge counts"
            );
            let kind = DiscrepancyKind::SecondCharge;
            self.discrepancies.push(Discrepancy { kind, detail, stated: "", about: Some(id) });
        }
    }

    /// Gives back any money or limit that the charges there hold.
    fn give_back_elsewhere(&mut self, attempt: AttemptNumber, acquirer: AcquirerName, statement: &Statement) {
        let facts = &self.payment.without_foreign_pix(statement.facts.clone());
        if facts.iter().any(is_dispute) {
            // The bank may have given the money back, or be about to.
            self.earlier_charge_was_accepted(attempt);
            return;
        }
        let held: Vec<_> = facts.iter().filter_map(|fact| self.held_by(fact, attempt, facts)).collect();
        for fact in facts {
            if let Fact::Settled(settlement) = fact
                && held.iter().any(|second| second.id == settlement.id && !self.payment.counts(&second.id))
            {
                // The store refuses it if the Pix has paid another payment.
                self.bind_pix_to_give_back(settlement.end_to_end_id.as_ref());
            }
        }
        for second in held {
            // Two configured acquirers may share one account, so both show the charge that counts. A charge that is
            // being given back may look like one that waits for its payer.
            let is_money = matches!(second.holds, Holding::Money { .. });
            let is_begun = !is_money && self.payment.gives_back(&acquirer, &second.id);
            if !self.payment.counts(&second.id) && !is_begun {
                let discrepancy = self.give_back_second(second, acquirer.clone());
                self.discrepancies.push(discrepancy);
            }
        }
    }

    /// Returns the money or limit that the charge there, or one beside it, holds according to this fact.
    fn held_by(&self, fact: &Fact, attempt: AttemptNumber, facts: &[Fact]) -> Option<SecondCharge> {
        match fact {
            Fact::SecondCharge(second) => Some(second.clone()),
            Fact::Settled(settlement) => self.money_left(attempt, settlement, facts),
            Fact::Authorized(_) => {
                let is_held = !facts.iter().any(|fact| is_over(fact) || is_money(fact));
                is_held.then(|| self.charge_there(attempt, Holding::Limit))
            }
            Fact::Pending { issued, .. } => {
                let is_over = facts.iter().any(|fact| is_over(fact) || is_money(fact));
                let is_open = !is_over && !self.payment.shows(issued);
                is_open.then(|| self.charge_there(attempt, Holding::Code))
            }
            Fact::Declined(_) | Fact::Expired | Fact::Cancelled | Fact::Removed { .. } => None,
            Fact::Concluded | Fact::PaidToOthers { .. } | Fact::AmountUnknown => None,
            Fact::Refunded { .. } | Fact::RefundedInTotal { .. } => None,
            Fact::ChargedBack { .. } | Fact::DisputeWon { .. } => None,
            Fact::Unclear { .. } | Fact::PixCodeMissing | Fact::Cost { .. } | Fact::Hint => None,
        }
    }

    /// Returns the money that remains of a settlement there. `None` if all of it was given back.
    fn money_left(
        &self,
        attempt: AttemptNumber,
        settlement: &Settlement,
        facts: &[Fact],
    ) -> Option<SecondCharge> {
        let taken = settlement.amount;
        let went_back = facts.iter().filter_map(|fact| {
            if let Fact::RefundedInTotal { total, .. } = fact {
                Some(*total)
            } else if let Fact::Refunded { refund_id, amount } = fact
                && !self.payment.began(refund_id)
            {
                Some(amount.unwrap_or(taken))
            } else {
                None
            }
        });
        let given_back: Money = went_back.sum();
        let charge = self.charge_there(attempt, Holding::Money { taken, given_back });
        (taken > given_back).then(|| SecondCharge { id: settlement.id.clone(), ..charge })
    }

    /// Returns the id of the charge there: the acquirer's name for it, or our id if the acquirer uses that.
    fn charge_there(&self, attempt: AttemptNumber, holds: Holding) -> SecondCharge {
        let reference =
            self.payment.attempt(attempt).map(|attempt| attempt.reference.clone()).unwrap_or_default();
        let named = self.context.charge_name_there.and_then(|name| reference.get(name));
        let id = named.map_or_else(|| self.payment.id.to_string(), str::to_owned);
        SecondCharge { id, reference, holds }
    }
}

/// Returns true if a charge with these facts may hold money, a limit or a code.
fn holds_something(facts: &[Fact]) -> bool {
    let holds =
        |fact: &Fact| matches!(fact, Fact::Authorized(_) | Fact::Pending { .. } | Fact::SecondCharge(_));
    facts.iter().any(|fact| holds(fact) || is_money(fact))
}

const fn is_money(fact: &Fact) -> bool {
    matches!(fact, Fact::Settled(_))
}

const fn is_dispute(fact: &Fact) -> bool {
    matches!(fact, Fact::ChargedBack { .. } | Fact::DisputeWon { .. })
}

/// Returns true if nothing can be held or paid after this fact.
const fn is_over(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Cancelled | Fact::Removed { .. } | Fact::Expired | Fact::Declined(_) | Fact::Concluded
    )
}
