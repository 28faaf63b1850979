//! Waiting times: calls, inquiries, checks, expiry.

use super::{Check, Payment, Planned, REPORT_LEASE_MS};
use crate::acquiring::Issued;
use crate::boleto::business_day;
use crate::due_terms::DueTerms;
use crate::operation::{Operation, OperationKind};
use crate::outbound_call::OutboundCall;
use crate::status::Status;
use crate::time::{DAY_MS, Timestamp};
use crate::webhook::schedule;

/// Time after its decision for which a call to an acquirer may be under way before other processes inquire about it.
///
/// Every acquirer's time-out must be shorter, which is checked at startup.
pub const CALL_LEASE_MS: u64 = 30_000;

/// Waits before inquiries about an unknown outcome, and before an operation that had no effect is sent again; the last
/// one repeats.
const INQUIRY_STEPS_MS: [u64; 8] =
    [1_000, 2_000, 5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS];

/// Waits before inquiries about accepted charges and operations that have not ended; the last one repeats.
const ACCEPTED_STEPS_MS: [u64; 5] = [10_000, MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS];

/// Shortest wait after a call that an operator's directive withheld. After many earlier attempts the longer step is
/// kept, so that reports do not become more frequent. A withheld call does not count as an attempt.
pub(super) const WITHHELD_WAIT_MS: u64 = 30_000;

/// The same for a check, which is not urgent: there is one for every charge that waits for its payer.
pub(super) const WITHHELD_CHECK_WAIT_MS: u64 = 5 * MINUTE_MS;

/// Inquiries after which an unknown outcome is reported, which takes 6 minutes. Inquiries continue.
pub(super) const MANY_INQUIRIES: u32 = 5;

/// Time for which an acquirer may throttle inquiries before the open outcome is reported.
pub(super) const OPEN_FOR_LONG_MS: u64 = 6 * MINUTE_MS;

/// Sendings without any effect after which an operation is reported.
pub(super) const MANY_SENDINGS: u32 = 6;

/// Waits between checks of a charge that waits for its payer, or of an approved card; the last one repeats.
const CHECK_STEPS_MS: [u64; 4] = [MINUTE_MS, 2 * MINUTE_MS, 7 * MINUTE_MS, 6 * HOUR_MS];

/// Time after its expiry at which a charge is reported if the acquirer gives no answer.
pub(super) const OVERDUE_MS: u64 = 2 * HOUR_MS;

/// Waits before checks of an expired or cancelled PIX or boleto: after a day, and two days later. They find late money
/// whose notice was lost.
///
/// Providers state one to three business days from the payment of a boleto to its confirmation (same day at best since
/// the bank federation's convention of 2024-03-15). A PIX arrives at most moments after its expiry or cancellation.
const LATE_CHECK_STEPS_MS: [u64; 2] = [DAY_MS, 2 * DAY_MS];

/// Unanswered checks for late money after which the charge is reported. Checks continue every two days.
pub(super) const LATE_CHECKS: u32 = 2;

/// Times after payment at which a charge that no list contains is looked at, since notices of its chargebacks and
/// refunds may be lost. Brands let a holder dispute for 120 days, and in some cases for 180.
const PAID_LOOKS_MS: [u64; 4] = [30 * DAY_MS, 60 * DAY_MS, 120 * DAY_MS, 180 * DAY_MS];

/// Times after a payment at which its acquirer is asked what it cost, if it states that. Source: the contract, Pagar.me,
/// "`cost`".
const COST_LOOKS_MS: [u64; 2] = [MINUTE_MS, 10 * MINUTE_MS];

/// Longest interval between two of these looks.
const PAID_LOOK_STEP_MS: u64 = 60 * DAY_MS;

/// Period over which the looks at charges of the same moment are spread.
const PAID_LOOKS_OVER_MS: u64 = DAY_MS;

/// Time for which a concluded charge may show no money before it is reported to an operator.
const MONEY_LAGS_FOR_MS: u64 = 10 * MINUTE_MS;

/// Time after which such a charge is looked at once more: a day later its answer may be correct.
const CONCLUDED_LOOK_MS: u64 = DAY_MS;

/// Time after an inquiry before a hint may cause the next one, unless the acquirer asks for a longer gap.
pub const HINT_GAP_MS: u64 = 2_000;

/// Inquiries for one hint within a day. After that it is asked about as rarely as a charge that waits for its payer.
const HINT_INQUIRIES_OF_A_DAY: u32 = 31;

/// The same within eight days. After that it is asked about once a day.
const HINT_INQUIRIES_OF_EIGHT_DAYS: u32 = 59;

/// Inquiries without an answer, within about 90 days, after which a hint is given up. Nothing else would stop them: a
/// sale that never ends at its acquirer never gets an answer.
pub(super) const HINT_INQUIRIES: u32 = 141;

/// Tolerance by which a due time may exceed its schedule before it counts as evidence of a clock jump. Clocks of
/// several nodes may differ slightly, which must not shorten a lease.
pub(super) const CLOCK_TOLERANCE_MS: u64 = 10 * MINUTE_MS;

/// Time after expiry in which a PIX may still turn out to have been paid in time: banks notify each other tens of
/// seconds later.
const PIX_GRACE_MS: u64 = 90_000;

/// Period over which the checks of the boletos of one due date are spread.
const BOLETO_CHECKS_OVER_MS: u64 = HOUR_MS;

/// Business days after the due date until a boleto counts as expired: settlement takes up to three.
const BOLETO_TOLERANCE_DAYS: u32 = 3;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

impl Payment {
    /// Returns the time after which it can no longer be paid. For a boleto this is after its last chance to settle.
    pub fn expires_at(&self) -> Option<Timestamp> {
        match self.state.issued.as_deref()? {
            Issued::Pix { expires_at, .. } => Some(*expires_at),
            Issued::Boleto(boleto) => {
                let payable = self.order.terms.due().map(DueTerms::payable_until);
                // A slip due on a bank holiday or weekend may be paid on the next business day (Law 7,089/1983).
                let payable = payable.unwrap_or_else(|| business_day::roll(boleto.due_date));
                let last = business_day::add(payable, BOLETO_TOLERANCE_DAYS);
                Some(Timestamp::end_of_sao_paulo_day(last))
            }
        }
    }

    /// Returns the time of the check for a payment made in time. The charge may not expire before.
    pub(super) fn expiry_check_at(&self) -> Option<Timestamp> {
        let expires_at = self.expires_at()?;
        match self.state.issued.as_deref()? {
            Issued::Pix { .. } => Some(expires_at.plus_ms(PIX_GRACE_MS)),
            // All boletos of one day expire at the same moment.
            Issued::Boleto(_) => Some(expires_at.plus_ms(self.place_within(BOLETO_CHECKS_OVER_MS))),
        }
    }

    /// Returns an offset below `span_ms` that is always the same for this payment.
    fn place_within(&self, span_ms: u64) -> u64 {
        let place = self.id.uuid().as_u128().checked_rem(u128::from(span_ms));
        place.and_then(|place| u64::try_from(place).ok()).unwrap_or_default()
    }

    /// Returns true if its time is over, but a payment made in time may not be known yet.
    pub(super) fn may_have_been_paid_in_time(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|at| at <= now) && self.expiry_check_at().is_some_and(|at| now < at)
    }

    /// Returns the check that is scheduled with this status.
    pub(super) fn check_after(&self, status: Status, clock: Timestamp) -> Option<Check> {
        match status {
            Status::Pending => self.check,
            Status::Expired | Status::Cancelled => {
                let at = clock.plus_ms(spread(step(&LATE_CHECK_STEPS_MS, 0), self.dice));
                // A concluded charge takes no more money, so no late money can arrive.
                let may_come = self.order.method.may_settle_late() && !self.concluded;
                may_come.then_some(Check { at, made: 0, withheld: false, planned: None, asked: 0 })
            }
            Status::Initial
            | Status::Approved
            | Status::Declined
            | Status::Refund
            | Status::Chargeback
            | Status::Paid => None,
        }
    }

    /// Returns the end of the time in which a concluded charge may still show its money.
    pub(super) fn money_awaited_until(&self) -> Option<Timestamp> {
        self.concluded_since.map(|since| since.plus_ms(MONEY_LAGS_FOR_MS))
    }

    /// Returns the time of the last look at a charge that concluded without any money, after `now`; none if it is over.
    pub(super) fn look_for_concluded_money(&self, now: Timestamp) -> Option<Timestamp> {
        let is_unpaid = matches!(self.status(), Status::Pending | Status::Expired | Status::Cancelled);
        // Otherwise a clock that was set back would postpone this by years.
        let since = self.concluded_since.filter(|_| self.concluded && is_unpaid)?.min(now);
        Some(since.plus_ms(CONCLUDED_LOOK_MS)).filter(|at| *at > now)
    }

    /// Returns the time of the last look at a cancelled charge whose code could still be paid. Not every acquirer
    /// withdraws the codes it issued.
    fn end_of_withdrawn_code(&self) -> Option<Timestamp> {
        let is_open = self.status() == Status::Cancelled && !self.concluded;
        Some(self.expires_at().filter(|_| is_open)?.plus_ms(self.place_within(BOLETO_CHECKS_OVER_MS)))
    }

    /// Returns the time of the last look at a charge that was not paid, after `now`; none if it is over.
    pub(super) fn last_look(&self, now: Timestamp) -> Option<Timestamp> {
        let at_the_end = self.end_of_withdrawn_code().filter(|at| *at > now);
        self.look_for_concluded_money(now).or(at_the_end)
    }

    /// Returns the time of the next look at a paid payment's charge, after `now`; none if there are no more.
    pub(super) fn next_look_at_paid(&self, now: Timestamp) -> Option<Timestamp> {
        let has_money = matches!(self.status(), Status::Paid | Status::Chargeback);
        // Otherwise a clock that was set back would postpone this by years.
        let paid_at = self.state.paid_at.filter(|_| has_money)?.min(now);
        let place = self.place_within(PAID_LOOKS_OVER_MS);
        PAID_LOOKS_MS.into_iter().map(|look| paid_at.plus_ms(look).plus_ms(place)).find(|at| *at > now)
    }

    /// Returns the time of the next inquiry for the cost of a paid payment, after `now`; none if there are no more.
    pub(super) fn next_look_at_cost(&self, now: Timestamp) -> Option<Timestamp> {
        let has_money = matches!(self.status(), Status::Paid | Status::Chargeback);
        let paid_at = self.state.paid_at.filter(|_| has_money)?.min(now);
        COST_LOOKS_MS.into_iter().map(|look| paid_at.plus_ms(look)).find(|at| *at > now)
    }

    /// Returns the time of the next check: by the schedule of its status, and for a waiting charge no later than its
    /// expiry.
    pub(super) fn next_check(&self, now: Timestamp, dice: u64) -> Timestamp {
        // The check that is made now counts; before the first one there is none.
        let made = self.check.map_or(0, |check| check.made.saturating_add(1));
        let after = |step_ms| now.plus_ms(spread(step_ms, dice));
        let unanswered = after(inquiry_wait_ms(made));
        match self.state.status {
            Status::Pending => {
                let by_schedule = after(step(&CHECK_STEPS_MS, made));
                match self.expiry_check_at() {
                    Some(expiry) if expiry > now => by_schedule.min(expiry),
                    // Its time is over and no answer has ended it, so it is inquired about like any unknown outcome, at
                    // least hourly.
                    Some(_) => unanswered,
                    None => by_schedule,
                }
            }
            Status::Approved => after(step(&CHECK_STEPS_MS, made)),
            Status::Expired | Status::Cancelled => after(step(&LATE_CHECK_STEPS_MS, made)),
            // Here a check is a single look, after a hint or long after the payment. If unanswered, it is repeated
            // within the hour.
            Status::Initial | Status::Declined | Status::Refund | Status::Chargeback | Status::Paid => {
                unanswered
            }
        }
    }

    /// Visits every due time, with the longest wait of its schedule before spreading.
    pub(super) fn each_due_time(&mut self, mut visit: impl FnMut(&mut Timestamp, u64)) {
        let is_asked = self.state.attempts.last().is_some_and(|attempt| attempt.call.next_at.is_some());
        if is_asked && let Some(attempt) = self.state_mut().attempts.last_mut() {
            // The stored time does not show which schedule it came from. The longest possible one applies, so that no
            // lease is cut short.
            let longest = CALL_LEASE_MS
                .max(inquiry_wait_ms(attempt.call.inquiries))
                .max(accepted_wait_ms(attempt.call.inquiries));
            attempt.call.next_at.iter_mut().for_each(|at| visit(at, longest));
        }
        for Operation { call, sent, .. } in &mut self.operations {
            let longest = call.wait_ms(call.inquiries).max(inquiry_wait_ms(*sent)).max(CALL_LEASE_MS);
            call.next_at.iter_mut().for_each(|at| visit(at, longest));
        }
        let status = self.status();
        let is_concluded = self.concluded;
        let end_of_code = self.end_of_withdrawn_code();
        if let Some(check) = &mut self.check {
            let scheduled = match status {
                // The only remaining look is the one a day after it concluded.
                Status::Pending if is_concluded => CONCLUDED_LOOK_MS,
                Status::Expired | Status::Cancelled => step(&LATE_CHECK_STEPS_MS, check.made),
                Status::Paid | Status::Chargeback => PAID_LOOK_STEP_MS,
                Status::Initial | Status::Pending | Status::Approved => step(&CHECK_STEPS_MS, check.made),
                Status::Declined | Status::Refund => step(&CHECK_STEPS_MS, check.made),
            };
            match &mut check.planned {
                // A hint's inquiries have steps of their own, in every status.
                Some(planned) => {
                    visit(&mut check.at, hint_wait_ms(check.asked));
                    if let Planned::At(at) = planned
                        && Some(*at) != end_of_code
                    {
                        visit(at, scheduled);
                    }
                }
                // The end of a code follows no schedule: it may be as far away as its due date, up to a year.
                None if Some(check.at) == end_of_code => {}
                None => visit(&mut check.at, scheduled.max(hint_wait_ms(check.asked))),
            }
        }
        if let Some(look) = &mut self.second_look {
            let longest = look.longest_wait_ms();
            visit(&mut look.at, longest);
            look.planned.iter_mut().for_each(|at| visit(at, longest));
        }
        for delivery in &mut self.outbox {
            let longest = schedule::longest_wait_ms(delivery.attempts.len());
            delivery.next_attempt_at.iter_mut().for_each(|at| visit(at, longest));
        }
        for report in &mut self.reports {
            visit(&mut report.due_at, REPORT_LEASE_MS);
        }
    }
}

impl Check {
    /// Returns true if a hint came so recently that the acquirer may not show the change yet.
    pub(super) const fn may_lag(&self) -> bool {
        self.planned.is_some() && self.asked < MANY_INQUIRIES
    }
}

impl<E: Copy> OutboundCall<E> {
    /// Returns the wait after this many inquiries about it.
    pub(super) const fn wait_ms(&self, inquiries: u32) -> u64 {
        if self.is_taken() { accepted_wait_ms(inquiries) } else { inquiry_wait_ms(inquiries) }
    }
}

impl Operation {
    /// Returns true if it never reached the acquirer and is too old to be sent again. A refund's payer learnt long ago
    /// whether the money comes.
    pub(super) fn is_too_old_to_send(&self, now: Timestamp) -> bool {
        match self.kind {
            OperationKind::Refund(_) => now.ms_since(self.requested_at) >= DAY_MS,
            OperationKind::Cancel | OperationKind::Capture(_) => false,
        }
    }

    /// Returns the time after which an open operation is reported. A bank takes days for a refund, and may process it
    /// for the 90 days in which a PIX can be refunded (rails: API Pix 2.9.0, devolução).
    pub(super) const fn overdue_ms(&self) -> u64 {
        match self.kind {
            OperationKind::Cancel | OperationKind::Capture(_) => OPEN_FOR_LONG_MS,
            OperationKind::Refund(_) if self.call.is_taken() => 90 * DAY_MS,
            OperationKind::Refund(_) => DAY_MS,
        }
    }
}

/// Returns the wait after this many inquiries about an unknown outcome.
pub(super) const fn inquiry_wait_ms(inquiries: u32) -> u64 {
    step(&INQUIRY_STEPS_MS, inquiries)
}

/// Returns the shortest wait after this many inquiries for a hint that had no answer.
pub(super) const fn hint_wait_ms(asked: u32) -> u64 {
    if asked >= HINT_INQUIRIES_OF_EIGHT_DAYS {
        return DAY_MS;
    }
    if asked >= HINT_INQUIRIES_OF_A_DAY {
        return 6 * HOUR_MS;
    }
    // The first step for unknown outcomes, 1 s, is shorter than the gap that every acquirer is granted between
    // inquiries.
    let wait_ms = inquiry_wait_ms(asked);
    if wait_ms > HINT_GAP_MS { wait_ms } else { HINT_GAP_MS }
}

/// Returns the wait after this many inquiries about an accepted charge or operation.
pub(super) const fn accepted_wait_ms(inquiries: u32) -> u64 {
    step(&ACCEPTED_STEPS_MS, inquiries)
}

/// Returns the wait after this many sendings without effect.
pub(super) const fn resend_wait_ms(sent: u32) -> u64 {
    // A sending is counted before its answer, so the first wait belongs to a count of one.
    step(&INQUIRY_STEPS_MS, sent.saturating_sub(1))
}

/// Spreads a wait over ±20 %, so that events that came due together do not come due together again.
pub(super) const fn spread(wait_ms: u64, dice: u64) -> u64 {
    (wait_ms / 100).saturating_mul(80_u64.saturating_add(dice % 41))
}

/// Spreads a requested wait over the 20 % above it.
pub(super) const fn spread_upwards(wait_ms: u64, dice: u64) -> u64 {
    // Never below the requested wait: an acquirer that answered 429 must not be called before its time is over.
    wait_ms.saturating_add((wait_ms / 100).saturating_mul((dice % 41).saturating_sub(20)))
}

/// Returns the longest wait that spreading can yield.
pub(super) const fn longest_spread(wait_ms: u64) -> u64 {
    spread_upwards(wait_ms, 40)
}

/// Returns the step for the count, or the last step.
pub(super) const fn step<const N: usize>(steps: &[u64; N], count: u32) -> u64 {
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
