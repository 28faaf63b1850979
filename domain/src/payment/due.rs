//! Timed steps: inquiring, checking waiting charges, expiring, continuing operations.

use super::change::CheckChange;
use super::draft::Draft;
use super::schedule::{
    CALL_LEASE_MS, CLOCK_TOLERANCE_MS, HINT_INQUIRIES, MANY_SENDINGS, hint_wait_ms, longest_spread,
};
use super::{Change, Effect};
use crate::operation::Operation;
use crate::outbound_call::{CallChange, Progress};
use crate::time::Timestamp;

/// Inquiries about an operation before it may be reported, so that after an outage of ours the acquirer can answer
/// first.
const INQUIRIES_BEFORE_REPORT: u32 = 3;

impl Draft {
    /// Pulls in due times that were scheduled while the clock was far ahead. Nobody sees this change.
    pub(super) fn pull_due_times_in(&mut self) {
        let clock = self.clock();
        let mut has_jumped = false;
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
        // `finish` claims deliveries only along with another change. Here a due delivery alone is reason enough for a
        // write.
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
        let acquirer = attempt.acquirer.clone();
        let inquiries = attempt.call.inquiries;
        if attempt.call.progress == Progress::Sent {
            // There was no answer, and the lease has expired by this clock: the sender most likely died.
            self.charge_call(CallChange::Unknown { is_over: false, next_at: now });
        }
        self.inquire_about_charge(acquirer, inquiries);
    }

    /// Inquires about the last charge, or checks it if it waits for its payer, on an operator's request and outside the
    /// schedule. Continues operations whose next step is far away. Leaves calls alone that may still be under way.
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

    /// Checks a charge that waits for its payer, that ended unpaid, or that was hinted at.
    fn check_charge(&mut self, now: Timestamp) {
        let Some(check) = self.payment.check.filter(|check| check.at <= now) else { return };
        if check.planned.is_some() && check.asked >= HINT_INQUIRIES {
            self.give_hint_up(check);
            return;
        }
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

    /// Inquires about every operation whose outcome is open, outside its schedule.
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

    /// Takes the next step of these operations: sends those without effect, and inquires about all others.
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
                    // There was no answer, and the lease has expired by this clock.
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
            let verb = operation.kind.verb();
            let inquiries = operation.call.inquiries;
            let detail =
                format!("the acquirer was asked {inquiries} times for the outcome of a {verb} operation");
            self.outcome_is_unknown(detail, Some(operation.id.to_string()));
        }
    }
}
