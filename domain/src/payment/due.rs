//! What happens when time goes by: asking again, looking at what waits, expiring.

use super::decide::Draft;
use super::{Change, Check, Effect, Oddity, OddityKind, Payment};
use crate::acquiring::Issued;
use crate::boleto::business_day;
use crate::event::Cause;
use crate::identity::AcquirerName;
use crate::method::Method;
use crate::operation::Operation;
use crate::routing::AttemptOutcome;
use crate::status::Status;
use crate::time::{DAY_MS, Timestamp};
use crate::webhook::schedule;

/// How long after its decision a call to an acquirer may be under way before somebody else asks what became of it.
///
/// Every acquirer's time-out must be shorter; that is checked when the service starts.
pub const CALL_LEASE_MS: u64 = 30_000;

/// Waits before questions about an unknown outcome, and before an operation is sent again; the last one repeats.
const ASK_STEPS_MS: [u64; 8] = [1_000, 2_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000];

/// How long after a call that an operator's order withheld it is tried again, at least: what had been tried often before
/// keeps its longer step, so that it is not told of more often. None of it counts as a try.
pub(super) const WITHHELD_WAIT_MS: u64 = 30_000;

/// Questions after which an operator is told of an unknown outcome, which is after 6 minutes; asking goes on.
const ASKED_TOO_OFTEN: u32 = 5;

/// As much for an operation: it is told of when it is sent once more.
const SENT_TOO_OFTEN: u32 = 6;

/// Waits between looks at a charge that waits for its payer; the last one repeats.
const CHECK_STEPS_MS: [u64; 4] = [60_000, 120_000, 420_000, 6 * 3_600_000];

/// How long after its expiry a charge that the acquirer gives no answer about is told to an operator.
const OVERDUE_MS: u64 = 2 * 3_600_000;

/// Waits before looks at a PIX or boleto that expired or was cancelled, for money that arrived late and whose notice
/// was lost: after a day, and two days later.
///
/// Providers state one to three business days from the payment of a boleto to its confirmation (same day at best since
/// the bank federation's convention of 2024-03-15). A PIX crosses its expiry or cancellation by moments only.
const LATE_LOOK_STEPS_MS: [u64; 2] = [DAY_MS, 2 * DAY_MS];

/// Looks for late money that brought no answer, after which an operator is told; looking goes on every two days.
const LATE_LOOKS: u32 = 2;

/// How much further ahead than its schedule allows a time may lie before the clock counts as having jumped. Clocks of
/// several nodes may differ a little, and a lease must not be cut because of that.
const CLOCK_TOLERANCE_MS: u64 = 600_000;

/// Business days after the due date until a boleto counts as expired: settlement takes up to three.
const BOLETO_TOLERANCE_DAYS: u32 = 3;

impl Payment {
    /// When the time to pay is over. For a boleto this is after its last chance to settle.
    pub fn expires_at(&self) -> Option<Timestamp> {
        match self.state.issued.as_deref()? {
            Issued::Pix { expires_at, .. } => Some(*expires_at),
            Issued::Boleto(boleto) => {
                let payable = business_day::roll(boleto.due_date);
                let last = business_day::add(payable, BOLETO_TOLERANCE_DAYS);
                Some(Timestamp::end_of_sao_paulo_day(last))
            }
        }
    }

    /// The acquirer that holds the charge, or was last asked for it.
    pub fn acquirer(&self) -> Option<&AcquirerName> {
        self.state.attempts.last().map(|attempt| &attempt.acquirer)
    }

    /// Whether the answer to the charge is under way that brings a code to pay with. A charge that is asked for may
    /// bring one too, but that may take hours.
    pub fn awaits_code(&self) -> bool {
        let is_under_way =
            self.state.attempts.last().is_some_and(|attempt| attempt.outcome == AttemptOutcome::Sent);
        let has_code = self.order.method != Method::CreditCard;
        let is_over = matches!(self.state.status, Status::Declined | Status::Cancelled);
        is_under_way && has_code && !is_over && self.state.issued.is_none()
    }

    /// Whether the last charge goes to another acquirer than the one before: it is a new payment there.
    pub fn is_sent_elsewhere(&self) -> bool {
        self.charge_before().is_some_and(|before| Some(before) != self.acquirer())
    }

    /// Whether the last charge goes to the same acquirer as the one before.
    pub(super) fn is_sent_again(&self) -> bool {
        self.charge_before().is_some_and(|before| Some(before) == self.acquirer())
    }

    /// The acquirer of the charge before the last one.
    fn charge_before(&self) -> Option<&AcquirerName> {
        self.state.attempts.iter().rev().nth(1).map(|attempt| &attempt.acquirer)
    }

    /// Whether the payer may still have paid although the payment is over.
    pub(super) fn ended_unpaid(&self) -> bool {
        matches!(self.state.status, Status::Expired | Status::Cancelled)
    }

    /// The look that is scheduled when it gets this status.
    pub(super) fn check_after(&self, status: Status, clock: Timestamp) -> Option<Check> {
        match status {
            Status::Pending => self.check,
            Status::Expired | Status::Cancelled => {
                let may_come_late = self.order.method != Method::CreditCard;
                let at = clock.plus_ms(step(&LATE_LOOK_STEPS_MS, 0));
                may_come_late.then_some(Check { at, made: 0, withheld: false })
            }
            Status::Initial
            | Status::Approved
            | Status::Declined
            | Status::Refund
            | Status::Chargeback
            | Status::Paid => None,
        }
    }

    /// The next look at a waiting charge: by the schedule, but not after the moment it expires.
    fn next_check(&self, now: Timestamp) -> Timestamp {
        let made = self.check.map_or(0, |check| check.made);
        let by_schedule = now.plus_ms(step(&CHECK_STEPS_MS, made));
        match self.expires_at() {
            Some(expiry) if expiry > now => by_schedule.min(expiry),
            Some(_) => now.plus_ms(step(&ASK_STEPS_MS, made)),
            None => by_schedule,
        }
    }
}

impl Payment {
    /// Every time that is due, with the longest wait that its schedule has for it.
    fn each_due_time(&mut self, mut visit: impl FnMut(&mut Timestamp, u64)) {
        let is_asked = self.state.attempts.last().is_some_and(|attempt| attempt.ask_at.is_some());
        if is_asked && let Some(attempt) = self.state_mut().attempts.last_mut() {
            let longest = CALL_LEASE_MS.max(step(&ASK_STEPS_MS, attempt.asked));
            attempt.ask_at.iter_mut().for_each(|at| visit(at, longest));
        }
        for operation in &mut self.operations {
            let longest = CALL_LEASE_MS.max(retry_wait_ms(operation.sent));
            operation.send_at.iter_mut().for_each(|at| visit(at, longest));
        }
        let ended_unpaid = self.ended_unpaid();
        if let Some(check) = &mut self.check {
            let waiting = step(&CHECK_STEPS_MS, check.made);
            let late = step(&LATE_LOOK_STEPS_MS, check.made);
            visit(&mut check.at, if ended_unpaid { late } else { waiting });
        }
        for delivery in &mut self.outbox {
            let longest = schedule::longest_wait_ms(delivery.attempts.len());
            delivery.next_attempt_at.iter_mut().for_each(|at| visit(at, longest));
        }
    }
}

impl Draft {
    /// Pulls in what was scheduled while the clock was far ahead. No change that anybody sees.
    pub(super) fn pull_due_times_in(&mut self) {
        let (clock, mut has_jumped) = (self.clock(), false);
        self.payment.each_due_time(|at, longest| {
            let latest = clock.plus_ms(longest);
            if *at > latest.plus_ms(CLOCK_TOLERANCE_MS) {
                *at = latest;
                has_jumped = true;
            }
        });
        if has_jumped {
            self.note_change();
        }
    }

    /// Does what is due; the next time is stored before anything is sent.
    pub(super) fn wake(&mut self) {
        let now = self.clock();
        self.ask_for_open_attempt(now);
        self.look_at_waiting_charge(now);
        self.send_operations_again(now);
        let is_due = self.payment.outbox_at().is_some_and(|at| at <= now);
        if is_due {
            self.claim_due_deliveries();
        }
    }

    fn ask_for_open_attempt(&mut self, now: Timestamp) {
        let Some(attempt) = self.payment.state.attempts.last() else { return };
        if !attempt.outcome.is_open() || attempt.ask_at.is_none_or(|at| at > now) {
            return;
        }
        let (acquirer, asked) = (attempt.acquirer.clone(), attempt.asked);
        if attempt.outcome == AttemptOutcome::Sent {
            // Nothing was heard of it, and by this clock its lease is over: who sent it most likely died.
            self.make(Change::AttemptUnknown { call_is_over: false, ask_at: now });
        }
        self.ask(acquirer, asked);
    }

    /// A call failed in a way that may have had an effect. It is never asked for at once: the acquirer may still be
    /// at work.
    pub(super) fn ask_soon(&mut self) {
        let asked = self.payment.state.attempts.last().map_or(0, |attempt| attempt.asked);
        let ask_at = self.clock().plus_ms(step(&ASK_STEPS_MS, asked));
        self.make(Change::AttemptUnknown { call_is_over: true, ask_at });
    }

    /// Asks what became of the last charge, and schedules the next question first.
    fn ask(&mut self, acquirer: AcquirerName, asked: u32) {
        if asked >= ASKED_TOO_OFTEN {
            self.outcome_is_unknown(format!("{acquirer} was asked {asked} times what became of the charge"));
        }
        let wait_ms = step(&ASK_STEPS_MS, asked.saturating_add(1));
        self.make(Change::AskScheduled(self.clock().plus_ms(wait_ms)));
        self.effects.push(Effect::Find(acquirer));
    }

    /// The question what became of the last charge was not sent: it does not count. A look at a waiting charge does, but
    /// nobody is told that it brought no answer.
    pub(super) fn question_withheld(&mut self) {
        let asked = self.payment.state.attempts.last().filter(|attempt| attempt.outcome.is_open());
        if let Some(asked) = asked.map(|attempt| attempt.asked.saturating_sub(1)) {
            let wait_ms = WITHHELD_WAIT_MS.max(step(&ASK_STEPS_MS, asked));
            self.make(Change::AskWithheld(self.clock().plus_ms(wait_ms)));
        } else if self.payment.check.is_some() {
            self.make(Change::LookWithheld);
        }
    }

    /// An operator wants to know now: asks what became of the last charge, or looks at the one that waits, beside what is
    /// scheduled, and sends operations again whose next try is far away. Whatever may still be under way is left alone.
    pub(super) fn ask_now(&mut self) {
        let open = self.payment.state.attempts.last().map(|attempt| attempt.outcome);
        let open = open.filter(|outcome| outcome.is_open());
        if open.map_or(self.payment.check.is_some(), |outcome| outcome == AttemptOutcome::Unknown)
            && let Some(acquirer) = self.payment.acquirer().cloned()
        {
            self.note_change();
            self.effects.push(Effect::Find(acquirer));
        }
        // A lease ends before that, by the clock of whichever node wrote it.
        let far_away = self.clock().plus_ms(CALL_LEASE_MS.saturating_add(CLOCK_TOLERANCE_MS));
        let is_far_away = |operation: &&Operation| operation.send_at.is_some_and(|at| at > far_away);
        let operations = self.payment.operations.iter().filter(is_far_away);
        for id in operations.map(|operation| operation.id).collect::<Vec<_>>() {
            self.send_operation(id);
        }
    }

    fn look_at_waiting_charge(&mut self, now: Timestamp) {
        if self.payment.check.is_none_or(|check| check.at > now) {
            return;
        }
        let next = match self.payment.ended_unpaid() {
            true => self.next_late_look(now),
            false => {
                self.tell_if_overdue();
                self.payment.next_check(now)
            }
        };
        self.make(Change::CheckScheduled(Some(next)));
        if let Some(acquirer) = self.payment.acquirer().cloned() {
            self.effects.push(Effect::Find(acquirer));
        }
    }

    /// The acquirer still does not say what became of a charge whose time has been over for long.
    fn tell_if_overdue(&mut self) {
        let is_overdue = |at: Timestamp| {
            let overdue_at = self.payment.expires_at().map(|expiry| expiry.plus_ms(OVERDUE_MS));
            overdue_at.is_some_and(|overdue_at| overdue_at <= at)
        };
        // By the time for which the look was planned: after an outage of ours the acquirer is given a chance first.
        if self.payment.check.is_some_and(|check| is_overdue(check.at) && !check.withheld) {
            self.outcome_is_unknown("its time to be paid is over, and the acquirer gives no answer".into());
        }
    }

    /// After the last look one more is scheduled, which its answer makes needless.
    fn next_late_look(&mut self, now: Timestamp) -> Timestamp {
        let (made, was_withheld) =
            self.payment.check.map_or((0, false), |check| (check.made, check.withheld));
        if made >= LATE_LOOKS && !was_withheld {
            let detail = format!("looked {made} times for money that came late; the acquirer gave no answer");
            self.outcome_is_unknown(detail);
        }
        now.plus_ms(step(&LATE_LOOK_STEPS_MS, made.saturating_add(1)))
    }

    /// The acquirer answered a look for late money. After the last one nothing looks again.
    pub(super) fn late_look_answered(&mut self) {
        let is_last = self.payment.check.is_some_and(|check| check.made >= LATE_LOOKS);
        if is_last && self.payment.ended_unpaid() {
            self.make(Change::CheckScheduled(None));
        }
    }

    /// Schedules the first look at a charge that has just begun to wait.
    pub(super) fn schedule_first_check(&mut self, news_at: Option<Timestamp>) {
        let now = self.clock();
        let next = self.payment.next_check(now);
        let at = news_at.filter(|at| *at > now).map_or(next, |at| at.min(next));
        self.make(Change::CheckScheduled(Some(at)));
    }

    /// A look at a waiting charge found it unpaid: if its time is over, it has expired.
    pub(super) fn expire_if_over(&mut self) {
        let is_over = self.payment.expires_at().is_some_and(|at| at <= self.clock());
        if is_over && self.payment.status() == Status::Pending {
            self.make(Change::StatusChanged { to: Status::Expired, reason: None, cause: Cause::Service });
        }
    }

    fn send_operations_again(&mut self, now: Timestamp) {
        let due: Vec<_> = self
            .payment
            .operations
            .iter()
            .filter(|operation| operation.send_at.is_some_and(|at| at <= now))
            .map(|operation| (operation.id, operation.sent))
            .collect();
        let mut too_often = due.iter().filter(|(_, sent)| *sent >= SENT_TOO_OFTEN).cycle();
        let turn = due.iter().map(|(_, sent)| *sent).min().and_then(|sent| usize::try_from(sent).ok());
        // One decision tells of one: of several, each in its turn.
        if let Some((id, sent)) = too_often.nth(turn.unwrap_or(0) % due.len().max(1)) {
            self.outcome_is_unknown(format!("an operation was sent {sent} times"));
            self.oddity = self.oddity.take().map(|oddity| Oddity { about: Some(id.to_string()), ..oddity });
        }
        for (id, _) in due {
            self.send_operation(id);
        }
    }

    fn outcome_is_unknown(&mut self, detail: String) {
        self.oddity = Some(Oddity { kind: OddityKind::UnknownOutcome, detail, about: None });
    }
}

/// When an operation whose answer failed is sent again.
pub(super) const fn retry_wait_ms(sent: u32) -> u64 {
    step(&ASK_STEPS_MS, sent.saturating_sub(1))
}

/// The step for the count, or the last step.
const fn step<const N: usize>(steps: &[u64; N], count: u32) -> u64 {
    let mut place = 0;
    let mut counted = 0;
    while counted < count && place + 1 < N {
        counted += 1;
        place += 1;
    }
    match steps.split_at(place).1.first() {
        Some(step) => *step,
        None => 0,
    }
}
