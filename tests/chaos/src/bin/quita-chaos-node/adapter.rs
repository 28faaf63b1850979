//! Adapter to the tester's banks over HTTP.
//!
//! Classifies failures honestly. No connection means *not delivered*, and so does a bank's explicit "not now"; anything
//! else that is not an explicit answer is *unknown*.

use std::net::SocketAddr;
use std::rc::Rc;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, Identified, OperationAnswer, Reference, Statement,
};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Order;
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, ListReader, LocalIssue, NoticeReader, NumberRange, Preparation,
};
use serde_json::{Value, json};

use crate::bank_kind::BankKind;
use crate::issue;
use crate::notices::{self, NUMBER};
use crate::wire::{Answer, Call, CallError};

/// Creates adapters to one bank.
pub(crate) struct BankFactory {
    spec: AcquirerSpec,
    bank: Bank,
    notices: Box<dyn NoticeReader>,
}

impl BankFactory {
    /// Creates an adapter to the bank with the spec's name, at this address. With a planted mistake it misreports
    /// outcomes.
    pub(crate) fn new(
        spec: AcquirerSpec,
        secret: WebhookSecret,
        address: SocketAddr,
        plant: Option<&str>,
    ) -> anyhow::Result<Self> {
        let name = spec.name.as_str();
        let kind = BankKind::named(name).ok_or_else(|| anyhow::anyhow!("there is no bank {name}"))?;
        let bank = Bank {
            kind,
            address,
            takes_unknown_for_refused: plant == Some("unknown-is-refused"),
            takes_unknown_for_done: plant == Some("unknown-is-done"),
            takes_unknown_for_not_sent: plant == Some("unknown-is-sent-again"),
        };
        let notices = notices::reader(kind, &spec.name, secret);
        Ok(Self { spec, bank, notices })
    }
}

impl AcquirerFactory for BankFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn account(&self) -> String {
        String::new()
    }

    fn charge_account(&self) -> Option<String> {
        None
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(self.bank)
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        None
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(self.notices.as_ref())
    }

    fn operates_in_turn(&self) -> bool {
        match self.bank.kind {
            BankKind::WithIds => false,
            BankKind::SumsOnly => true,
        }
    }

    fn charge_name(&self) -> Option<&'static str> {
        None
    }

    fn refunds(&self, _: Method) -> bool {
        true
    }

    fn looks_at_paid(&self, _: Method) -> bool {
        false
    }

    fn states_cost(&self) -> bool {
        false
    }

    fn refund_shows_after_ms(&self, _: Method) -> u64 {
        0
    }

    fn objection(&self, _: &Order) -> Option<&'static str> {
        None
    }

    fn numbers(&self) -> Option<&NumberRange> {
        None
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        None
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        None
    }
}

#[derive(Clone, Copy)]
struct Bank {
    kind: BankKind,
    address: SocketAddr,
    takes_unknown_for_refused: bool,
    takes_unknown_for_done: bool,
    takes_unknown_for_not_sent: bool,
}

impl Bank {
    /// Makes one call; `None` if the bank does not know the object.
    async fn call(&self, method: &str, path: &str, body: &Value) -> Result<Option<Value>, CallFailure> {
        let path = format!("/{}{path}", self.kind.name());
        let body = body.to_string();
        let call = Call { method, path: &path, headers: &[], body: body.as_bytes() };
        let Answer { status, body } = call.to(self.address).await.map_err(|error| match error {
            CallError::NotConnected(why) => CallFailure::NotDelivered(why),
            CallError::Lost(why) => CallFailure::Unknown(why),
        })?;
        let body: Value = serde_json::from_slice(&body)
            .map_err(|_| CallFailure::Unknown(format!("{status} and an unreadable body")))?;
        match (status, body["error"].as_str()) {
            (200, None) => Ok(Some(body)),
            (404, Some("unknown_charge" | "unknown_operation")) => Ok(None),
            (429, Some("too_many")) => {
                Err(CallFailure::Throttled { after_ms: body["retryAfterMs"].as_u64().unwrap_or(1_000) })
            }
            (503, Some("not_now")) => Err(CallFailure::NotDelivered("not now".into())),
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
        match self.call("POST", "/charges", &body).await {
            Err(CallFailure::Unknown(why)) if self.takes_unknown_for_refused => {
                ChargeAnswer::Failed(CallFailure::NotDelivered(why))
            }
            called => charge_answer(query, called),
        }
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        charge_answer(query, self.call("GET", &format!("/charges/{}", query.id), &Value::Null).await)
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let amount = match operation.kind {
            OperationKind::Cancel => 0,
            OperationKind::Capture(amount) | OperationKind::Refund(amount) => amount.cents(),
        };
        let mut body = json!({"kind": operation.kind.verb(), "amount": amount});
        if self.kind == BankKind::WithIds {
            body["id"] = operation.id.to_string().into();
        }
        match self.call("POST", &format!("/charges/{}/operations", query.id), &body).await {
            Err(_) if self.takes_unknown_for_done => OperationAnswer::Done,
            Err(CallFailure::Unknown(why)) if self.takes_unknown_for_not_sent => {
                OperationAnswer::Failed(CallFailure::NotDelivered(why))
            }
            called => operation_answer(called),
        }
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let charge = format!("/charges/{}", query.id);
        match self.kind {
            BankKind::WithIds => {
                let path = format!("{charge}/operations/{}", operation.id);
                operation_answer(self.call("GET", &path, &Value::Null).await)
            }
            BankKind::SumsOnly => match self.call("GET", &charge, &Value::Null).await {
                Err(failure) => OperationAnswer::Failed(failure),
                Ok(None) => OperationAnswer::NotFound,
                Ok(Some(statement)) => by_sums(operation, &statement),
            },
        }
    }

    async fn identify(&self, reference: &Reference) -> Identified {
        let Some(number) = reference.get(NUMBER) else { return Identified::Unknown };
        match self.call("GET", &format!("/numbers/{number}"), &Value::Null).await {
            Err(failure) => Identified::Failed(failure),
            Ok(answer) => answer
                .and_then(|answer| TransactionId::parse(answer["id"].as_str()?))
                .map_or(Identified::Unknown, Identified::Payment),
        }
    }
}

fn charge_answer(query: &ChargeQuery, called: Result<Option<Value>, CallFailure>) -> ChargeAnswer {
    let answer = match called {
        Err(failure) => return ChargeAnswer::Failed(failure),
        Ok(None) => return ChargeAnswer::NotFound,
        Ok(Some(answer)) => answer,
    };
    let reference = Reference::none().with(NUMBER, answer["number"].as_str().unwrap_or_default());
    let facts: Option<Vec<Fact>> = match answer["state"].as_str() {
        Some("registering") => return ChargeAnswer::Accepted(reference),
        Some("pending") => {
            let news_at = answer["newsAt"].as_i64().map(Timestamp::from_millis);
            issue::issued(query).map(|issued| vec![Fact::Pending { issued, news_at }])
        }
        _ => serde_json::from_value(answer["facts"].clone()).ok(),
    };
    match facts.filter(|facts| !facts.is_empty()) {
        Some(facts) => ChargeAnswer::Known(Statement { facts, reference }),
        None => ChargeAnswer::Failed(unreadable()),
    }
}

fn operation_answer(called: Result<Option<Value>, CallFailure>) -> OperationAnswer {
    let answer = match called {
        Err(failure) => return OperationAnswer::Failed(failure),
        Ok(None) => return OperationAnswer::NotFound,
        Ok(Some(answer)) => answer,
    };
    match (answer["outcome"].as_str(), answer["reason"].as_str()) {
        (Some("done"), _) => OperationAnswer::Done,
        (Some("accepted"), _) => OperationAnswer::Accepted,
        (Some("refused"), Some(reason)) => OperationAnswer::Refused(reason.into()),
        _ => OperationAnswer::Failed(unreadable()),
    }
}

/// Derives the outcome of an operation from the sums before it and the current ones.
fn by_sums(operation: &Operation, statement: &Value) -> OperationAnswer {
    let before = operation.before.cents();
    let (sum, amount) = match operation.kind {
        OperationKind::Cancel => (u64::from(statement["state"] == "cancelled"), 1),
        OperationKind::Capture(amount) => (statement["captured"].as_u64().unwrap_or(0), amount.cents()),
        OperationKind::Refund(amount) => (statement["refunded"].as_u64().unwrap_or(0), amount.cents()),
    };
    match sum.checked_sub(before) {
        Some(0) => OperationAnswer::NotFound,
        Some(more) if more == amount => OperationAnswer::Done,
        Some(_) | None => {
            let why = format!("{sum} after {before} and {amount}: its sums do not fit");
            OperationAnswer::Failed(CallFailure::Unknown(why))
        }
    }
}

fn unreadable() -> CallFailure {
    CallFailure::Unknown("an unreadable answer".into())
}
