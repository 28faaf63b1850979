//! The acquirers: two banks in one HTTP server, with books, payers, notices and faults.

mod later;
mod notify;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use quita_domain::webhook::signature::WebhookSecret;
use quita_machine::SystemClock;
use quita_ports::Clock;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::bank_kind::BankKind;
use crate::books::{Books, DISPUTED_CENTS, Operation, Outcome, refunded};
use crate::dice::Dice;
use crate::server::{Incoming, Reply};

/// The server's state.
pub(crate) struct Bank {
    pub(crate) books: RefCell<Books>,
    dice: Dice,
    /// Addresses to which notices may be sent; `secrets` sign them.
    pub(crate) nodes: RefCell<Vec<SocketAddr>>,
    pub(crate) secrets: RefCell<BTreeMap<BankKind, WebhookSecret>>,
    /// True if there are no more faults.
    pub(crate) is_calm: Cell<bool>,
    /// Offset of the nodes' clocks, in milliseconds.
    pub(crate) ahead_ms: Cell<u64>,
    /// Number of payers, refunds and notices under way.
    pub(crate) open: Cell<u64>,
    pub(crate) counts: Counts,
}

/// Counts of the banks' actions, for the report.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) notices: Cell<u64>,
    pub(crate) hints: Cell<u64>,
    pub(crate) faults: Cell<u64>,
    /// Charges that were found by the bank's own names.
    pub(crate) identified: Cell<u64>,
    /// Operations that arrived with an id, each time.
    pub(crate) operations_with_ids: Cell<u64>,
    /// Operations that arrived without one.
    pub(crate) operations_without_ids: Cell<u64>,
    /// Refunds that were accepted first and ended later.
    pub(crate) slow_refunds: Cell<u64>,
    /// Boletos that were accepted first and registered later.
    pub(crate) slow_boletos: Cell<u64>,
}

/// Fault of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    SlowBefore(Duration),
    SlowAfter(Duration),
    CutBefore,
    CutAfter,
    ErrorBefore,
    ErrorAfter,
    GarbageAfter,
    NotNow,
    TooMany,
}

pub(crate) fn add(count: &Cell<u64>) {
    count.set(count.get() + 1);
}

impl Bank {
    pub(crate) fn new(seed: u64) -> Rc<Self> {
        Rc::new(Self {
            books: RefCell::default(),
            dice: Dice::new(seed, "bank"),
            nodes: RefCell::default(),
            secrets: RefCell::default(),
            is_calm: Cell::new(false),
            ahead_ms: Cell::new(0),
            open: Cell::new(0),
            counts: Counts::default(),
        })
    }

    fn fault(&self) -> Fault {
        let roll = self.dice.between(0, 100);
        let short = self.dice.millis(200, 1_500);
        let long = self.dice.millis(1_500, 4_000);
        let fault = match roll {
            0..=1 => Fault::SlowBefore(short),
            2 => Fault::SlowBefore(long),
            3..=4 => Fault::SlowAfter(short),
            5..=6 => Fault::SlowAfter(long),
            7..=8 => Fault::CutBefore,
            9..=11 => Fault::CutAfter,
            12 => Fault::ErrorBefore,
            13..=14 => Fault::ErrorAfter,
            15..=16 => Fault::GarbageAfter,
            17 => Fault::NotNow,
            18 => Fault::TooMany,
            _ => Fault::None,
        };
        if self.is_calm.get() || fault == Fault::None {
            return Fault::None;
        }
        add(&self.counts.faults);
        fault
    }

    /// Answers a call to a bank, with or without a fault.
    pub(crate) async fn answer(self: Rc<Self>, request: Incoming) -> Reply {
        let fault = self.fault();
        match fault {
            Fault::CutBefore => return Reply::Cut,
            Fault::ErrorBefore => return Reply::Json(500, "{}".into()),
            Fault::NotNow => return Reply::Json(503, json!({"error": "not_now"}).to_string()),
            Fault::TooMany => {
                let wait = self.dice.between(100, 1_000);
                let body = json!({"error": "too_many", "retryAfterMs": wait});
                return Reply::Json(429, body.to_string());
            }
            // An inquiry meanwhile is answered that the charge is unknown.
            Fault::SlowBefore(wait) => sleep(wait).await,
            _ => {}
        }
        let (status, answer) = self.act(&request).unwrap_or((400, json!({"error": "bad_request"})));
        match fault {
            Fault::SlowAfter(wait) => sleep(wait).await,
            Fault::CutAfter => return Reply::Cut,
            Fault::ErrorAfter => return Reply::Json(502, "{}".into()),
            Fault::GarbageAfter => return Reply::Garbage,
            _ => {}
        }
        Reply::Json(status, answer.to_string())
    }

    /// Handles `POST /{bank}/charges`, `GET …/charges/{id}`, `POST …/charges/{id}/operations`, `GET
    /// …/charges/{id}/operations/{operation}`, `GET …/numbers/{number}`.
    fn act(self: &Rc<Self>, request: &Incoming) -> Option<(u16, Value)> {
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let (name, path) = parts.split_first()?;
        let bank = BankKind::named(name)?;
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        match (request.method.as_str(), path) {
            ("POST", ["charges"]) => self.charge(bank, &body),
            ("GET", ["charges", id]) => Some(self.statement(bank, id)),
            ("POST", ["charges", id, "operations"]) => self.operate(bank, id, &body),
            ("GET", ["charges", id, "operations", operation]) => Some(self.outcome(bank, id, operation)),
            ("GET", ["numbers", number]) => Some(self.identify(bank, number)),
            _ => None,
        }
    }

    fn charge(self: &Rc<Self>, bank: BankKind, body: &Value) -> Option<(u16, Value)> {
        let is_new = self.books.borrow_mut().charge(bank, body)?;
        let id = body["id"].as_str()?;
        let (amount, method) = {
            let mut books = self.books.borrow_mut();
            let entry = books.entry(bank, id)?;
            (entry.amount, entry.method.clone())
        };
        let is_slow = method == "boleto" && bank == BankKind::SumsOnly && self.dice.percent(40);
        match method.as_str() {
            _ if !is_new => {}
            "credit_card" if amount % 100 == DISPUTED_CENTS => self.charge_back_later(bank, id),
            "credit_card" => {}
            _ if is_slow => self.register_later(bank, id),
            _ => self.pay_later(bank, id),
        }
        Some(self.statement(bank, id))
    }

    fn statement(&self, bank: BankKind, id: &str) -> (u16, Value) {
        match self.books.borrow_mut().entry(bank, id) {
            Some(entry) => (200, entry.statement(id, self.news_at())),
            None => (404, json!({"error": "unknown_charge"})),
        }
    }

    fn operate(self: &Rc<Self>, bank: BankKind, id: &str, body: &Value) -> Option<(u16, Value)> {
        let name = body["id"].as_str().filter(|_| bank == BankKind::WithIds);
        let kind = body["kind"].as_str()?;
        let amount = body["amount"].as_u64()?;
        let operation = Operation { id: name, kind, amount };
        let ends_later = self.dice.percent(40);
        let (is_new, outcome) = {
            let mut books = self.books.borrow_mut();
            let Some(entry) = books.entry(bank, id) else {
                return Some((404, json!({"error": "unknown_charge"})));
            };
            let is_new = name.is_none_or(|name| entry.outcome(name).is_none());
            (is_new, entry.operate(operation, ends_later)?)
        };
        add(match bank {
            BankKind::WithIds => &self.counts.operations_with_ids,
            BankKind::SumsOnly => &self.counts.operations_without_ids,
        });
        match (outcome, name) {
            (Outcome::Accepted, Some(name)) if is_new => self.end_refund_later(bank, id, name, amount),
            (Outcome::Done, Some(name)) if kind == "refund" && self.dice.percent(50) => {
                self.notify(bank, id, &format!("refund-{name}"), refunded(name, amount));
            }
            (Outcome::Done, None) if self.dice.percent(50) => {
                self.notify(bank, id, &format!("{kind}-{id}"), Value::Null);
            }
            _ => {}
        }
        Some((200, told(outcome)))
    }

    /// Returns the outcome of an operation, if the bank knows operations by their ids.
    fn outcome(&self, bank: BankKind, id: &str, operation: &str) -> (u16, Value) {
        let outcome = self.books.borrow_mut().entry(bank, id).and_then(|entry| entry.outcome(operation));
        outcome.map_or((404, json!({"error": "unknown_operation"})), |outcome| (200, told(outcome)))
    }

    /// Returns our id of a charge that is identified by the bank's own name.
    fn identify(&self, bank: BankKind, number: &str) -> (u16, Value) {
        match self.books.borrow().id_of(bank, number) {
            Some(id) => {
                add(&self.counts.identified);
                (200, json!({"id": id}))
            }
            None => (404, json!({"error": "unknown_charge"})),
        }
    }

    fn news_at(&self) -> i64 {
        SystemClock.now().plus_ms(self.ahead_ms.get() + 6_000).millis()
    }
}

fn told(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done => json!({"outcome": "done"}),
        Outcome::Accepted => json!({"outcome": "accepted"}),
        Outcome::Refused(reason) => json!({"outcome": "refused", "reason": reason}),
    }
}
