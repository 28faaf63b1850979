//! The tester's bank over HTTP.
//!
//! Classifies honestly: no connection is *not delivered*, so is the bank's explicit "not now"; anything else that is
//! not an explicit answer is *unknown*.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, OperationAnswer};
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Order;
use quita_domain::time::Timestamp;
use quita_ports::{Acquirer, AcquirerFactory, AcquirerSpec, NoticeSink};
use serde_json::{Value, json};

use crate::issue;
use crate::wire::{Answer, Call, CallError};

/// Makes adapters to the bank.
pub(crate) struct BankFactory {
    spec: AcquirerSpec,
    bank: SocketAddr,
    plant: Option<String>,
}

impl BankFactory {
    /// An adapter; with a planted mistake it lies about what it knows.
    pub(crate) const fn new(spec: AcquirerSpec, bank: SocketAddr, plant: Option<String>) -> Self {
        Self { spec, bank, plant }
    }
}

impl AcquirerFactory for BankFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn answers_locally(&self, _order: &Order) -> bool {
        false
    }

    /// Notices come over HTTP.
    fn build(&self, _sink: Arc<dyn NoticeSink>) -> Rc<dyn Acquirer> {
        let plant = |name: &str| self.plant.as_deref() == Some(name);
        Rc::new(Bank {
            name: self.spec.name.to_string(),
            address: self.bank,
            takes_unknown_for_refused: plant("unknown-is-refused"),
            takes_unknown_for_done: plant("unknown-is-done"),
        })
    }
}

struct Bank {
    name: String,
    address: SocketAddr,
    takes_unknown_for_refused: bool,
    takes_unknown_for_done: bool,
}

impl Bank {
    async fn call(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value), CallFailure> {
        let path = format!("/{}/charges{path}", self.name);
        let body = body.to_string();
        let call = Call { method, path: &path, headers: &[], body: body.as_bytes() };
        let Answer { status, body } = call.to(self.address).await.map_err(|error| match error {
            CallError::NotConnected(why) => CallFailure::NotDelivered(why),
            CallError::Lost(why) => CallFailure::Unknown(why),
        })?;
        let body: Value = serde_json::from_slice(&body)
            .map_err(|_| CallFailure::Unknown(format!("{status} and an unreadable body")))?;
        match (status, body["error"].as_str()) {
            (503, Some("not_now")) => Err(CallFailure::NotDelivered("not now".into())),
            (404, Some("unknown_charge")) | (200, None) => Ok((status, body)),
            _ => Err(CallFailure::Unknown(format!("{status}"))),
        }
    }
}

#[async_trait(?Send)]
impl Acquirer for Bank {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        let query = &charge.query;
        let body = json!({
            "id": query.id.to_string(),
            "reference": charge.order.external_reference,
            "amount": query.amount.cents(),
            "method": query.method.label(),
            "capture": query.captures_at_once,
        });
        match charge_answer(query, self.call("POST", "", &body).await) {
            ChargeAnswer::Failed(CallFailure::Unknown(why)) if self.takes_unknown_for_refused => {
                ChargeAnswer::Failed(CallFailure::NotDelivered(why))
            }
            answer @ (ChargeAnswer::Known(_) | ChargeAnswer::NotFound | ChargeAnswer::Failed(_)) => answer,
        }
    }

    async fn begun(&self, _query: &ChargeQuery) {}

    async fn find(&self, query: &ChargeQuery) -> ChargeAnswer {
        charge_answer(query, self.call("GET", &format!("/{}", query.id), &Value::Null).await)
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let amount = match operation.kind {
            OperationKind::Cancel => 0,
            OperationKind::Capture(amount) | OperationKind::Refund(amount) => amount.cents(),
        };
        let body = json!({"id": operation.id.to_string(), "kind": operation.kind.verb(), "amount": amount});
        match self.call("POST", &format!("/{}/operations", query.id), &body).await {
            Err(_) if self.takes_unknown_for_done => OperationAnswer::Done,
            Err(failure) => OperationAnswer::Failed(failure),
            Ok((_, answer)) => match (answer["done"].as_bool(), answer["reason"].as_str()) {
                (Some(true), _) => OperationAnswer::Done,
                (Some(false), Some(reason)) => OperationAnswer::Refused(reason.into()),
                _ => OperationAnswer::Failed(CallFailure::Unknown("an unreadable answer".into())),
            },
        }
    }
}

fn charge_answer(query: &ChargeQuery, called: Result<(u16, Value), CallFailure>) -> ChargeAnswer {
    let unreadable = || ChargeAnswer::Failed(CallFailure::Unknown("an unreadable answer".into()));
    match called {
        Err(failure) => ChargeAnswer::Failed(failure),
        Ok((404, _)) => ChargeAnswer::NotFound,
        Ok((_, answer)) if answer["state"] == "pending" => {
            let news_at = answer["newsAt"].as_i64().map(Timestamp::from_millis);
            issue::issued(query)
                .map_or_else(unreadable, |issued| ChargeAnswer::Known(Fact::Pending { issued, news_at }))
        }
        Ok((_, answer)) => serde_json::from_value(answer).map_or_else(|_| unreadable(), ChargeAnswer::Known),
    }
}
