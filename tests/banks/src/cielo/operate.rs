//! Captures and voids through the API.

use super::answer::{self, Answer};
use super::local_time;
use super::outbox::Change;
use super::plan::Failure;
use super::sale::{Means, PendingRefund, Sale, Status};
use super::{Cielo, Timer, show};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const CARD_REFUND_WINDOW_MS: i64 = 360 * DAY_MS;
const PIX_REFUND_WINDOW_MS: i64 = 90 * DAY_MS;
const DONE: &str = "Operation Successful";

/// Requested amount, or everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    All,
    Amount(u64),
    Nonsense,
}

impl Asked {
    /// Reads `amount=…` in a query.
    pub(crate) fn of(query: &str) -> Self {
        let named = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut amounts = named.filter(|(name, _)| name.eq_ignore_ascii_case("amount"));
        match amounts.next().map(|(_, amount)| amount.parse()) {
            None => Self::All,
            Some(Ok(amount)) if amount > 0 => Self::Amount(amount),
            Some(Ok(_) | Err(_)) => Self::Nonsense,
        }
    }
}

/// Effect of an operation.
enum Step {
    Capture(u64),
    /// Releases an authorisation.
    Release,
    /// Refunds this amount.
    Refund(u64),
}

impl Cielo {
    pub(super) fn capture(&mut self, payment_id: &str, asked: Asked, now_ms: i64) -> Answer {
        let Some(sale) = self.sales.get(payment_id) else { return answer::not_found() };
        let is_early = self.is_too_early(sale, now_ms);
        let amount = match asked {
            Asked::All => sale.amount_cents,
            Asked::Amount(amount) => amount,
            Asked::Nonsense => return answer::bad(answer::AMOUNT_INVALID),
        };
        if sale.card().is_none() {
            return answer::bad(answer::NOT_SUPPORTED);
        }
        if is_early || sale.status != Status::Authorized || amount > sale.amount_cents {
            return answer::bad(answer::CANNOT_CAPTURE);
        }
        let failure = self.plans.get(&sale.order_id).and_then(|plan| plan.capture.clone());
        self.operate(payment_id, Step::Capture(amount), failure, now_ms)
    }

    pub(super) fn void(&mut self, payment_id: &str, asked: Asked, now_ms: i64) -> Answer {
        let Some(sale) = self.sales.get(payment_id) else { return answer::not_found() };
        if asked == Asked::Nonsense {
            return answer::bad(answer::AMOUNT_INVALID);
        }
        if self.is_too_early(sale, now_ms) {
            return answer::bad(answer::CANNOT_VOID);
        }
        let step = match void_step(sale, asked, now_ms) {
            Ok(step) => step,
            Err(answer) => return answer,
        };
        let failure = self.plans.get(&sale.order_id).and_then(|plan| plan.void.clone());
        self.operate(payment_id, step, failure, now_ms)
    }

    /// Returns true if the previous operation on this sale was too recent.
    fn is_too_early(&self, sale: &Sale, now_ms: i64) -> bool {
        sale.last_operation_ms.is_some_and(|last| now_ms.saturating_sub(last) < self.config.pause_ms)
    }

    fn operate(&mut self, payment_id: &str, step: Step, failure: Option<Failure>, now_ms: i64) -> Answer {
        let order_id = self.sales.get(payment_id).map(|sale| sale.order_id.clone()).unwrap_or_default();
        let fails_later = self.plans.get(&order_id).is_some_and(|plan| plan.refund_fails_later);
        let before = self.sales.get(payment_id).map(|sale| sale.status);
        let done = if failure.as_ref().is_none_or(|failure| failure.was_done) {
            self.step(payment_id, &step, fails_later, now_ms)
        } else {
            None
        };
        if failure.as_ref().is_some_and(|failure| failure.is_once) {
            self.spend(&order_id, &step);
        }
        let Some(sale) = self.sales.get_mut(payment_id) else { return answer::not_found() };
        sale.last_operation_ms = Some(now_ms);
        let body = match (&failure, done) {
            (Some(failure), _) => show::operated(
                sale,
                before.unwrap_or(sale.status),
                &failure.code,
                "Transaction not completed",
            ),
            (None, Some((status, code))) => show::operated(sale, status, code, DONE),
            (None, None) => return answer::bad(answer::CANNOT_VOID),
        };
        Answer::new(200, body)
    }

    /// Ends a failure that happens only once.
    fn spend(&mut self, order_id: &str, step: &Step) {
        if let Some(plan) = self.plans.get_mut(order_id) {
            match step {
                Step::Capture(_) => plan.capture = None,
                Step::Release | Step::Refund(_) => plan.void = None,
            }
        }
    }

    /// Performs a step, and returns the status and code of the answer.
    fn step(
        &mut self,
        payment_id: &str,
        step: &Step,
        fails_later: bool,
        now_ms: i64,
    ) -> Option<(Status, &'static str)> {
        let takes_ms = self.config.pix_refund_takes_ms;
        let sale = self.sales.get_mut(payment_id)?;
        let is_slow = matches!(sale.means, Means::Pix(_)) && (takes_ms > 0 || fails_later);
        let answered = match step {
            Step::Capture(amount) => {
                take(sale, *amount, now_ms);
                (Status::PaymentConfirmed, "6")
            }
            Step::Release => {
                release(sale, now_ms);
                (Status::Voided, "9")
            }
            Step::Refund(amount) if is_slow => {
                let due_ms = now_ms.saturating_add(takes_ms);
                sale.refunds.push(PendingRefund { amount_cents: *amount, due_ms, fails: fails_later });
                self.timers.insert((due_ms, payment_id.to_owned(), Timer::Refund));
                return Some((Status::Pending, "0"));
            }
            Step::Refund(amount) => {
                give_back(sale, *amount, now_ms);
                (sale.status, "0")
            }
        };
        self.announce(payment_id, Change::Status, now_ms);
        Some(answered)
    }

    /// Performs the refunds that are due, or makes them fail.
    pub(super) fn settle_refunds(&mut self, payment_id: &str, now_ms: i64) {
        let Some(sale) = self.sales.get_mut(payment_id) else { return };
        let (due, later): (Vec<_>, Vec<_>) =
            sale.refunds.drain(..).partition(|refund| refund.due_ms <= now_ms);
        sale.refunds = later;
        for refund in due {
            let change = if refund.fails { Change::VoidRefused } else { Change::Status };
            if let Some(sale) = self.sales.get_mut(payment_id).filter(|_| !refund.fails) {
                give_back(sale, refund.amount_cents, now_ms);
            }
            self.announce(payment_id, change, now_ms);
        }
    }
}

fn void_step(sale: &Sale, asked: Asked, now_ms: i64) -> Result<Step, Answer> {
    let window_ms = match (&sale.means, sale.status) {
        (Means::Card(_), Status::Authorized) => {
            let is_whole = asked == Asked::All || asked == Asked::Amount(sale.amount_cents);
            return if is_whole { Ok(Step::Release) } else { Err(answer::bad(answer::CANNOT_VOID)) };
        }
        (Means::Card(_), Status::PaymentConfirmed) => CARD_REFUND_WINDOW_MS,
        (Means::Pix(_), Status::PaymentConfirmed) => PIX_REFUND_WINDOW_MS,
        (Means::Boleto(_), Status::PaymentConfirmed) => return Err(answer::bad(answer::CANNOT_REFUND)),
        (Means::Card(_) | Means::Pix(_) | Means::Boleto(_), _) => {
            return Err(answer::bad(answer::CANNOT_VOID));
        }
    };
    let left = sale.refundable_cents();
    let amount = if let Asked::Amount(amount) = asked { amount } else { left };
    let refused = |code, message| Err(Answer::new(200, show::operated(sale, sale.status, code, message)));
    if sale.captured_ms.is_some_and(|captured| now_ms.saturating_sub(captured) > window_ms) {
        return refused("101", "Transaction is too old to be voided");
    }
    if amount == 0 || amount > left {
        return refused("102", "Amount is greater than what is left of the sale");
    }
    Ok(Step::Refund(amount))
}

/// Records incoming money.
pub(super) fn take(sale: &mut Sale, amount_cents: u64, now_ms: i64) {
    sale.status = Status::PaymentConfirmed;
    sale.captured_cents = amount_cents;
    sale.captured_ms = Some(now_ms);
    if sale.card().is_some() {
        sale.return_code = "6".to_owned();
        sale.return_message = DONE.to_owned();
    }
}

/// Releases the card's limit.
pub(super) fn release(sale: &mut Sale, now_ms: i64) {
    sale.status = Status::Voided;
    sale.voided_cents = sale.amount_cents;
    sale.voided_ms = Some(now_ms);
}

/// Refunds money. The last refund ends the sale: as voided on its first day, as refunded later and for a PIX.
pub(super) fn give_back(sale: &mut Sale, amount_cents: u64, now_ms: i64) {
    sale.voided_cents = sale.voided_cents.saturating_add(amount_cents);
    sale.voided_ms = Some(now_ms);
    if sale.voided_cents >= sale.captured_cents {
        let is_first_day = local_time::day(sale.received_ms) == local_time::day(now_ms);
        let is_card = sale.card().is_some();
        sale.status = if is_card && is_first_day { Status::Voided } else { Status::Refunded };
    }
}
