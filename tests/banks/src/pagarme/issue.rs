//! Creates orders: authorises cards, issues PIX charges and boletos.

use chrono::Days;

use super::answer::Answer;
use super::charge::{Authorisation, Boleto, Card, Charge, Means, Order, Pix, Status, Transaction};
use super::order::{Wanted, WantedBoleto, WantedCard, WantedMeans};
use super::outbox::Event;
use super::plan::{Outcome, WrongCode};
use super::{Pagarme, Timer, show};
use crate::cielo::bar_code::{self, Bank};
use crate::cielo::{br_code, local_time};

/// Delay of an answer that its callback precedes, in milliseconds.
const AFTER_ITS_NOTICE_MS: u64 = 1_500;

/// Document that the test account's fraud check refuses.
const REPROVED_DOCUMENT: &str = "11111111111";

/// Outcome of a new card charge by the values of the test account (docs.pagar.me, "Simulador").
fn by_test_values(card: &WantedCard, document: &str) -> (Outcome, Option<bool>) {
    let declined = Outcome::Decline { code: "05".to_owned(), brand_code: None };
    if document == REPROVED_DOCUMENT {
        return (Outcome::Reprove, None);
    }
    match card.number.as_str() {
        "4000000000000028" => (declined, None),
        "4000000000000036" => (Outcome::Process, Some(true)),
        "4000000000000044" => (Outcome::Process, Some(false)),
        _ if card.cvv.starts_with('6') => (declined, None),
        _ => (Outcome::Approve, None),
    }
}

impl Pagarme {
    /// Handles a request for an order. Returns the answer and its delay.
    pub(super) fn create(&mut self, body: &[u8], now_ms: i64) -> (Answer, u64) {
        let wanted = match Wanted::read(body, &self.config, now_ms) {
            Ok(wanted) => wanted,
            Err(answer) => return (answer, 0),
        };
        if let Some(plan) = self.next_plans.pop_front() {
            self.plans.entry(wanted.code.clone()).or_insert(plan);
        }
        let charge_id = self.make(wanted, now_ms);
        let answer = match self.order_of(&charge_id) {
            Some(order) => Answer::ok(show::order(self, order)),
            None => Answer::ok(serde_json::Value::Null),
        };
        if self.chance.per_mille(self.config.notices.early_permille) {
            self.announce_at_once(&charge_id, now_ms);
            return (answer, AFTER_ITS_NOTICE_MS);
        }
        self.announce(&charge_id, Event::Created, now_ms);
        (answer, 0)
    }

    /// Creates an order and its charge. Returns the charge's id.
    fn make(&mut self, wanted: Wanted, now_ms: i64) -> String {
        let lags = self.chance.per_mille(self.config.list_lag_permille);
        let lag_ms = if lags { self.config.list_lag_ms } else { 0 };
        let order = Order {
            id: format!("or_{}", self.chance.hexadecimal(16)),
            code: wanted.code.clone(),
            amount_cents: wanted.amount_cents,
            customer: wanted.customer,
            items: wanted.items,
            created_ms: now_ms,
            listed_from_ms: now_ms.saturating_add(lag_ms),
            charges: Vec::new(),
        };
        let plan = self.plans.get(&wanted.code).cloned().unwrap_or_default();
        let refused = wanted.gateway_refusal.map(|_| Outcome::Reject { code: "400".to_owned() });
        let errors: Vec<String> = wanted.gateway_refusal.into_iter().map(str::to_owned).collect();
        let (by_values, decided) = match &wanted.means {
            WantedMeans::Card(card) => by_test_values(card, &wanted.document),
            WantedMeans::Pix { .. } | WantedMeans::Boleto(_) => (Outcome::Approve, None),
        };
        let outcome = refused.or(plan.outcome.clone()).unwrap_or(by_values);
        let wrong = plan.wrong_code.or_else(|| self.drawn_fault());
        let means = match wanted.means {
            WantedMeans::Card(card) => Means::Card(kept(card)),
            WantedMeans::Pix { expires_in_s } => {
                Means::Pix(self.pix(wanted.amount_cents, expires_in_s, wrong, now_ms))
            }
            WantedMeans::Boleto(boleto) => Means::Boleto(self.boleto(wanted.amount_cents, boleto, wrong)),
        };
        let charge = Charge {
            id: format!("ch_{}", self.chance.hexadecimal(16)),
            order_id: order.id.clone(),
            code: wanted.code,
            amount_cents: wanted.amount_cents,
            means,
            status: Status::Processing,
            authorised_cents: 0,
            paid_cents: 0,
            canceled_cents: 0,
            charged_back_cents: 0,
            created_ms: now_ms,
            updated_ms: now_ms,
            paid_ms: None,
            canceled_ms: None,
            shares: wanted.shares,
            transactions: Vec::new(),
            refunds: Vec::new(),
            cancel_tries_ms: Vec::new(),
        };
        let id = charge.id.clone();
        self.keep(order, charge);
        self.conclude(&id, &outcome, errors, now_ms);
        if let Some(approves) = decided {
            let due_ms = now_ms.saturating_add(self.config.processing_takes_ms);
            self.timers.insert((due_ms, id.clone(), Timer::Decide(approves)));
        }
        id
    }

    pub(super) fn keep(&mut self, mut order: Order, charge: Charge) {
        order.charges.push(charge.id.clone());
        self.codes.entry(order.code.clone()).or_default().push(order.id.clone());
        self.orders.insert(order.id.clone(), order);
        self.charges.insert(charge.id.clone(), charge);
    }

    /// Brings a charge to this outcome.
    pub(super) fn conclude(&mut self, id: &str, outcome: &Outcome, errors: Vec<String>, now_ms: i64) {
        let authorisation = Authorisation {
            tid: self.chance.digits(16),
            nsu: self.chance.digits(9),
            code: Some(self.chance.digits(6)),
            return_code: "00".to_owned(),
            message: "Transação aprovada com sucesso",
            brand_failure: None,
        };
        let transaction_id = format!("tran_{}", self.chance.hexadecimal(16));
        let lapses_ms = now_ms.saturating_add(self.config.authorisation_lapses_ms);
        let Some(charge) = self.charges.get_mut(id) else { return };
        let is_card = charge.card().is_some();
        let captures = charge.card().is_some_and(|card| card.captures_at_once);
        let mut step = Transaction {
            id: transaction_id,
            status: "with_error",
            success: false,
            amount_cents: charge.amount_cents,
            at_ms: now_ms,
            authorisation: None,
            gateway: ("200".to_owned(), errors),
            antifraud: None,
        };
        charge.updated_ms = now_ms;
        match outcome {
            Outcome::Approve if !is_card => {
                charge.status = Status::Pending;
                step.status =
                    if matches!(charge.means, Means::Pix(_)) { "waiting_payment" } else { "generated" };
                step.success = true;
                if let Means::Pix(pix) = &charge.means {
                    self.timers.insert((pix.expires_ms, id.to_owned(), Timer::Lapse));
                }
            }
            Outcome::Approve => {
                charge.authorised_cents = charge.amount_cents;
                step.success = true;
                step.authorisation = Some(authorisation);
                if captures {
                    step.status = "captured";
                    charge.status = Status::Paid;
                    charge.paid_cents = charge.amount_cents;
                    charge.paid_ms = Some(now_ms);
                } else {
                    step.status = "authorized_pending_capture";
                    charge.status = Status::Pending;
                    self.timers.insert((lapses_ms, id.to_owned(), Timer::Lapse));
                }
            }
            Outcome::Decline { code, brand_code } => {
                charge.status = Status::Failed;
                step.status = "not_authorized";
                let brand_failure = brand_code.clone();
                let return_code = code.clone();
                let message = "Transação não autorizada";
                step.authorisation =
                    Some(Authorisation { code: None, return_code, message, brand_failure, ..authorisation });
            }
            Outcome::Reprove => {
                charge.status = Status::Failed;
                step.status = "not_authorized";
                step.antifraud = Some("reproved");
            }
            Outcome::Analyze => {
                charge.status = Status::Processing;
                step.status = "analyzing";
                step.antifraud = Some("pending");
            }
            Outcome::Process => {
                charge.status = Status::Processing;
                step.status = "pending_review";
            }
            Outcome::Err => charge.status = Status::Processing,
            Outcome::Reject { code } => {
                charge.status = Status::Failed;
                step.status = "failed";
                step.gateway.0.clone_from(code);
            }
        }
        charge.transactions.push(step);
        let has_money = charge.paid_cents > 0;
        if has_money {
            self.book_credit(id, now_ms);
        }
    }

    /// Draws a fault for the code of a charge.
    fn drawn_fault(&mut self) -> Option<WrongCode> {
        let is_wrong = self.chance.per_mille(self.config.wrong_codes_permille);
        let which = if is_wrong { usize::try_from(self.chance.below(5)).ok() } else { None };
        which.and_then(|which| WrongCode::ALL.get(which)).copied()
    }

    fn pix(&mut self, amount_cents: u64, expires_in_s: i64, wrong: Option<WrongCode>, now_ms: i64) -> Pix {
        let provider_tid = self.chance.hexadecimal(32);
        let location = format!("pix.pagarme.example/v2/{provider_tid}");
        let code = br_code::dynamic(&location, Some(amount_cents));
        let code = match wrong {
            None | Some(WrongCode::OtherDay) => Some(code),
            Some(WrongCode::OtherAmount) => Some(br_code::dynamic(&location, Some(amount_cents + 1))),
            Some(WrongCode::WrongCheck) => Some(br_code::with_wrong_crc(&code)),
            Some(WrongCode::Garbage) => Some("https://pagarme.example/qr".to_owned()),
            Some(WrongCode::Missing) => None,
        };
        let expires_ms = now_ms.saturating_add(expires_in_s.saturating_mul(1_000));
        Pix { provider_tid, code, expires_ms, end_to_end_id: None }
    }

    fn boleto(&mut self, amount_cents: u64, wanted: WantedBoleto, wrong: Option<WrongCode>) -> Boleto {
        let number = self.chance.below(9_999_999_999);
        let bank = match wanted.bank.as_str() {
            "001" => Bank::BancoDoBrasil,
            "237" => Bank::Bradesco,
            _ => Bank::Stone,
        };
        let line = |due, cents| bar_code::line(&bar_code::bar_code(bank, due, cents, number));
        let right = bar_code::bar_code(bank, wanted.due, amount_cents, number);
        let next_day = wanted.due.checked_add_days(Days::new(1)).unwrap_or(wanted.due);
        let line = match wrong {
            None => Some(bar_code::line(&right)),
            Some(WrongCode::OtherAmount) => Some(line(wanted.due, amount_cents + 1)),
            Some(WrongCode::OtherDay) => Some(line(next_day, amount_cents)),
            Some(WrongCode::WrongCheck) => Some(bar_code::line(&bar_code::with_wrong_digit(&right))),
            Some(WrongCode::Garbage) => Some("00000".to_owned()),
            Some(WrongCode::Missing) => None,
        };
        Boleto {
            bank: wanted.bank,
            number: number.to_string(),
            document_number: wanted.document_number,
            instructions: wanted.instructions,
            line,
            due: wanted.due,
            payable_after_days: wanted.payable_after_days,
        }
    }
}

/// Returns the part of a card that is stored.
fn kept(card: WantedCard) -> Card {
    let brand = match card.number.as_bytes() {
        [b'4', ..] => "Visa",
        [b'5', ..] => "Mastercard",
        [b'3', b'4' | b'7', ..] => "Amex",
        _ => "Elo",
    };
    let ends: Vec<char> = card.number.chars().rev().take(4).collect();
    Card {
        first_six: card.number.chars().take(6).collect(),
        last_four: ends.into_iter().rev().collect(),
        holder: card.holder,
        expires: card.expires,
        brand,
        instalments: card.instalments,
        captures_at_once: card.captures_at_once,
        statement_descriptor: card.statement_descriptor,
        auto_recovery: card.auto_recovery,
    }
}

/// Returns the last day on which a boleto can be paid.
pub(super) fn last_day(boleto: &Boleto) -> chrono::NaiveDate {
    boleto.due.checked_add_days(Days::new(boleto.payable_after_days)).unwrap_or(boleto.due)
}

/// Returns true if it is too late to pay.
pub(super) fn is_late(charge: &Charge, now_ms: i64) -> bool {
    match &charge.means {
        Means::Pix(pix) => now_ms >= pix.expires_ms,
        Means::Boleto(boleto) => local_time::day(now_ms) > last_day(boleto),
        Means::Card(_) => true,
    }
}
