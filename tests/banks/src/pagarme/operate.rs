//! Captures, voids and refunds through the API.

use serde_json::Value;

use super::answer::{self, Answer};
use super::charge::{Authorisation, Charge, Means, PendingRefund, Share, Status, Transaction};
use super::order;
use super::outbox::Event;
use super::plan::Failure;
use super::{Pagarme, Timer, show};
use crate::cielo::local_time;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const CARD_REFUND_WINDOW_MS: i64 = 360 * DAY_MS;
const PIX_REFUND_WINDOW_MS: i64 = 90 * DAY_MS;

/// Maximum number of requests to cancel one PIX charge before only one in a quarter of an hour is accepted.
const PIX_CANCEL_TRIES: usize = 10;
const PIX_CANCEL_PAUSE_MS: i64 = 15 * 60 * 1_000;

/// Step that an operation would do.
#[derive(Debug, Clone)]
enum Step {
    Capture(u64, Vec<Share>),
    /// Releases an authorisation, or withdraws an unpaid charge.
    Release,
    /// Refunds this amount.
    Refund(u64),
}

impl Pagarme {
    /// Answers `POST /charges/{id}/capture`.
    pub(super) fn capture(&mut self, id: &str, body: &[u8], now_ms: i64) -> Answer {
        let Some(asked) = asked(body) else { return answer::unreadable() };
        let Some(charge) = self.charges.get(id) else { return answer::not_found("Charge") };
        let Some(amount) = amount_of(&asked, charge.amount_cents) else { return answer::unreadable() };
        let is_authorised = charge.card().is_some() && charge.last().is_some_and(waits_for_capture);
        if !is_authorised || amount > charge.amount_cents {
            return answer::not_now("This charge can not be captured.");
        }
        let has_rules = asked.get("split").is_some_and(|split| !split.is_null());
        let shares = if has_rules {
            order::shares_of_capture(&asked, amount, &self.config)
        } else if charge.shares.len() > 1 && amount < charge.amount_cents {
            // The order's rules are for another amount.
            None
        } else {
            Some(vec![Share {
                recipient: self.config.own_recipient.clone(),
                amount_cents: amount,
                pays_fee: true,
            }])
        };
        let keeps_rules = !has_rules && amount == charge.amount_cents;
        let shares = if keeps_rules { Some(charge.shares.clone()) } else { shares };
        let Some(shares) = shares else { return answer::not_now("The split rules are invalid.") };
        let failure = self.plans.get(&charge.code).and_then(|plan| plan.capture.clone());
        self.operate(id, Step::Capture(amount, shares), failure, now_ms)
    }

    /// Answers `DELETE /charges/{id}`.
    pub(super) fn cancel(&mut self, id: &str, body: &[u8], now_ms: i64) -> Answer {
        let Some(asked) = asked(body) else { return answer::unreadable() };
        let Some(charge) = self.charges.get_mut(id) else { return answer::not_found("Charge") };
        if matches!(charge.means, Means::Pix(_)) && is_tried_too_often(charge, now_ms) {
            return answer::failed(429);
        }
        charge.cancel_tries_ms.push(now_ms);
        let has_account = asked.get("bank_account").is_some_and(Value::is_object);
        let step = match cancel_step(charge, &asked, has_account, now_ms) {
            Ok(step) => step,
            Err(refused) => return refused,
        };
        let failure = self.plans.get(&charge.code).and_then(|plan| plan.cancel.clone());
        self.operate(id, step, failure, now_ms)
    }

    fn operate(&mut self, id: &str, step: Step, failure: Option<Failure>, now_ms: i64) -> Answer {
        if failure.as_ref().is_none_or(|failure| failure.was_done) {
            self.step(id, &step, now_ms);
        }
        if failure.as_ref().is_some_and(|failure| failure.is_once) {
            self.spend(id, &step);
        }
        match failure {
            Some(failure) => answer::failed(failure.status),
            None => self
                .charges
                .get(id)
                .map_or_else(|| answer::not_found("Charge"), |charge| Answer::ok(show::charge(self, charge))),
        }
    }

    /// Ends a failure that happens only once.
    fn spend(&mut self, id: &str, step: &Step) {
        let code = self.charges.get(id).map(|charge| charge.code.clone()).unwrap_or_default();
        if let Some(plan) = self.plans.get_mut(&code) {
            match step {
                Step::Capture(..) => plan.capture = None,
                Step::Release | Step::Refund(_) => plan.cancel = None,
            }
        }
    }

    fn step(&mut self, id: &str, step: &Step, now_ms: i64) {
        let takes_ms = self.config.refund_takes_ms;
        let Some(charge) = self.charges.get(id) else { return };
        let fails = self.plans.get(&charge.code).is_some_and(|plan| plan.refund_fails_later);
        match step {
            Step::Capture(amount, shares) => self.take_card(id, *amount, shares.clone(), now_ms),
            Step::Release => self.release(id, now_ms),
            Step::Refund(amount) if takes_ms > 0 || fails => {
                let due_ms = now_ms.saturating_add(takes_ms);
                if let Some(charge) = self.charges.get_mut(id) {
                    charge.refunds.push(PendingRefund { amount_cents: *amount, due_ms, fails });
                }
                self.timers.insert((due_ms, id.to_owned(), Timer::Refund));
                self.note(id, "pending_refund", *amount, now_ms);
            }
            Step::Refund(amount) => self.give_back(id, *amount, now_ms),
        }
    }

    /// Captures a card.
    pub(super) fn take_card(&mut self, id: &str, amount_cents: u64, shares: Vec<Share>, now_ms: i64) {
        let Some(charge) = self.charges.get_mut(id) else { return };
        charge.status = Status::Paid;
        charge.paid_cents = amount_cents;
        charge.paid_ms = Some(now_ms);
        charge.shares = shares;
        let is_whole = amount_cents == charge.amount_cents;
        self.note(id, if is_whole { "captured" } else { "partial_capture" }, amount_cents, now_ms);
        self.book_credit(id, now_ms);
        self.announce(id, Event::Paid, now_ms);
    }

    /// Releases a card's limit, or withdraws an unpaid charge.
    pub(super) fn release(&mut self, id: &str, now_ms: i64) {
        let Some(charge) = self.charges.get_mut(id) else { return };
        let amount_cents = charge.amount_cents;
        charge.status = Status::Canceled;
        charge.canceled_cents = amount_cents;
        charge.canceled_ms = Some(now_ms);
        self.note(id, "voided", amount_cents, now_ms);
        self.announce(id, Event::Canceled, now_ms);
    }

    /// Refunds money. The last refund ends the charge: a card's as voided on the day of its capture.
    pub(super) fn give_back(&mut self, id: &str, amount_cents: u64, now_ms: i64) {
        let Some(charge) = self.charges.get_mut(id) else { return };
        charge.canceled_cents = charge.canceled_cents.saturating_add(amount_cents);
        charge.canceled_ms = Some(now_ms);
        let is_whole = charge.canceled_cents >= charge.paid_cents;
        let is_first_day =
            charge.paid_ms.is_some_and(|paid| local_time::day(paid) == local_time::day(now_ms));
        let is_void = charge.card().is_some() && is_first_day;
        let status = match (is_whole, is_void) {
            (true, true) => "voided",
            (true, false) => "refunded",
            (false, true) => "partial_void",
            (false, false) => "partial_refunded",
        };
        if is_whole {
            charge.status = Status::Canceled;
        }
        self.note(id, status, amount_cents, now_ms);
        self.book_back(id, "refund", amount_cents, now_ms);
        self.announce(id, if is_whole { Event::Refunded } else { Event::PartlyCanceled }, now_ms);
    }

    /// Performs the refunds that are due, or makes them fail.
    pub(super) fn settle_refunds(&mut self, id: &str, now_ms: i64) {
        let Some(charge) = self.charges.get_mut(id) else { return };
        let (due, later): (Vec<_>, Vec<_>) =
            charge.refunds.drain(..).partition(|refund| refund.due_ms <= now_ms);
        charge.refunds = later;
        for refund in due {
            if refund.fails {
                self.note(id, "error_on_refunding", refund.amount_cents, now_ms);
                self.announce(id, Event::Created, now_ms);
            } else {
                self.give_back(id, refund.amount_cents, now_ms);
            }
        }
    }

    /// Adds a step to a charge.
    pub(super) fn note(&mut self, id: &str, status: &'static str, amount_cents: u64, now_ms: i64) {
        let transaction_id = format!("tran_{}", self.chance.hexadecimal(16));
        let Some(charge) = self.charges.get_mut(id) else { return };
        charge.updated_ms = now_ms;
        let before: Option<Authorisation> = charge.last().and_then(|last| last.authorisation.clone());
        charge.transactions.push(Transaction {
            id: transaction_id,
            status,
            success: !status.starts_with("error"),
            amount_cents,
            at_ms: now_ms,
            authorisation: before,
            gateway: ("200".to_owned(), Vec::new()),
            antifraud: None,
        });
    }
}

/// Returns true if this step holds a card's limit.
pub(super) fn waits_for_capture(step: &Transaction) -> bool {
    ["authorized_pending_capture", "waiting_capture"].contains(&step.status)
}

fn asked(body: &[u8]) -> Option<Value> {
    if body.is_empty() { Some(Value::Null) } else { serde_json::from_slice(body).ok() }
}

/// Returns the requested amount, or everything; `None` if it is not a valid amount.
fn amount_of(asked: &Value, all: u64) -> Option<u64> {
    match asked.get("amount") {
        None | Some(Value::Null) => Some(all),
        Some(amount) => amount.as_u64().filter(|amount| *amount > 0),
    }
}

fn is_tried_too_often(charge: &Charge, now_ms: i64) -> bool {
    let last = charge.cancel_tries_ms.last().copied().unwrap_or(i64::MIN);
    charge.cancel_tries_ms.len() >= PIX_CANCEL_TRIES && now_ms.saturating_sub(last) < PIX_CANCEL_PAUSE_MS
}

fn cancel_step(charge: &Charge, asked: &Value, has_account: bool, now_ms: i64) -> Result<Step, Answer> {
    let not_now = || answer::not_now("This charge can not be canceled.");
    let is_unpaid = charge.paid_cents == 0;
    match (&charge.means, charge.status) {
        (_, Status::Pending) if is_unpaid => {
            let amount = amount_of(asked, charge.amount_cents).ok_or_else(answer::unreadable)?;
            return if amount == charge.amount_cents { Ok(Step::Release) } else { Err(not_now()) };
        }
        (Means::Boleto(_), Status::Paid | Status::Overpaid | Status::Underpaid) if !has_account => {
            return Err(answer::not_now("The bank_account is required to refund a boleto."));
        }
        (_, Status::Paid | Status::Overpaid | Status::Underpaid) => {}
        (
            _,
            Status::Pending | Status::Canceled | Status::Processing | Status::Failed | Status::ChargedBack,
        ) => {
            return Err(not_now());
        }
    }
    let window_ms = match charge.means {
        Means::Card(_) => CARD_REFUND_WINDOW_MS,
        Means::Pix(_) | Means::Boleto(_) => PIX_REFUND_WINDOW_MS,
    };
    if charge.paid_ms.is_some_and(|paid| now_ms.saturating_sub(paid) > window_ms) {
        return Err(answer::not_now("The refund window of this charge is over."));
    }
    let left = charge.refundable_cents();
    let amount = amount_of(asked, left).ok_or_else(answer::unreadable)?;
    if amount == 0 || amount > left {
        return Err(answer::not_now("The amount to be canceled is greater than what is left."));
    }
    Ok(Step::Refund(amount))
}
