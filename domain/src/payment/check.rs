//! Checks of charges whose outcome is known: when the acquirer is asked next, and what its answer settles.

use super::change::CheckChange;
use super::draft::Draft;
use super::schedule::{LATE_CHECKS, MANY_INQUIRIES, OVERDUE_MS};
use super::{Change, Check, Planned};
use crate::event::Cause;
use crate::status::Status;
use crate::time::Timestamp;

impl Draft {
    /// Keeps the hint, because the answer under way may predate it.
    pub(super) fn remember_hint(&mut self) {
        if !self.payment.hinted {
            self.make(Change::Hinted);
        }
    }

    /// Schedules a check of the charge at this time or earlier, because of a hint. The check survives status changes
    /// until it is answered. A check that was already brought forward and is still to be made is enough.
    pub(super) fn bring_check_forward(&mut self, at: Timestamp) {
        let at = self.payment.check.map_or(at, |check| check.at.min(at));
        let is_it = |check: Check| check.planned.is_some() && check.at <= at && check.asked == 0;
        if !self.payment.check.is_some_and(is_it) {
            self.make(Change::Check(CheckChange::BroughtForward(at)));
        }
    }

    /// Returns true if the charge concluded a short while ago, and its money may still follow.
    pub(super) fn awaits_money(&self) -> bool {
        let is_unpaid =
            matches!(self.payment.status(), Status::Pending | Status::Expired | Status::Cancelled);
        let until = self.payment.money_awaited_until().filter(|_| is_unpaid && !self.payment.concluded);
        until.is_some_and(|until| self.clock() < until)
    }

    /// Returns the time of the next look at a charge whose checks are over: for very late money, or because it is paid.
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
        // The time at which an acquirer expects news may bring the first check forward, but never postpones it.
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

    /// Ends or reschedules a check that was answered. Without a schedule, and after the last check for late money, no
    /// other check follows. The answer to an older inquiry may predate the hint.
    pub(super) fn check_answered(&mut self, is_newest: bool) {
        let Some(check) = self.payment.check else { return };
        if check.planned.is_some() && (check.asked == 0 || !is_newest) {
            // A hint came meanwhile, and its inquiry is still to be made.
            return;
        }
        if self.awaits_money() {
            // Inquiries continue until the money is shown, or until the wait is over.
            return;
        }
        if check.planned.is_some() {
            self.end_hint(check);
        } else if self.has_no_more_to_come(check) {
            let next = self.next_look();
            self.reschedule(check, next);
        }
    }

    /// Moves the check to this time, or cancels it. A repeated answer does not count as another look.
    pub(super) fn reschedule(&mut self, check: Check, next: Option<Timestamp>) {
        if next != Some(check.at) {
            self.make(Change::Check(CheckChange::Scheduled(next)));
        }
    }

    /// Continues the schedule as if there had been no hint.
    fn end_hint(&mut self, check: Check) {
        let resumed = match check.planned {
            Some(Planned::At(at)) if !self.has_no_more_to_come(check) => CheckChange::Resumed(at),
            Some(_) | None => CheckChange::Scheduled(self.next_look()),
        };
        self.make(Change::Check(resumed));
    }

    /// Ends the inquiries for a hint that had no answer for months. It was reported to a person long ago; a second
    /// report hands it over.
    pub(super) fn give_hint_up(&mut self, check: Check) {
        let asked = check.asked;
        let detail = format!(
            "the acquirer has not answered {asked} inquiries since a hint came: Quita no longer inquires about it"
        );
        self.outcome_is_unknown(detail, None);
        self.end_hint(check);
    }

    /// Returns true if the acquirer has no further answer about this charge that the schedule waits for.
    fn has_no_more_to_come(&self, check: Check) -> bool {
        self.payment.concluded
            || match self.payment.status() {
                Status::Pending | Status::Approved => false,
                Status::Expired | Status::Cancelled => check.made >= LATE_CHECKS,
                Status::Initial | Status::Declined | Status::Refund | Status::Chargeback | Status::Paid => {
                    true
                }
            }
    }

    /// Expires a waiting charge that a check found unpaid, if its time was over when the acquirer was asked. The answer
    /// to an earlier inquiry may predate the payer's last moment.
    pub(super) fn expire_if_over(&mut self, asked_at: Option<Timestamp>) {
        // The clock may have been ahead at the time of the inquiry. Taking the earlier time expires no payment too
        // soon.
        let asked_at = asked_at.map_or_else(|| self.clock(), |asked_at| asked_at.min(self.clock()));
        let is_over = self.payment.expiry_check_at().is_some_and(|at| at <= asked_at);
        let may_expire = !self.payment.concluded && !self.awaits_money();
        if is_over && self.payment.status() == Status::Pending && may_expire {
            self.make(Change::StatusChanged { to: Status::Expired, reason: None, cause: Cause::Service });
        }
    }

    /// Reports a check that is made although earlier ones had no answer for long.
    pub(super) fn report_overdue_check(&mut self) {
        let Some(check) = self.payment.check.filter(|check| !check.withheld) else { return };
        let last_look = self.payment.last_look(check.at.minus_ms(1));
        if check.planned.is_none() && last_look == Some(check.at) {
            // The earlier looks were answered.
            return;
        }
        let overdue_at = self.payment.expiry_check_at().map(|expiry| expiry.plus_ms(OVERDUE_MS));
        // Compared with the check's planned time, so that after an outage of ours the acquirer gets a chance to answer
        // first.
        let is_overdue = overdue_at.is_some_and(|overdue_at| overdue_at <= check.at);
        if self.payment.status() == Status::Pending && is_overdue {
            self.outcome_is_unknown("the time to pay is over, and the acquirer does not answer".into(), None);
        }
        // A concluded charge is checked for its money, whatever the earlier answers were.
        let is_for_money = self.payment.money_awaited_until().is_some_and(|until| check.at <= until);
        if check.asked >= MANY_INQUIRIES && !is_for_money {
            let detail = format!("the acquirer has not answered {} inquiries since a hint came", check.asked);
            self.outcome_is_unknown(detail, None);
        }
        if self.payment.ended_unpaid() && check.made >= LATE_CHECKS {
            let made = check.made;
            let detail = format!("checked {made} times for a late payment, but the acquirer did not answer");
            self.outcome_is_unknown(detail, None);
        }
    }
}
