//! The acquirers: two banks in one HTTP server, with books, payers, notices and bad days.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use quita_adapters::system::SystemClock;
use quita_domain::webhook::signature::{WebhookSecret, sign};
use quita_ports::Clock;
use serde_json::{Value, json};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use crate::books::{Books, DISPUTED_CENTS, State};
use crate::dice::Dice;
use crate::server::{Incoming, Reply};
use crate::wire::Call;

/// Names of the banks, the preferred one first.
pub(crate) const NAMES: [&str; 2] = ["bank-a", "bank-b"];

/// The server's state.
pub(crate) struct Bank {
    pub(crate) books: RefCell<Books>,
    dice: Dice,
    /// Where notices may be sent, and the secrets that sign them.
    pub(crate) nodes: RefCell<Vec<SocketAddr>>,
    pub(crate) secrets: RefCell<Vec<WebhookSecret>>,
    /// No more bad days.
    pub(crate) is_calm: Cell<bool>,
    /// How far the clocks of the nodes are ahead.
    pub(crate) ahead_ms: Cell<u64>,
    /// Payers and notices that are on their way.
    pub(crate) open: Cell<u64>,
    pub(crate) notices: Cell<u64>,
    pub(crate) faults: Cell<u64>,
}

/// What goes wrong with one call.
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
            notices: Cell::new(0),
            faults: Cell::new(0),
        })
    }

    fn fault(&self) -> Fault {
        let roll = self.dice.between(0, 100);
        let (short, long) = (self.dice.millis(200, 1_500), self.dice.millis(1_500, 4_000));
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
            _ => Fault::None,
        };
        if self.is_calm.get() || fault == Fault::None {
            return Fault::None;
        }
        self.faults.set(self.faults.get() + 1);
        fault
    }

    /// `POST /{bank}/charges`, `GET /{bank}/charges/{id}`, `POST /{bank}/charges/{id}/operations`
    pub(crate) async fn answer(self: Rc<Self>, request: Incoming) -> Reply {
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let bank = parts[0].to_owned();
        let id = parts.get(2).copied().or(body["id"].as_str()).unwrap_or_default().to_owned();
        let charge = (bank.clone(), id.clone());
        let fault = self.fault();
        let wait = match fault {
            Fault::CutBefore => return Reply::Cut,
            Fault::ErrorBefore => return Reply::Json(500, "{}".into()),
            Fault::NotNow => return Reply::Json(503, json!({"error": "not_now"}).to_string()),
            Fault::SlowBefore(wait) => Some(wait),
            _ => None,
        };
        if let Some(wait) = wait {
            let is_new = self.books.borrow_mut().under_way.insert(charge.clone());
            sleep(wait).await;
            if is_new {
                self.books.borrow_mut().under_way.remove(&charge);
            }
        }
        let (status, answer) = match (request.method.as_str(), parts.len()) {
            ("POST", 2) => self.charge(&bank, &id, &body),
            ("GET", 3) => self.find(&bank, &id),
            ("POST", 4) => self.operate(&bank, &id, &body),
            _ => (400, json!({"error": "bad_request"})),
        };
        match fault {
            Fault::SlowAfter(wait) => sleep(wait).await,
            Fault::CutAfter => return Reply::Cut,
            Fault::ErrorAfter => return Reply::Json(502, "{}".into()),
            Fault::GarbageAfter => return Reply::Garbage,
            _ => {}
        }
        Reply::Json(status, answer.to_string())
    }

    fn charge(self: &Rc<Self>, bank: &str, id: &str, body: &Value) -> (u16, Value) {
        let Some(is_new) = self.books.borrow_mut().charge(bank, body) else {
            return (400, json!({"error": "bad_request"}));
        };
        let (statement, amount, method) = {
            let mut books = self.books.borrow_mut();
            let entry = books.entry(bank, id).expect("it was made just now");
            (entry.statement(id, self.news_at()), entry.amount, entry.method.clone())
        };
        let is_card = method == "credit_card";
        if is_new && !is_card && self.dice.percent(85) {
            self.pay_later(bank, id);
        } else if is_new && is_card && amount % 100 == DISPUTED_CENTS {
            self.charge_back_later(bank, id);
        }
        (200, statement)
    }

    fn find(&self, bank: &str, id: &str) -> (u16, Value) {
        let mut books = self.books.borrow_mut();
        if books.under_way.contains(&(bank.to_owned(), id.to_owned())) {
            return (503, json!({"error": "under_way"}));
        }
        match books.entry(bank, id) {
            Some(entry) => (200, entry.statement(id, self.news_at())),
            None => (404, json!({"error": "unknown_charge"})),
        }
    }

    fn operate(self: &Rc<Self>, bank: &str, id: &str, body: &Value) -> (u16, Value) {
        let outcome = self.books.borrow_mut().entry(bank, id).map(|entry| entry.operate(body));
        match outcome {
            None => (404, json!({"error": "unknown_charge"})),
            Some(None) => (400, json!({"error": "bad_request"})),
            Some(Some(Err(reason))) => (200, json!({"done": false, "reason": reason})),
            Some(Some(Ok(()))) => {
                let operation = body["id"].as_str().unwrap_or_default();
                if body["kind"] == "refund" && self.dice.percent(50) {
                    let fact = json!({"fact": "refunded", "refundId": operation, "amount": body["amount"]});
                    self.notify(bank, id, &format!("refund-{operation}"), fact);
                }
                (200, json!({"done": true}))
            }
        }
    }

    fn news_at(&self) -> i64 {
        SystemClock.now().plus_ms(self.ahead_ms.get() + 6_000).millis()
    }

    fn pay_later(self: &Rc<Self>, bank: &str, id: &str) {
        let (me, bank, id) = (Rc::clone(self), bank.to_owned(), id.to_owned());
        let after = self.dice.millis(50, 3_000);
        self.open.set(self.open.get() + 1);
        spawn_local(async move {
            sleep(after).await;
            let fact = me.books.borrow_mut().entry(&bank, &id).and_then(|entry| {
                let pays = entry.pay();
                pays.then(|| entry.settled(&id))
            });
            // Some are never told: the service has to ask.
            if let Some(fact) = fact.filter(|_| !me.dice.percent(5)) {
                me.notify(&bank, &id, &format!("paid-{id}"), fact);
            }
            me.open.set(me.open.get() - 1);
        });
    }

    fn charge_back_later(self: &Rc<Self>, bank: &str, id: &str) {
        let (me, bank, id) = (Rc::clone(self), bank.to_owned(), id.to_owned());
        self.open.set(self.open.get() + 1);
        spawn_local(async move {
            sleep(me.dice.millis(1_000, 4_000)).await;
            let is_captured = me.books.borrow_mut().entry(&bank, &id).is_some_and(|entry| {
                entry.charged_back = entry.state == State::Captured;
                entry.charged_back
            });
            if is_captured {
                me.notify(&bank, &id, &format!("chargeback-{id}"), json!({"fact": "chargedBack", "id": id}));
            }
            me.open.set(me.open.get() - 1);
        });
    }

    /// Tells the service, now or later, once or several times, until each time it says that it has it.
    fn notify(self: &Rc<Self>, bank: &str, id: &str, event: &str, fact: Value) {
        let times = if self.dice.percent(20) { self.dice.between(2, 4) } else { 1 };
        for _ in 0..times {
            let mut body = fact.clone();
            body["eventId"] = event.into();
            body["transactionId"] = id.into();
            let (me, bank, event) = (Rc::clone(self), bank.to_owned(), event.to_owned());
            let late = if self.dice.percent(10) { 6_000 } else { 400 };
            let after = self.dice.millis(0, late);
            self.open.set(self.open.get() + 1);
            spawn_local(async move {
                sleep(after).await;
                while !me.deliver(&bank, &event, &body.to_string()).await {
                    sleep(me.dice.millis(200, 600)).await;
                }
                me.notices.set(me.notices.get() + 1);
                me.open.set(me.open.get() - 1);
            });
        }
    }

    async fn deliver(&self, bank: &str, event: &str, body: &str) -> bool {
        let place = NAMES.iter().position(|name| *name == bank).unwrap_or(0);
        let (address, secret) = {
            let (nodes, secrets) = (self.nodes.borrow(), self.secrets.borrow());
            (nodes[self.dice.index(nodes.len())], secrets[place].clone())
        };
        let timestamp_s = SystemClock.now().plus_ms(self.ahead_ms.get()).millis() / 1_000;
        let signature = sign(&[secret], event, timestamp_s, body.as_bytes());
        let timestamp = timestamp_s.to_string();
        let headers = [
            ("content-type", "application/json"),
            ("webhook-id", event),
            ("webhook-timestamp", &timestamp),
            ("webhook-signature", &signature),
        ];
        let path = format!("/acquirers/{bank}/notifications");
        let call = Call { method: "POST", path: &path, headers: &headers, body: body.as_bytes() };
        matches!(timeout(Duration::from_secs(5), call.to(address)).await, Ok(Ok(answer)) if answer.status == 200)
    }
}
