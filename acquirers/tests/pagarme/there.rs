//! The Pagar.me of `quita-banks` behind an exchange, without a network.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response};
use quita_banks::pagarme::{Config, Entry, Pagarme};
use quita_banks::{Counterparty as _, Reply, faults};
use quita_domain::acquiring::{Charge, ChargeAnswer, ChargeQuery};
use quita_domain::money::Money;
use quita_ports::{Acquirer, Clock as _};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::payment::{CODE, TestClock, adapter, statement};

/// Requests that left, in short: `POST /orders`.
pub(crate) type Left = Vec<(Instant, String)>;

#[derive(Clone)]
pub(crate) struct There(Arc<Inner>);

struct Inner {
    pagarme: Mutex<Pagarme>,
    clock: TestClock,
    left: Mutex<Left>,
    bodies: Mutex<Vec<Value>>,
}

impl There {
    pub(crate) fn open() -> Self {
        Self::at(Config::default())
    }

    pub(crate) fn at(config: Config) -> Self {
        let pagarme = Mutex::new(Pagarme::new(config, faults::none()));
        let left = Mutex::default();
        let bodies = Mutex::default();
        Self(Arc::new(Inner { pagarme, clock: TestClock::started(), left, bodies }))
    }

    pub(crate) fn factory(&self) -> Arc<dyn ExchangeFactory> {
        Arc::new(self.clone())
    }

    pub(crate) fn adapter(&self) -> Rc<dyn Acquirer> {
        adapter(self.factory())
    }

    #[track_caller]
    pub(crate) fn control(&self, command: Value) {
        let done = self.0.pagarme.lock().unwrap().control(&command, self.now_ms());
        assert_eq!(done, json!({ "ok": true }), "{command}");
    }

    /// Strikes the next calls with these faults.
    pub(crate) fn strike(&self, next: Value) {
        self.control(json!({ "do": "faults", "next": next }));
    }

    /// Plans the outcome of the next order.
    pub(crate) fn outcome(&self, outcome: Value) {
        self.control(json!({ "do": "plan", "plan": { "outcome": outcome } }));
    }

    /// The charges of the payment.
    pub(crate) fn charges(&self) -> Vec<Entry> {
        self.0.pagarme.lock().unwrap().charges_of(CODE)
    }

    #[track_caller]
    pub(crate) fn only(&self) -> Entry {
        let charges = self.charges();
        assert_eq!(charges.len(), 1, "{charges:?}");
        charges[0].clone()
    }

    pub(crate) fn left(&self) -> Vec<String> {
        self.0.left.lock().unwrap().iter().map(|(_, what)| what.clone()).collect()
    }

    pub(crate) fn last_body(&self) -> Value {
        self.0.bodies.lock().unwrap().last().cloned().unwrap_or_default()
    }

    fn now_ms(&self) -> i64 {
        self.0.clock.now().millis()
    }

    /// Sends a charge, and returns the query that follows from its answer.
    pub(crate) async fn made(&self, charge: &Charge) -> ChargeQuery {
        let answer = self.adapter().charge(charge).await;
        known(&charge.query, answer)
    }
}

/// The query of a payment that has learnt this answer.
#[track_caller]
pub(crate) fn known(query: &ChargeQuery, answer: ChargeAnswer) -> ChargeQuery {
    let statement = statement(answer);
    let (paid, _) = crate::payment::sums(&statement.facts);
    let paid_amount = (paid > 0).then(|| Money::from_cents(paid)).or(query.paid_amount);
    ChargeQuery { reference: statement.reference, paid_amount, ..query.clone() }
}

impl ExchangeFactory for There {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(self.clone())
    }
}

#[async_trait(?Send)]
impl Exchange for There {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let address = request.url.strip_prefix("https://pagarme.example").unwrap().to_owned();
        let (path, query) = address.split_once('?').unwrap_or((&address, ""));
        let what = format!("{} {}", request.verb.as_str(), path.trim_start_matches("/core/v5"));
        self.0.left.lock().unwrap().push((Instant::now(), what));
        if !request.body.is_empty() {
            let body = serde_json::from_slice(&request.body).unwrap();
            self.0.bodies.lock().unwrap().push(body);
        }
        let headers = request.headers.iter();
        let asked = quita_banks::Request {
            method: request.verb.as_str().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect(),
            body: request.body.to_vec(),
            certificate: None,
        };
        let reply = self.0.pagarme.lock().unwrap().handle(&asked, self.now_ms());
        match reply {
            Reply::Answer { response, .. } => {
                Ok(Response { status: response.status, headers: response.headers, body: response.body })
            }
            Reply::Reset | Reply::Silence => Err(Failure::Unknown("the connection broke".into())),
        }
    }
}
