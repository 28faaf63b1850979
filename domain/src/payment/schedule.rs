//! How long everything waits: calls, inquiries, checks, expiry.

use chrono::NaiveDate;

use super::{Check, Payment, Planned, REPORT_LEASE_MS};
use crate::acquiring::Issued;
use crate::boleto::business_day;
use crate::operation::{Operation, OperationCall, OperationKind};
use crate::order::Terms;
use crate::status::Status;
use crate::time::{DAY_MS, Timestamp};
use crate::webhook::schedule;

/// How long after its decision a call to an acquirer may be under way before somebody else asks what became of it.
///
/// Every acquirer's time-out must be shorter; that is checked when the service starts.
pub const CALL_LEASE_MS: u64 = 30_000;

/// Waits before inquiries about an unknown outcome, and before an operation that had no effect is sent again; the last
/// one repeats.
const INQUIRY_STEPS_MS: [u64; 8] =
    [1_000, 2_000, 5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS];

/// Waits before inquiries about what an acquirer took and has not ended yet; the last one repeats.
const ACCEPTED_STEPS_MS: [u64; 5] = [10_000, MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS];

/// How long after a call that an operator's directive withheld it is tried again, at least: what had been tried often
/// before keeps its longer step, so that it is not reported more often. None of it counts as a try.
pub(super) const WITHHELD_WAIT_MS: u64 = 30_000;

/// As much for a check, which is in no hurry: there is one for every charge that waits for its payer.
pub(super) const WITHHELD_CHECK_WAIT_MS: u64 = 5 * MINUTE_MS;

/// Inquiries after which an unknown outcome is reported, which is after 6 minutes; inquiring goes on.
pub(super) const MANY_INQUIRIES: u32 = 5;

/// How long an acquirer may put inquiries off before the outcome that they are about is reported.
pub(super) const OPEN_FOR_LONG_MS: u64 = 6 * MINUTE_MS;

/// Sendings without any effect after which an operation is reported.
pub(super) const MANY_SENDINGS: u32 = 6;

/// Waits between checks of a charge that waits for its payer, or of an approved card; the last one repeats.
const CHECK_STEPS_MS: [u64; 4] = [MINUTE_MS, 2 * MINUTE_MS, 7 * MINUTE_MS, 6 * HOUR_MS];

/// How long after its expiry a charge that the acquirer gives no answer about is reported.
pub(super) const OVERDUE_MS: u64 = 2 * HOUR_MS;

/// Waits before checks of a PIX or boleto that expired or was cancelled, for money that arrived late and whose notice
/// was lost: after a day, and two days later.
///
/// Providers state one to three business days from the payment of a boleto to its confirmation (same day at best since
/// the bank federation's convention of 2024-03-15). A PIX crosses its expiry or cancellation by moments only.
const LATE_CHECK_STEPS_MS: [u64; 2] = [DAY_MS, 2 * DAY_MS];

/// Checks for late money that brought no answer, after which it is reported; checking goes on every two days.
pub(super) const LATE_CHECKS: u32 = 2;

/// Times after its payment at which a charge is looked at whose chargebacks and refunds may have been told in vain, and
/// that no list names: brands let a holder dispute for 120 days, and in some cases for 180.
const PAID_LOOKS_MS: [u64; 4] = [30 * DAY_MS, 60 * DAY_MS, 120 * DAY_MS, 180 * DAY_MS];

/// The longest time from one of these looks to the next.
const PAID_LOOK_STEP_MS: u64 = 60 * DAY_MS;

/// Over how long the looks at the charges of one moment are spread.
const PAID_LOOKS_OVER_MS: u64 = DAY_MS;

/// Time for which a charge that takes no more money may show none before an operator hears of it.
const MONEY_LAGS_FOR_MS: u64 = 10 * MINUTE_MS;

/// How long after an inquiry a hint may cause the next one, where its acquirer wants no longer gap.
pub const HINT_GAP_MS: u64 = 2_000;

/// How much further ahead than its schedule allows a time may lie before the clock counts as having jumped. Clocks of
/// several nodes may differ a little, and a lease must not be cut because of that.
pub(super) const CLOCK_TOLERANCE_MS: u64 = 10 * MINUTE_MS;

/// How long after the end of its time a PIX may still turn out to have been paid in time: banks tell each other of it
/// tens of seconds later.
const PIX_GRACE_MS: u64 = 90_000;

/// Over how long the checks of the boletos of one due date are spread.
const BOLETO_CHECKS_OVER_MS: u64 = HOUR_MS;

/// Business days after the due date until a boleto counts as expired: settlement takes up to three.
const BOLETO_TOLERANCE_DAYS: u32 = 3;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

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

    /// When the acquirer is asked whether it was paid in time: only from then on it may expire.
    pub(super) fn expiry_check_at(&self) -> Option<Timestamp> {
        let expires_at = self.expires_at()?;
        match self.state.issued.as_deref()? {
            Issued::Pix { .. } => Some(expires_at.plus_ms(PIX_GRACE_MS)),
            // All of one day are over at the same moment.
            Issued::Boleto(_) => Some(expires_at.plus_ms(self.place_within(BOLETO_CHECKS_OVER_MS))),
        }
    }

    /// A moment of so many milliseconds that is this payment's own, the same one always.
    fn place_within(&self, span_ms: u64) -> u64 {
        let place = self.id.uuid().as_u128().checked_rem(u128::from(span_ms));
        place.and_then(|place| u64::try_from(place).ok()).unwrap_or_default()
    }

    /// Whether its time is over, and what was paid in time may not be known yet.
    pub(super) fn may_have_been_paid_in_time(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|at| at <= now) && self.expiry_check_at().is_some_and(|at| now < at)
    }

    /// Whether a payer who paid on this day owed fine and interest: a boleto that is due on a holiday is payable without
    /// them on the next business day.
    pub(super) fn is_late_on(&self, day: NaiveDate) -> bool {
        match self.order.terms {
            Terms::Boleto { due_date } => business_day::roll(due_date) < day,
            Terms::Pix { .. } | Terms::CreditCard { .. } => false,
        }
    }

    /// The check that is scheduled when it gets this status.
    pub(super) fn check_after(&self, status: Status, clock: Timestamp) -> Option<Check> {
        match status {
            Status::Pending => self.check,
            Status::Expired | Status::Cancelled => {
                let at = clock.plus_ms(spread(step(&LATE_CHECK_STEPS_MS, 0), self.dice));
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

    /// Until when a concluded charge may still show what was paid for it.
    pub(super) fn money_awaited_until(&self) -> Option<Timestamp> {
        self.concluded_since.map(|since| since.plus_ms(MONEY_LAGS_FOR_MS))
    }

    /// Moment of the next look at the charge of a paid payment, after this time; never any more when absent.
    pub(super) fn next_look_at_paid(&self, now: Timestamp) -> Option<Timestamp> {
        let has_money = matches!(self.status(), Status::Paid | Status::Chargeback);
        let paid_at = self.state.paid_at.filter(|_| has_money)?;
        let place = self.place_within(PAID_LOOKS_OVER_MS);
        PAID_LOOKS_MS.into_iter().map(|look| paid_at.plus_ms(look).plus_ms(place)).find(|at| *at > now)
    }

    /// The next check: by the schedule of its status, but of a waiting charge not after the moment it may expire.
    pub(super) fn next_check(&self, now: Timestamp, dice: u64) -> Timestamp {
        // The one that is made now counts; before the first one there is none.
        let made = self.check.map_or(0, |check| check.made.saturating_add(1));
        let after = |step_ms| now.plus_ms(spread(step_ms, dice));
        let unanswered = after(inquiry_wait_ms(made));
        match self.state.status {
            Status::Pending => {
                let by_schedule = after(step(&CHECK_STEPS_MS, made));
                match self.expiry_check_at() {
                    Some(expiry) if expiry > now => by_schedule.min(expiry),
                    Some(_) => unanswered,
                    None => by_schedule,
                }
            }
            Status::Approved => after(step(&CHECK_STEPS_MS, made)),
            Status::Expired | Status::Cancelled => after(step(&LATE_CHECK_STEPS_MS, made)),
            Status::Initial | Status::Declined | Status::Refund | Status::Chargeback | Status::Paid => {
                unanswered
            }
        }
    }

    /// Every time that is due, with the longest wait that its schedule has for it, before it is spread.
    pub(super) fn each_due_time(&mut self, mut visit: impl FnMut(&mut Timestamp, u64)) {
        let is_asked = self.state.attempts.last().is_some_and(|attempt| attempt.inquire_at.is_some());
        if is_asked && let Some(attempt) = self.state_mut().attempts.last_mut() {
            let longest = CALL_LEASE_MS
                .max(inquiry_wait_ms(attempt.inquiries))
                .max(accepted_wait_ms(attempt.inquiries));
            attempt.inquire_at.iter_mut().for_each(|at| visit(at, longest));
        }
        for operation in &mut self.operations {
            let longest = operation.wait_ms().max(inquiry_wait_ms(operation.sent)).max(CALL_LEASE_MS);
            operation.due_at.iter_mut().for_each(|at| visit(at, longest));
        }
        let status = self.status();
        if let Some(check) = &mut self.check {
            let scheduled = match status {
                Status::Expired | Status::Cancelled => step(&LATE_CHECK_STEPS_MS, check.made),
                Status::Paid | Status::Chargeback => PAID_LOOK_STEP_MS,
                Status::Initial | Status::Pending | Status::Approved => step(&CHECK_STEPS_MS, check.made),
                Status::Declined | Status::Refund => step(&CHECK_STEPS_MS, check.made),
            };
            match &mut check.planned {
                // What a hint asked for has steps of its own, in every status.
                Some(planned) => {
                    visit(&mut check.at, hint_wait_ms(check.asked));
                    if let Planned::At(at) = planned {
                        visit(at, scheduled);
                    }
                }
                None => visit(&mut check.at, scheduled.max(hint_wait_ms(check.asked))),
            }
        }
        if let Some(look) = &mut self.second_look {
            let longest = look.longest_wait_ms();
            visit(&mut look.at, longest);
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
    /// Whether a hint came so lately that what it is about need not be readable yet.
    pub(super) const fn may_lag(&self) -> bool {
        self.planned.is_some() && self.asked < MANY_INQUIRIES
    }
}

impl Operation {
    /// How long after an inquiry about it the next one follows.
    pub(super) const fn wait_ms(&self) -> u64 {
        match self.call {
            OperationCall::Accepted => accepted_wait_ms(self.inquiries),
            OperationCall::Ready | OperationCall::Sent | OperationCall::Unknown => {
                inquiry_wait_ms(self.inquiries)
            }
        }
    }

    /// Whether it has been sent for so long, without the acquirer's ever knowing it, that it is not sent again: a refund's
    /// payer was told long ago that the money comes, or does not.
    pub(super) fn is_too_old_to_send(&self, now: Timestamp) -> bool {
        match self.kind {
            OperationKind::Refund(_) => now.ms_since(self.requested_at) >= DAY_MS,
            OperationKind::Cancel | OperationKind::Capture(_) => false,
        }
    }

    /// How long it may be open before it is reported: a bank takes days for a refund, and may have it on its way for
    /// the 90 days in which a PIX can be given back (rails: API Pix 2.9.0, devolução).
    pub(super) const fn overdue_ms(&self) -> u64 {
        match (self.kind, self.call) {
            (OperationKind::Cancel | OperationKind::Capture(_), _) => OPEN_FOR_LONG_MS,
            (OperationKind::Refund(_), OperationCall::Accepted) => 90 * DAY_MS,
            (
                OperationKind::Refund(_),
                OperationCall::Ready | OperationCall::Sent | OperationCall::Unknown,
            ) => DAY_MS,
        }
    }
}

/// How long after this many inquiries about an unknown outcome the next one follows.
pub(super) const fn inquiry_wait_ms(inquiries: u32) -> u64 {
    step(&INQUIRY_STEPS_MS, inquiries)
}

/// How long after a hint was asked about in vain this many times it is asked about again, at least.
pub(super) const fn hint_wait_ms(asked: u32) -> u64 {
    let wait_ms = inquiry_wait_ms(asked);
    if wait_ms > HINT_GAP_MS { wait_ms } else { HINT_GAP_MS }
}

/// How long after this many inquiries about what was accepted the next one follows.
pub(super) const fn accepted_wait_ms(inquiries: u32) -> u64 {
    step(&ACCEPTED_STEPS_MS, inquiries)
}

/// How long after this many sendings without an effect an operation is sent again.
pub(super) const fn resend_wait_ms(sent: u32) -> u64 {
    step(&INQUIRY_STEPS_MS, sent.saturating_sub(1))
}

/// Spreads a wait over ±20 %: what came due at once does not come due at once again.
pub(super) const fn spread(wait_ms: u64, dice: u64) -> u64 {
    (wait_ms / 100).saturating_mul(80_u64.saturating_add(dice % 41))
}

/// Spreads a wait that somebody asked for over the 20 % above it.
pub(super) const fn spread_upwards(wait_ms: u64, dice: u64) -> u64 {
    wait_ms.saturating_add((wait_ms / 100).saturating_mul((dice % 41).saturating_sub(20)))
}

/// The longest that a wait becomes when it is spread.
pub(super) const fn longest_spread(wait_ms: u64) -> u64 {
    spread_upwards(wait_ms, 40)
}

/// The step for the count, or the last step.
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
