//! Acquirers' facts, checked against the table of statuses.

use chrono::NaiveDate;

use super::draft::Draft;
use super::status_change::{AMOUNT_MISMATCH, AUTHORIZATION_EXPIRED, REMOVED_AT_BANK, REMOVED_BY_PSP};
use super::{Change, Discrepancy, DiscrepancyKind, Payment};
use crate::acquiring::{Approval, Decline, Fact, Issued, Reference, RemovedBy, Settlement};
use crate::due_terms::{InterestSince, Paid};
use crate::event::Cause;
use crate::identity::AcquirerName;
use crate::money::Money;
use crate::operation::{Operation, OperationKind, OperationState};
use crate::outbound_call::Progress;
use crate::routing::ChargeEnd;
use crate::status::Status;
use crate::time::Timestamp;

impl Payment {
    /// Returns true if the acquirer itself stated that the charge was withdrawn there.
    fn was_withdrawn_there(&self) -> bool {
        let is_its_word = self.history.last().is_some_and(|event| event.actor == Cause::Acquirer);
        let reason = self.state.status_reason.as_deref();
        is_its_word && matches!(reason, None | Some(REMOVED_AT_BANK | REMOVED_BY_PSP))
    }

    /// Returns true if an approved card was captured at the acquirer by others, perhaps in part: none of our captures
    /// explains it. The approval may be reported together with the capture, if the charge's outcome was unknown before.
    fn was_captured_by_others(&self, settlement: &Settlement) -> bool {
        let waits_for_capture = match self.status() {
            Status::Approved => true,
            Status::Initial => settlement.approval.is_some(),
            // The money was disputed before its capture was reported.
            Status::Chargeback | Status::Paid => self.was_captured_unheard(),
            Status::Pending | Status::Declined | Status::Refund | Status::Expired | Status::Cancelled => {
                false
            }
        };
        // A capture takes part or all of the authorised amount. Any other amount is left to a person.
        waits_for_capture
            && self.method().can_be_captured()
            && (Money::from_cents(1)..=self.order.amount).contains(&settlement.amount)
            && !self.may_have_captured()
    }
}

impl Draft {
    /// Handles an acquirer's notice. It is binding only for the charge there: a notice from the acquirer of an earlier
    /// charge can't end the current one.
    pub(super) fn notified(&mut self, acquirer: &AcquirerName, fact: Fact) {
        if fact == Fact::Hint {
            self.hinted(acquirer, &Reference::none());
            return;
        }
        let Some(fact) = self.payment.without_foreign_pix(vec![fact]).pop() else { return };
        if self.payment.acquirer() == Some(acquirer) || self.context.is_one_account {
            let known = self.discrepancies.len();
            self.learn_and_keep_discrepancy(fact);
            let is_early = |discrepancy: &Discrepancy| discrepancy.kind == DiscrepancyKind::TooEarly;
            // The fact that must come first may be money that was never reported. An answer to an inquiry is no reason
            // to ask again.
            if self.payment.check.is_some() && self.discrepancies.iter().skip(known).any(is_early) {
                self.bring_check_forward(self.clock());
            }
            return;
        }
        // A notice names its acquirer but not the number of the charge: it means the newest one there.
        let number = self.payment.newest_attempt_at(acquirer);
        match fact {
            Fact::Authorized(_) | Fact::Settled(_) | Fact::SecondCharge(_) => {
                self.earlier_charge_was_accepted(number);
                // The answer will show what has to be given back.
                self.look_elsewhere_at(acquirer, self.clock());
            }
            Fact::Refunded { refund_id: id, .. }
            | Fact::RefundedInTotal { refund_id: id, .. }
            | Fact::ChargedBack { id, .. }
            | Fact::DisputeWon { id, .. } => {
                let what = format!("money of charge {number} was moved although another one followed it");
                self.contradicted(&what, "moved", Some(id));
            }
            // The charge is already known to be over.
            Fact::Pending { .. } | Fact::Declined(_) | Fact::Expired | Fact::Cancelled => {}
            Fact::Removed { .. } | Fact::Concluded | Fact::Hint => {}
            Fact::PixCodeMissing | Fact::AmountUnknown | Fact::Cost { .. } => {}
            Fact::Unclear { .. } | Fact::PaidToOthers { .. } => self.learn_and_keep_discrepancy(fact),
        }
    }

    /// Learns a fact, and keeps it for an operator if the table refuses it.
    pub(super) fn learn_and_keep_discrepancy(&mut self, fact: Fact) {
        if let Err(discrepancy) = self.learn(fact) {
            self.discrepancies.push(discrepancy);
        }
    }

    pub(super) fn learn(&mut self, fact: Fact) -> Result<(), Discrepancy> {
        match fact {
            Fact::Pending { issued, news_at } => self.learn_pending(issued, news_at),
            Fact::Authorized(approval) => self.learn_authorized(approval)?,
            Fact::Settled(settlement) => self.learn_settled(settlement)?,
            Fact::Declined(decline) => self.learn_declined(decline)?,
            Fact::Expired => self.learn_expired()?,
            Fact::Cancelled => self.learn_cancelled(Cause::Acquirer)?,
            Fact::Removed { by } => self.learn_removed(by)?,
            Fact::Concluded => self.learn_concluded()?,
            Fact::PaidToOthers { id } => {
                let detail =
                    format!("{id} was paid to another key, and the payment is {}", self.payment.status());
                let kind = DiscrepancyKind::ForeignCharge;
                let about = Some(id);
                return Err(Discrepancy { kind, detail, stated: "", about });
            }
            Fact::Refunded { refund_id, amount } => self.learn_refunded(refund_id, amount)?,
            Fact::RefundedInTotal { refund_id, total } => self.learn_refunded_in_total(refund_id, total)?,
            Fact::ChargedBack { id, amount } => self.learn_charged_back(id, amount)?,
            Fact::DisputeWon { id, chargeback_id } => self.learn_dispute_won(id, chargeback_id)?,
            Fact::SecondCharge(second) => self.learn_second_charge(second)?,
            Fact::PixCodeMissing => {
                let detail =
                    "the boleto was registered without a PIX code; it can be paid by its bar code".to_owned();
                let kind = DiscrepancyKind::PixCodeMissing;
                let about = Some("code".into());
                return Err(Discrepancy { kind, detail, stated: "", about });
            }
            Fact::AmountUnknown => self.learn_amount_unknown()?,
            Fact::Cost { amount } => self.learn_cost(amount),
            // A hint states nothing.
            Fact::Hint => {}
            Fact::Unclear { id, text } => {
                let detail = format!("{text}, and the payment is {}", self.payment.status());
                let kind = DiscrepancyKind::Contradiction;
                let about = Some(id);
                return Err(Discrepancy { kind, detail, stated: "not understood", about });
            }
        }
        Ok(())
    }

    fn learn_authorized(&mut self, approval: Approval) -> Result<(), Discrepancy> {
        let status = self.payment.status();
        if status.allows(Status::Approved) {
            self.make(Change::Approved(approval));
            self.become_status(Status::Approved, None, Cause::Acquirer);
            self.schedule_reading_of_approved();
            if self.payment.order.captures_at_once() {
                self.capture_at_once();
            }
            return Ok(());
        }
        match status {
            // The authorisation came first, but the report of its withdrawal overtook it.
            Status::Cancelled if self.payment.was_withdrawn_there() => Ok(()),
            Status::Declined | Status::Expired | Status::Cancelled
                if self.payment.was_never_approved() || !self.payment.method().can_be_captured() =>
            {
                Err(self.late_authorization(&approval))
            }
            // The authorisation is known: this repeats it.
            Status::Declined
            | Status::Expired
            | Status::Cancelled
            | Status::Initial
            | Status::Pending
            | Status::Approved
            | Status::Paid
            | Status::Refund
            | Status::Chargeback => Ok(()),
        }
    }

    /// Handles the approval of a payment that had been given up. Nobody will capture it, so the card's limit is
    /// released, once. If another amount had come in, nothing is released: an operator has to give that money back.
    fn late_authorization(&mut self, approval: &Approval) -> Discrepancy {
        let status = self.payment.status();
        let ended_at = self.payment.history.last().map(|event| event.occurred_at);
        let is_void = |operation: &Operation| {
            operation.kind == OperationKind::Cancel && Some(operation.requested_at) >= ended_at
        };
        let was_voided = self.payment.own_operations().any(is_void);
        let has_odd_money = self.payment.state.status_reason.as_deref() == Some(AMOUNT_MISMATCH);
        if self.payment.was_never_approved() && !was_voided && !has_odd_money {
            self.withdraw();
        }
        // An acquirer that reverses its own decline is not the same as one that answers late.
        let was_declined_there = self.payment.last_outcome_is(Progress::Ended(ChargeEnd::Declined));
        let kind = if was_declined_there {
            DiscrepancyKind::PaidAfterDecline
        } else {
            DiscrepancyKind::LateAuthorization
        };
        Discrepancy {
            kind,
            detail: format!(
                "authorised with code {}, but the payment is {status}",
                approval.authorization_code
            ),
            stated: "",
            about: Some(approval.authorization_code.clone()),
        }
    }

    fn learn_declined(&mut self, decline: Decline) -> Result<(), Discrepancy> {
        let status = self.payment.status();
        if status.allows(Status::Declined) {
            let code = decline.code.clone();
            self.make(Change::Declined(decline));
            self.become_status(Status::Declined, Some(&code), Cause::Acquirer);
        } else if status != Status::Declined {
            return Err(self.payment.contradiction("declined", None));
        }
        Ok(())
    }

    /// Learns an expiry. It changes nothing if the money came in or the payment has ended. Nor does it during the grace
    /// period: the inquiry after it shows whether the charge was paid in time.
    fn learn_expired(&mut self) -> Result<(), Discrepancy> {
        if self.payment.status() == Status::Initial {
            return Err(self.payment.too_early("expired", None));
        }
        if self.payment.status() == Status::Approved {
            // Only cards hold a limit. It is no longer held, and nobody will capture it.
            if !self.payment.method().can_be_captured() {
                return Err(self.payment.contradiction("expired", None));
            }
            self.become_status(Status::Declined, Some(AUTHORIZATION_EXPIRED), Cause::Acquirer);
        }
        let may_be_paid = self.payment.may_have_been_paid_in_time(self.clock()) || self.awaits_money();
        if !self.payment.concluded && !may_be_paid {
            self.become_status(Status::Expired, None, Cause::Acquirer);
        }
        Ok(())
    }

    /// Learns that the acquirer takes no more money for the charge. If it has another amount than requested, the
    /// payment can no longer be paid. It then waits for a person, who alone may decide about the money. If it shows no
    /// money at all, that may come later, and is looked for once more after a day.
    fn learn_concluded(&mut self) -> Result<(), Discrepancy> {
        match self.payment.status() {
            Status::Pending | Status::Expired | Status::Cancelled => {}
            // If nothing was stated before, inquiries continue. If the money came in, it is already known.
            Status::Initial
            | Status::Approved
            | Status::Declined
            | Status::Refund
            | Status::Chargeback
            | Status::Paid => return Ok(()),
        }
        let is_odd = |known: &Discrepancy| {
            matches!(known.kind, DiscrepancyKind::AmountMismatch | DiscrepancyKind::ForeignCharge)
        };
        let has_odd_money = self.discrepancies.iter().any(is_odd);
        if !self.payment.concluded && !has_odd_money && self.money_may_lag() {
            return Ok(());
        }
        if !self.payment.concluded {
            self.make(Change::Concluded);
        }
        // A check that a hint brought forward stays: only its answer may end it.
        if let Some(check) = self.payment.check.filter(|check| check.planned.is_none()) {
            let look = self.payment.look_for_concluded_money(self.clock()).filter(|_| !has_odd_money);
            self.reschedule(check, look);
        }
        let is_mismatch = |known: &Discrepancy| known.kind == DiscrepancyKind::AmountMismatch;
        if self.discrepancies.iter().any(is_mismatch) {
            return Ok(());
        }
        let asked = self.payment.order.amount;
        Err(Discrepancy {
            kind: DiscrepancyKind::AmountMismatch,
            detail: format!(
                "the acquirer accepts no more money for a payment of {asked}, but shows none that came in"
            ),
            stated: "",
            about: Some("concluded".into()),
        })
    }

    /// Returns true if a concluded charge may not show its money yet. The acquirer is asked about it soon and often.
    fn money_may_lag(&mut self) -> bool {
        let now = self.clock();
        if self.payment.concluded_since.is_none() {
            self.make(Change::MoneyAwaited(now));
            self.bring_check_forward(now.plus_ms(self.context.hint_gap_ms));
        }
        self.payment.money_awaited_until().is_some_and(|until| now < until)
    }

    /// Learns the cost of the payment. A payment that was never paid has none.
    fn learn_cost(&mut self, amount: Money) {
        let state = &self.payment.state;
        if state.paid_at.is_some() && state.cost != Some(amount) {
            self.make(Change::Cost(amount));
        }
    }

    /// Learns that money came in, without its amount. The acquirer is asked once more; then a person has to look.
    fn learn_amount_unknown(&mut self) -> Result<(), Discrepancy> {
        match self.payment.status() {
            // Amounts besides the known money are reported one by one.
            Status::Paid | Status::Refund | Status::Chargeback => return Ok(()),
            Status::Initial
            | Status::Pending
            | Status::Approved
            | Status::Declined
            | Status::Expired
            | Status::Cancelled => {}
        }
        if self.payment.mismatches == 0 {
            self.make(Change::Mismatched);
            self.bring_check_forward(self.clock().plus_ms(self.context.hint_gap_ms));
            return Ok(());
        }
        let detail = format!(
            "the answer does not state how much money came in for a payment of {}; the payment is {}",
            self.payment.order.amount,
            self.payment.status()
        );
        let kind = DiscrepancyKind::AmountUnknown;
        let about = Some("settlement".into());
        Err(Discrepancy { kind, detail, stated: "", about })
    }

    fn learn_pending(&mut self, issued: Issued, news_at: Option<Timestamp>) {
        // A payment that was given up must not be paid.
        let is_declined = self.payment.status() == Status::Declined;
        if self.payment.state.issued.is_none() && !is_declined {
            self.make(Change::Issued(issued));
        }
        if self.payment.status() == Status::Initial {
            self.become_status(Status::Pending, None, Cause::Acquirer);
            self.schedule_first_check(news_at);
        }
    }

    fn learn_settled(&mut self, settlement: Settlement) -> Result<(), Discrepancy> {
        let status = self.payment.status();
        // The edge from `chargeback` to `paid` belongs to won disputes alone: a settlement ends no dispute.
        if status.allows(Status::Paid) && status != Status::Chargeback {
            let came = self.compare_with_owed(&settlement);
            if came != Paid::Right && !self.payment.was_captured_by_others(&settlement) {
                let discrepancy = self.another_amount(&settlement, came);
                if discrepancy.kind == DiscrepancyKind::AmountMismatch {
                    self.note_stray_pix(&settlement);
                    return Err(discrepancy);
                }
                self.discrepancies.push(discrepancy);
            }
            // Both events go into one write. Receivers see `approved` before `paid`, as with a separate capture.
            if let Some(approval) = settlement.approval.clone().filter(|_| status == Status::Initial) {
                self.make(Change::Approved(approval));
                self.become_status(Status::Approved, None, Cause::Acquirer);
            }
            self.make(Change::Settled(settlement));
            let is_late = matches!(status, Status::Expired | Status::Cancelled);
            self.become_status(Status::Paid, is_late.then_some("late_settlement"), Cause::Acquirer);
            return Ok(());
        }
        let state = &self.payment.state;
        // A notice and an answer may state the same settlement. Its id makes repetitions harmless.
        if state.settlement_id.as_ref() == Some(&settlement.id) {
            return Ok(());
        }
        // A dispute may overtake the answer to a capture.
        let captured = state.captured_amount.unwrap_or_else(|| self.payment.expected_settlement());
        let is_theirs = self.payment.was_captured_by_others(&settlement);
        let confirms_capture = state.settlement_id.is_none() && (captured == settlement.amount || is_theirs);
        // The money may have been refunded before its settlement is reported.
        let was_paid = matches!(status, Status::Paid | Status::Refund | Status::Chargeback);
        if was_paid && confirms_capture {
            self.make(Change::Settled(settlement));
            return Ok(());
        }
        if self.payment.was_captured_unheard() && self.payment.may_have_captured() {
            // Others may have captured it instead of us, which is only known once our capture has ended.
            return Err(self.payment.too_early("settled", Some(settlement.id)));
        }
        let kind = if status == Status::Declined {
            self.give_back_after_decline(&settlement);
            DiscrepancyKind::PaidAfterDecline
        } else {
            self.note_stray_pix(&settlement);
            DiscrepancyKind::PaidTwice
        };
        let detail =
            format!("settlement {} of {} for a payment that is {status}", settlement.id, settlement.amount);
        Err(Discrepancy { kind, detail, stated: "", about: Some(settlement.id) })
    }

    /// Compares the amount that came in with the amount owed on the day that the acquirer states.
    fn compare_with_owed(&self, settlement: &Settlement) -> Paid {
        let expected = self.payment.expected_settlement();
        match self.payment.order.terms.due() {
            Some(due) => due.compare(expected, settlement.amount, self.day_of(settlement)),
            None if settlement.amount == expected => Paid::Right,
            None if settlement.amount < expected => Paid::TooLittle,
            None => Paid::TooMuch,
        }
    }

    /// Returns the discrepancy of an amount that differs from the one owed. A charge with a due date counts as paid by
    /// more than that, because its payer may type any amount.
    fn another_amount(&self, settlement: &Settlement, came: Paid) -> Discrepancy {
        let expected = self.payment.expected_settlement();
        let owed = self.payment.order.terms.due().filter(|due| due.changes_the_amount()).map(|due| {
            let day = self.day_of(settlement);
            (due.owed_on(expected, day, InterestSince::of(self.payment.method())), day)
        });
        let owed = owed.map(|(owed, day)| format!(", for which {owed} was owed on {day}"));
        let amount = settlement.amount;
        let owed = owed.unwrap_or_default();
        let detail = format!("{amount} came in for a payment of {expected}{owed}");
        let is_paid = came == Paid::TooMuch && self.payment.order.terms.due().is_some();
        let kind = if is_paid { DiscrepancyKind::Overpaid } else { DiscrepancyKind::AmountMismatch };
        Discrepancy { kind, detail, stated: "", about: Some(settlement.id.clone()) }
    }

    /// Returns the day that the acquirer states for a settlement, or today.
    fn day_of(&self, settlement: &Settlement) -> NaiveDate {
        settlement.paid_on.unwrap_or_else(|| self.clock().sao_paulo_date())
    }

    /// Learns that the charge was withdrawn at the acquirer: by us, if we had requested it.
    fn learn_removed(&mut self, by: RemovedBy) -> Result<(), Discrepancy> {
        match by {
            RemovedBy::Receiver if self.payment.own_operations().any(may_have_withdrawn) => {
                self.learn_cancelled(Cause::Merchant)
            }
            RemovedBy::Receiver => self.learn_withdrawn(Some(REMOVED_AT_BANK), Cause::Acquirer),
            RemovedBy::Acquirer => self.learn_withdrawn(Some(REMOVED_BY_PSP), Cause::Acquirer),
        }
    }

    pub(super) fn learn_cancelled(&mut self, cause: Cause) -> Result<(), Discrepancy> {
        self.learn_withdrawn(None, cause)
    }

    fn learn_withdrawn(&mut self, reason: Option<&str>, cause: Cause) -> Result<(), Discrepancy> {
        let status = self.payment.status();
        // An expired charge that its acquirer withdraws stays expired. A withdrawal by the merchant is a change.
        let is_change =
            status != Status::Expired || cause == Cause::Merchant && self.payment.is_withdrawable();
        if status.allows(Status::Cancelled) && is_change {
            self.become_status(Status::Cancelled, reason, cause);
            return Ok(());
        }
        match status {
            // A late charge of a declined payment is withdrawn by us, or by a person at the acquirer: nothing is held.
            Status::Cancelled | Status::Expired | Status::Declined => Ok(()),
            Status::Initial
            | Status::Pending
            | Status::Approved
            | Status::Paid
            | Status::Refund
            | Status::Chargeback => Err(self.payment.contradiction("cancelled", None)),
        }
    }
}

/// Returns true if this operation may be the reason that the receiver appears to have withdrawn a charge.
fn may_have_withdrawn(operation: &Operation) -> bool {
    let is_done = operation.state() == OperationState::Done;
    operation.kind == OperationKind::Cancel && (is_done || operation.may_have_an_effect())
}
