//! Timed steps: inquiring, checking waiting charges, expiring, continuing operations.

use super::answer::NO_CODE;
use super::change::CheckChange;
use super::decide::Draft;
use super::schedule::{
    CALL_LEASE_MS, CLOCK_TOLERANCE_MS, LATE_CHECKS, MANY_INQUIRIES, MANY_SENDINGS, OVERDUE_MS, hint_wait_ms,
    longest_spread,
};
use super::{Change, Discrepancy, DiscrepancyKind, Effect, Payment, Planned};
use crate::event::Cause;
use crate::identity::AcquirerName;
use crate::method::Method;
use crate::operation::Operation;
use crate::outbound_call::{CallChange, Progress};
use crate::status::Status;
use crate::time::Timestamp;

/// Inquiries about an operation before it may be reported: after an outage of ours the acquirer gets a chance to
/// answer.
const INQUIRIES_BEFORE_REPORT: u32 = 3;

impl Payment {
    /// Returns the acquirer that has the charge, or that was last asked to take it.
    pub fn acquirer(&self) -> Option<&AcquirerName> {
        self.state.attempts.last().map(|attempt| &attempt.acquirer)
    }

    /// Returns true if an answer with a code to pay with may come soon. An inquiry may bring a code too, but that may
    /// take hours.
    pub fn awaits_code(&self) -> bool {
        let is_under_way =
            self.state.attempts.last().is_some_and(|attempt| attempt.call.progress == Progress::Sent);
        let is_over = matches!(self.state.status, Status::Declined | Status::Cancelled);
        is_under_way && self.order.method.has_code() && !is_over && self.state.issued.is_none()
    }

    /// Returns true if the last charge goes to another acquirer than the one before: it is a new payment there.
    pub fn is_failover(&self) -> bool {
        self.charge_before().is_some_and(|before| Some(before) != self.acquirer())
    }

    /// Returns true if the last charge goes to the same acquirer as the one before.
    pub(super) fn is_sent_again(&self) -> bool {
        self.charge_before().is_some_and(|before| Some(before) == self.acquirer())
    }

    /// Returns the acquirer of the charge before the last one.
    fn charge_before(&self) -> Option<&AcquirerName> {
        self.state.attempts.iter().rev().nth(1).map(|attempt| &attempt.acquirer)
    }

    /// Returns true if it can be withdrawn at its acquirer. An expired boleto can still be paid late.
    pub(super) fn is_withdrawable(&self) -> bool {
        match self.state.status {
            Status::Pending | Status::Approved => true,
            Status::Expired => self.order.method == Method::Boleto,
            Status::Initial
            | Status::Declined
            | Status::Refund
            | Status::Chargeback
            | Status::Paid
            | Status::Cancelled => false,
        }
    }

    /// Returns true if it was given up because its acquirer had no code to pay with: the charge there is withdrawn.
    pub(super) fn had_no_code(&self) -> bool {
        self.state.status_reason.as_deref() == Some(NO_CODE)
    }

    /// Returns true if the check is a look at a charge that was paid long ago: Cielo's query host shows sales of three
    /// months.
    pub(super) fn is_looked_at_long_after(&self) -> bool {
        let has_money = matches!(self.state.status, Status::Paid | Status::Chargeback);
        has_money && self.check.is_some_and(|check| check.planned.is_none())
    }

    /// Returns true if the payer may still have paid although the payment is over.
    pub(super) fn ended_unpaid(&self) -> bool {
        matches!(self.state.status, Status::Expired | Status::Cancelled)
    }
}

impl Draft {
    /// Pulls in due times that were scheduled while the clock was far ahead. Nobody sees this change.
    pub(super) fn pull_due_times_in(&mut self) {
        let (clock, mut has_jumped) = (self.clock(), false);
        self.payment.each_due_time(|at, longest| {
            let latest = clock.plus_ms(longest_spread(longest));
            if *at > latest.plus_ms(CLOCK_TOLERANCE_MS) {
                *at = clock.plus_ms(longest);
                has_jumped = true;
            }
        });
        if has_jumped {
            self.note_change();
        }
    }

    /// Does everything that is due. The next due time is stored before anything is sent.
    pub(super) fn wake(&mut self) {
        let now = self.clock();
        self.look_again(now);
        self.inquire_about_open_attempt(now);
        self.check_charge(now);
        self.continue_operations(|operation| operation.call.next_at.is_some_and(|at| at <= now));
        self.claim_due_reports();
        self.forget_card(now);
        let is_due = self.payment.outbox_at().is_some_and(|at| at <= now);
        if is_due {
            self.claim_due_deliveries(&[]);
        }
    }

    fn inquire_about_open_attempt(&mut self, now: Timestamp) {
        let Some(attempt) = self.payment.state.attempts.last() else { return };
        if !attempt.call.is_open() || attempt.call.next_at.is_none_or(|at| at > now) {
            return;
        }
        let (acquirer, inquiries) = (attempt.acquirer.clone(), attempt.call.inquiries);
        if attempt.call.progress == Progress::Sent {
            // There was no answer, and by this clock the lease is over: the sender most likely died.
            self.charge_call(CallChange::Unknown { is_over: false, next_at: now });
        }
        self.inquire_about_charge(acquirer, inquiries);
    }

    /// Inquires about the last charge, or checks the one that waits, on an operator's request and beside the schedule.
    /// Continues operations whose next step is far away. Calls that may still be under way are left alone.
    pub(super) fn inquire_now(&mut self) {
        let open = self.payment.state.attempts.last().map(|attempt| &attempt.call);
        let open = open.filter(|call| call.is_open());
        // After the wait for missing money is over, only a person's request causes inquiries.
        let is_asked = self.payment.check.is_some() || self.payment.waits_for_a_person();
        let may_ask = open.map_or(is_asked, |call| call.progress != Progress::Sent);
        if may_ask {
            self.push_inquiry();
        }
        self.inquire_about_open_operations();
        // A lease ends before that, by the clock of any node that may have written it.
        let far_away = self.clock().plus_ms(CALL_LEASE_MS.saturating_add(CLOCK_TOLERANCE_MS));
        self.continue_operations(|operation| {
            !operation.call.is_inquired_about() && operation.call.next_at.is_some_and(|at| at > far_away)
        });
    }

    /// Checks a charge that waits for its payer, that ended unpaid, or that had a hint.
    fn check_charge(&mut self, now: Timestamp) {
        let Some(check) = self.payment.check.filter(|check| check.at <= now) else { return };
        if check.planned.is_none() || check.asked > 0 {
            self.report_overdue_check();
        }
        self.make(Change::Check(match check.planned {
            // Only an answer closes a hint.
            Some(_) => {
                let gap_ms = self.context.hint_gap_ms;
                let again_at = self.after_at_least(hint_wait_ms(check.asked), gap_ms);
                let lag_ends = self.payment.money_awaited_until().filter(|_| self.awaits_money());
                CheckChange::Asked(lag_ends.map_or(again_at, |ends| ends.min(again_at)))
            }
            None => CheckChange::Scheduled(Some(self.payment.next_check(now, self.context.dice))),
        }));
        self.push_inquiry();
    }

    /// Reports a check that is made although earlier ones had no answer for long.
    fn report_overdue_check(&mut self) {
        let Some(check) = self.payment.check.filter(|check| !check.withheld) else { return };
        let last_look = self.payment.last_look(check.at.minus_ms(1));
        if check.planned.is_none() && last_look == Some(check.at) {
            // The looks before it were answered.
            return;
        }
        let overdue_at = self.payment.expiry_check_at().map(|expiry| expiry.plus_ms(OVERDUE_MS));
        // Compared with the check's planned time: after an outage of ours the acquirer gets a chance first.
        let is_overdue = overdue_at.is_some_and(|overdue_at| overdue_at <= check.at);
        if self.payment.status() == Status::Pending && is_overdue {
            self.outcome_is_unknown(
                "its time to be paid is over, and the acquirer gives no answer".into(),
                None,
            );
        }
        // A concluded charge is asked about its money, whatever the earlier answers were.
        let is_for_money = self.payment.money_awaited_until().is_some_and(|until| check.at <= until);
        if check.asked >= MANY_INQUIRIES && !is_for_money {
            let detail = format!("a hint came, and the acquirer gave no answer {} times since", check.asked);
            self.outcome_is_unknown(detail, None);
        }
        if self.payment.ended_unpaid() && check.made >= LATE_CHECKS {
            let made = check.made;
            let detail =
                format!("checked {made} times for money that came late; the acquirer gave no answer");
            self.outcome_is_unknown(detail, None);
        }
    }

    /// Ends or reschedules a check that was answered. Without a schedule, and after the last check for late money, no
    /// other check follows. The answer to an older inquiry may predate the hint.
    pub(super) fn check_answered(&mut self, is_newest: bool) {
        let Some(check) = self.payment.check else { return };
        if check.planned.is_some() && (check.asked == 0 || !is_newest) {
            // A hint came meanwhile, and its inquiry is still to be made.
            return;
        }
        if self.awaits_money() {
            // Inquiries go on until the money is shown, or until the wait is over.
            return;
        }
        let has_no_more_to_come = match self.payment.status() {
            Status::Pending | Status::Approved => false,
            Status::Expired | Status::Cancelled => check.made >= LATE_CHECKS,
            Status::Initial | Status::Declined | Status::Refund | Status::Chargeback | Status::Paid => true,
        };
        let is_over = has_no_more_to_come || self.payment.concluded;
        match check.planned {
            Some(Planned::At(at)) if !is_over => self.make(Change::Check(CheckChange::Resumed(at))),
            Some(_) => self.make(Change::Check(CheckChange::Scheduled(self.next_look()))),
            None if is_over => {
                let next = self.next_look();
                // The same answer once more must not count as one more look.
                if next != Some(check.at) {
                    self.make(Change::Check(CheckChange::Scheduled(next)));
                }
            }
            None => {}
        }
    }

    /// Returns true if the charge concluded a short while ago, and its money may still follow.
    pub(super) fn awaits_money(&self) -> bool {
        let is_unpaid =
            matches!(self.payment.status(), Status::Pending | Status::Expired | Status::Cancelled);
        let until = self.payment.money_awaited_until().filter(|_| is_unpaid && !self.payment.concluded);
        until.is_some_and(|until| self.clock() < until)
    }

    /// Returns the time of the next look at a charge whose checks are over: for money that may come very late, or as a
    /// paid one.
    fn next_look(&self) -> Option<Timestamp> {
        self.payment.last_look(self.clock()).or_else(|| self.next_look_at_paid())
    }

    /// Returns the time of the next look at a paid charge: for its cost, or long after, as its acquirer needs.
    fn next_look_at_paid(&self) -> Option<Timestamp> {
        let now = self.clock();
        let for_cost = self.payment.next_look_at_cost(now).filter(|_| self.context.states_cost);
        let late = self.payment.next_look_at_paid(now).filter(|_| self.context.looks_at_paid);
        for_cost.into_iter().chain(late).min()
    }

    /// Schedules the next look at a charge that was just paid, or charged back. A hint's check comes first, and
    /// schedules this one afterwards.
    pub(super) fn schedule_look_at_paid(&mut self) {
        if self.payment.check.is_none()
            && let Some(at) = self.next_look_at_paid()
        {
            self.make(Change::Check(CheckChange::Scheduled(Some(at))));
        }
    }

    /// Schedules the first check of a charge that has just begun to wait.
    pub(super) fn schedule_first_check(&mut self, news_at: Option<Timestamp>) {
        let now = self.clock();
        let next = self.payment.next_check(now, self.context.dice);
        let at = news_at.filter(|at| *at > now).map_or(next, |at| at.min(next));
        self.make(Change::Check(CheckChange::Scheduled(Some(at))));
    }

    /// Schedules the first inquiry about a card that was just approved, if its acquirer is to be asked about those. A
    /// hint's check comes first.
    pub(super) fn schedule_reading_of_approved(&mut self) {
        if self.context.reads_approved && self.payment.check.is_none() {
            self.schedule_first_check(None);
        }
    }

    /// Expires a waiting charge that a check found unpaid, if its time was over when the acquirer was asked. The answer
    /// to an earlier inquiry may predate the payer's last moment.
    pub(super) fn expire_if_over(&mut self, asked_at: Option<Timestamp>) {
        let asked_at = asked_at.map_or_else(|| self.clock(), |asked_at| asked_at.min(self.clock()));
        let is_over = self.payment.expiry_check_at().is_some_and(|at| at <= asked_at);
        let may_expire = !self.payment.concluded && !self.awaits_money();
        if is_over && self.payment.status() == Status::Pending && may_expire {
            self.make(Change::StatusChanged { to: Status::Expired, reason: None, cause: Cause::Service });
        }
    }

    /// Asks about every operation whose outcome is open, beside its schedule.
    fn inquire_about_open_operations(&mut self) {
        let open = |operation: &&Operation| operation.call.is_inquired_about();
        let asked = self.payment.operations.iter().filter(open);
        let with_acquirer = |operation: &Operation| {
            let acquirer = self.payment.acquirer_of(operation)?.clone();
            Some(Effect::InquireOperation(acquirer, operation.id))
        };
        let effects: Vec<_> = asked.filter_map(with_acquirer).collect();
        for effect in effects {
            self.note_change();
            self.effects.push(effect);
        }
    }

    /// Takes the next step of these operations: those without effect are sent, all others are asked about.
    fn continue_operations(&mut self, which: impl Fn(&Operation) -> bool) {
        let processing = self.payment.operations.iter().filter(|operation| operation.is_processing());
        let chosen: Vec<_> = processing.filter(|operation| which(operation)).cloned().collect();
        for operation in chosen {
            match operation.call.progress {
                Progress::Ready => {
                    if operation.sent >= MANY_SENDINGS {
                        self.outcome_is_unknown(
                            format!("an operation was sent {} times", operation.sent),
                            Some(operation.id.to_string()),
                        );
                    }
                    self.send_operation(operation.id);
                }
                Progress::Sent => {
                    // There was no answer, and by this clock the lease is over.
                    self.operation_call(
                        operation.id,
                        CallChange::Unknown { is_over: false, next_at: self.clock() },
                    );
                    self.inquire_about_operation(&operation);
                }
                Progress::Unknown | Progress::Taken => {
                    self.report_overdue_operation(&operation);
                    self.inquire_about_operation(&operation);
                }
                Progress::Ended(_) => {}
            }
        }
    }

    fn report_overdue_operation(&mut self, operation: &Operation) {
        let is_overdue = self.clock().ms_since(operation.requested_at) >= operation.overdue_ms();
        if is_overdue && operation.call.inquiries >= INQUIRIES_BEFORE_REPORT {
            let (verb, inquiries) = (operation.kind.verb(), operation.call.inquiries);
            let detail = format!("the acquirer was asked {inquiries} times what became of a {verb}");
            self.outcome_is_unknown(detail, Some(operation.id.to_string()));
        }
    }

    pub(super) fn outcome_is_unknown(&mut self, detail: String, about: Option<String>) {
        let kind = DiscrepancyKind::UnknownOutcome;
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
    }
}
