//! Charges and operations of one account: their requests, and the meaning of the answers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, Identified, OperationAnswer, Reference,
};
use quita_domain::method::Method;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::reconciliation::Movement;
use quita_domain::time::Timestamp;
use quita_ports::Acquirer;
use serde_json::{Value, json};

use super::call::{Line, Reply};
use super::factory::{Configured, Shared};
use super::lookup::{self, Missing};
use super::order::{Charge as ChargeThere, ChargeId, Order};
use super::request::{self, Unsendable};
use super::statement::{self, Reader};
use super::status::ChargeStatus;
use super::{code, operation, payables, splits};
use crate::exchange::Exchange;
use crate::field::Unreadable;

/// Time for which a key returns the same order, minus an hour: keys are kept for 24 hours (docs.pagar.me).
const KEY_LASTS_MS: u64 = 23 * 3_600_000;

/// Number of tries to withdraw a PIX: after the tenth, Pagar.me accepts only one in a quarter of an hour.
const PIX_CANCEL_TRIES: u32 = 8;

/// Time for which payables may lack a new chargeback, in milliseconds.
const PAYABLES_LAG_MS: u64 = 120_000;

/// An exchange, and the configuration with which it was opened.
type Opened = (Arc<Configured>, Rc<dyn Exchange>);

/// One account at Pagar.me, on the thread of an actor.
pub(super) struct Pagarme {
    shared: Arc<Shared>,
    opened: RefCell<Option<Opened>>,
}

impl Pagarme {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), opened: RefCell::default() }
    }

    /// Returns a line with the current configuration. The exchange is kept until that changes.
    pub(super) fn line(&self) -> Line {
        let configured = self.shared.configured();
        let mut opened = self.opened.borrow_mut();
        let exchange = match opened.as_ref() {
            Some((known, exchange)) if Arc::ptr_eq(known, &configured) => Rc::clone(exchange),
            Some(_) | None => {
                let exchange = configured.exchange.open();
                *opened = Some((Arc::clone(&configured), Rc::clone(&exchange)));
                exchange
            }
        };
        self.shared.line(&configured, exchange)
    }

    fn reader<'a>(&self, line: &'a Line) -> Reader<'a> {
        Reader {
            settings: &line.settings,
            now: self.shared.clock.now(),
            charged_back: None,
            is_dispute_won: false,
        }
    }

    /// Returns the facts in the charges. The payables show the amount of a chargeback, and, some time after payment,
    /// the cost of a paid charge.
    async fn stated(&self, query: &ChargeQuery, charges: &[ChargeThere], line: &Line) -> ChargeAnswer {
        let mut reader = self.reader(line);
        let Some(first) = charges.first() else { return lookup::answer(query, charges, reader) };
        let is_disputed = first.status == ChargeStatus::ChargedBack;
        if !is_disputed && query.paid_amount.is_none() {
            return lookup::answer(query, charges, reader);
        }
        let payables = match line.payables_of(&first.id).await {
            Ok(payables) => payables,
            Err(Missing::Failed(failure)) if is_disputed => return ChargeAnswer::Failed(failure),
            // The cost is inquired about again later.
            Err(Missing::Failed(_) | Missing::Unknown) => Vec::new(),
        };
        reader.charged_back = payables::sum(&payables, Movement::Chargeback);
        reader.is_dispute_won = reader.charged_back.is_some_and(|taken| {
            payables::sum(&payables, Movement::DisputeWon).is_some_and(|returned| returned >= taken)
        });
        let is_new = |at: Timestamp| reader.now.ms_since(at) < PAYABLES_LAG_MS;
        // If it were stated too early, a partial dispute would be recorded as a chargeback of the whole remaining
        // amount.
        if is_disputed && reader.charged_back.is_none() && first.updated_at.is_some_and(is_new) {
            let why = "the payables do not show the chargeback yet";
            return ChargeAnswer::Failed(CallFailure::Unknown(why.to_owned()));
        }
        let mut answer = lookup::answer(query, charges, reader);
        if let ChargeAnswer::Known(statement) = &mut answer {
            let cost = payables::cost(&payables, line.settings.recipient.as_deref());
            statement.facts.extend(cost.map(|amount| Fact::Cost { amount }));
        }
        answer
    }

    /// Reads the answer to a creation. A repeated key returns an old answer, so the order is read again.
    async fn created(&self, query: &ChargeQuery, reply: Reply, line: &Line) -> ChargeAnswer {
        let body = match reply {
            Reply::Body(body) => body,
            Reply::Refused(reason) | Reply::NotFound(reason) => return ChargeAnswer::Refused(reason),
            Reply::Failed(failure) => return ChargeAnswer::Failed(failure),
        };
        let order = match Order::read(&body) {
            Ok(order) => order,
            Err(Unreadable(what)) => {
                let why = format!("Pagar.me's answer can't be read: {what}");
                return ChargeAnswer::Failed(CallFailure::Unknown(why));
            }
        };
        // Pagar.me keeps the first answer to a key and repeats it for 24 hours, whatever has happened to the order
        // since.
        let is_repeated = !query.attempt.is_first();
        let charges = if is_repeated {
            match line.order_by_id(&order.id).await {
                Ok(order) => order.charges,
                Err(Missing::Unknown) => {
                    let why = "the order that was answered is not there";
                    return ChargeAnswer::Failed(CallFailure::Unknown(why.to_owned()));
                }
                Err(Missing::Failed(failure)) => return ChargeAnswer::Failed(unknown(failure)),
            }
        } else {
            order.charges
        };
        if charges.is_empty() {
            return ChargeAnswer::Failed(CallFailure::Unknown("the order has no charge".to_owned()));
        }
        lookup::answer(query, &charges, self.reader(line))
    }

    /// Returns the current state of the charge that an operation is about.
    async fn charge_of(&self, query: &ChargeQuery, line: &Line) -> Result<ChargeThere, OperationAnswer> {
        let read = match lookup::charge_id(&query.reference) {
            Some(id) => line.charge_by_id(&id).await,
            None => line
                .charges(query)
                .await
                .and_then(|charges| charges.into_iter().next().ok_or(Missing::Unknown)),
        };
        let charge = match read {
            Ok(charge) => charge,
            Err(Missing::Unknown) => return Err(operation::unclear("Pagar.me does not know the charge")),
            Err(Missing::Failed(failure)) => return Err(OperationAnswer::Failed(failure)),
        };
        match statement::mismatch(query, &charge) {
            Some(what) => Err(operation::unclear(&what)),
            None => Ok(charge),
        }
    }

    async fn ask_about(&self, query: &ChargeQuery, operation: &Operation, line: &Line) -> OperationAnswer {
        match self.charge_of(query, line).await {
            Ok(charge) => operation::known_by_now(query, operation, &charge, self.shared.clock.now()),
            Err(answer) => answer,
        }
    }

    /// Sends an operation.
    async fn send(&self, query: &ChargeQuery, operation: &Operation, id: &ChargeId, line: &Line) -> Reply {
        let key = code::key(operation.id);
        match operation.kind {
            OperationKind::Cancel => line.cancel(id, None, &key).await,
            OperationKind::Refund(amount) => line.cancel(id, Some(amount.cents()), &key).await,
            OperationKind::Capture(amount) => {
                let mut asked = json!({
                    "amount": amount.cents(), "code": code::write(query.id), "operation_reference": key,
                });
                let shares = splits::kept(query, &line.settings);
                let part = splits::in_proportion(&shares, amount, query.amount);
                if let (Ok(rules), Some(fields)) =
                    (splits::rules(&part, amount, &line.settings), asked.as_object_mut())
                    && !rules.is_empty()
                {
                    fields.insert("split".to_owned(), serde_json::to_value(rules).unwrap_or(Value::Null));
                }
                line.capture(id, &asked, &key).await
            }
        }
    }

    /// Reads the answer to an operation. A refusal is checked against the sums: the operation was done before, or the
    /// key returns an old answer.
    async fn operated(
        &self,
        query: &ChargeQuery,
        operation: &Operation,
        reply: Reply,
        line: &Line,
    ) -> OperationAnswer {
        let why = match reply {
            Reply::Failed(failure) => return OperationAnswer::Failed(failure),
            Reply::Refused(why) | Reply::NotFound(why) => why,
            Reply::Body(body) => match ChargeThere::read(&body) {
                // Only the first request has its own answer; later ones may get the stored answer of an earlier one.
                Ok(charge) if statement::mismatch(query, &charge).is_none() && operation.sent <= 1 => {
                    return done_by_now(operation::by_sums(query, operation, &charge));
                }
                // The answer may be an old one to the same key, so the charge is read.
                Ok(_) | Err(_) => return done_by_now(self.ask_about(query, operation, line).await),
            },
        };
        match self.ask_about(query, operation, line).await {
            OperationAnswer::NotFound | OperationAnswer::Refused(_) => OperationAnswer::Refused(why),
            OperationAnswer::Failed(CallFailure::Throttled { after_ms }) => {
                OperationAnswer::Failed(CallFailure::Throttled { after_ms })
            }
            OperationAnswer::Failed(_) => OperationAnswer::RefusedPerhaps(why),
            answer @ (OperationAnswer::Done
            | OperationAnswer::Accepted
            | OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::Contradicted(_)) => answer,
        }
    }
}

#[async_trait(?Send)]
impl Acquirer for Pagarme {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        let line = self.line();
        let query = &charge.query;
        if !query.attempt.is_first() && self.shared.clock.now().ms_since(query.created_at) > KEY_LASTS_MS {
            // Pagar.me may have forgotten the key, and would then create a second order.
            let why = "it was sent first a day ago, and is not sent again";
            return ChargeAnswer::Failed(CallFailure::Unknown(why.to_owned()));
        }
        match request::body(charge, &line.settings) {
            Ok(body) => {
                let reply = line.create(body, &code::write(query.id)).await;
                self.created(query, reply, &line).await
            }
            Err(Unsendable::Refused(why)) => ChargeAnswer::Refused(why.to_owned()),
            Err(Unsendable::NotReady(why)) => ChargeAnswer::Failed(CallFailure::NotDelivered(why.to_owned())),
        }
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        let line = self.line();
        match line.charges(query).await {
            Ok(charges) => self.stated(query, &charges, &line).await,
            Err(Missing::Unknown) => ChargeAnswer::NotFound,
            Err(Missing::Failed(failure)) => ChargeAnswer::Failed(failure),
        }
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        // A boleto is refunded to a bank account of its payer (`bank_account`), which no request contains.
        if matches!(operation.kind, OperationKind::Refund(_)) && query.method == Method::Boleto {
            return OperationAnswer::Refused("refund_unsupported".to_owned());
        }
        let line = self.line();
        // Only an unpaid charge may be withdrawn: for a paid one, the same call would refund the money. Besides, a key
        // is forgotten after a day.
        let charge = match self.charge_of(query, &line).await {
            Ok(charge) => charge,
            Err(answer) => return unsent(answer),
        };
        let known = operation::before_sending(query, operation, &charge, self.shared.clock.now());
        let is_withdrawal = operation.kind == OperationKind::Cancel && query.method == Method::Pix;
        // After the tenth, Pagar.me accepts only one try in a quarter of an hour, so from here on the charge is only
        // read.
        if is_withdrawal && operation.sent > PIX_CANCEL_TRIES {
            return known.unwrap_or(OperationAnswer::NotFound);
        }
        if let Some(known) = known {
            return known;
        }
        let reply = self.send(query, operation, &charge.id, &line).await;
        self.operated(query, operation, reply, &line).await
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let line = self.line();
        self.ask_about(query, operation, &line).await
    }

    async fn identify(&self, reference: &Reference) -> Identified {
        self.line().identified(reference).await
    }
}

/// Returns the outcome of an answered operation. If its sums did not change, it is not known to be done.
fn done_by_now(answer: OperationAnswer) -> OperationAnswer {
    match answer {
        OperationAnswer::Failed(failure) => OperationAnswer::Failed(unknown(failure)),
        // A 2xx without a visible effect proves neither outcome, and after "not found" it would be sent again.
        OperationAnswer::NotFound => operation::unclear("Pagar.me's answer does not show the operation"),
        answer @ (OperationAnswer::Done
        | OperationAnswer::Accepted
        | OperationAnswer::Refused(_)
        | OperationAnswer::RefusedPerhaps(_)
        | OperationAnswer::Contradicted(_)) => answer,
    }
}

/// Adapts the answer of a failed lookup. The operation was not sent yet, so it certainly had no effect.
fn unsent(answer: OperationAnswer) -> OperationAnswer {
    match answer {
        OperationAnswer::Failed(CallFailure::Unknown(why)) => {
            OperationAnswer::Failed(CallFailure::NotDelivered(why))
        }
        OperationAnswer::Failed(
            CallFailure::NotDelivered(_) | CallFailure::Throttled { .. } | CallFailure::Withheld,
        )
        | OperationAnswer::Done
        | OperationAnswer::Accepted
        | OperationAnswer::Refused(_)
        | OperationAnswer::RefusedPerhaps(_)
        | OperationAnswer::NotFound
        | OperationAnswer::Contradicted(_) => answer,
    }
}

/// Adapts a failed read after a creation or an operation, about which it says nothing.
fn unknown(failure: CallFailure) -> CallFailure {
    match failure {
        CallFailure::NotDelivered(why) => CallFailure::Unknown(why),
        CallFailure::Withheld => CallFailure::Unknown("no inquiry can leave now".to_owned()),
        failure @ (CallFailure::Unknown(_) | CallFailure::Throttled { .. }) => failure,
    }
}
