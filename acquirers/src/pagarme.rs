//! Pagar.me's core v5: cards, PIX and boletos.
//!
//! An order with one charge stands for each payment. Its code and its idempotency key are our id (`code`), so it is found
//! after an unclear answer and sent again without a second charge. HTTP 200 says nothing: the status of the charge
//! decides, explained by its newest step (`status`, `statement`). Operations are known by the charge's sums
//! (`operation`). Splits go to Pagar.me's recipients (`splits`). Payables are the list for reconciliation (`lists`).
//!
//! The way of a charge: `request` → `call` → `order` → `statement`, with `codes` or `decline`.

mod call;
mod code;
mod codes;
mod decline;
mod lists;
mod lookup;
mod notices;
mod operation;
mod order;
mod pace;
mod payables;
mod refusal;
mod request;
pub mod settings;
mod splits;
mod statement;
mod status;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, Identified, OperationAnswer, Reference,
};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Order as Wanted;
use quita_domain::reconciliation::Movement;
use quita_domain::time::DAY_MS;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, Clock, ListPart, ListReader, LocalIssue, NoticeReader,
    NumberRange, PageCursor, Preparation,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::exchange::{Exchange, ExchangeFactory};
use crate::field::Unreadable;
use call::{Line, Reply};
use lists::PayableList;
use lookup::Missing;
use notices::PagarmeNotices;
use order::{Charge as ChargeThere, ChargeId, Order};
use pace::Pace;
use request::Unsendable;
use settings::PagarmeSettings;
use statement::Reader;
use status::ChargeStatus;

/// Names of a reference under which Pagar.me's ids of order and charge are.
const ORDER_ID: &str = "orderId";
const CHARGE_ID: &str = "chargeId";

/// Time within which the same key brings the same order, less an hour: keys are kept for 24 (docs.pagar.me).
const KEY_LASTS_MS: u64 = 23 * 3_600_000;

/// Tries to withdraw a PIX: after the tenth Pagar.me takes one in a quarter of an hour.
const PIX_CANCEL_TRIES: u32 = 8;

/// Time for which payables may not show a chargeback yet, in milliseconds.
const PAYABLES_LAG_MS: u64 = 120_000;

/// Makes adapters of one account at Pagar.me; they share what is configured, and the pace of reads.
pub struct PagarmeFactory {
    spec: AcquirerSpec,
    notices: PagarmeNotices,
    shared: Arc<Shared>,
}

struct Shared {
    /// Of one request.
    time_out: Duration,
    clock: Arc<dyn Clock>,
    pace: Arc<Pace>,
    configured: RwLock<Arc<Configured>>,
}

/// Settings and secrets that a reload may replace.
struct Configured {
    settings: Arc<PagarmeSettings>,
    exchange: Arc<dyn ExchangeFactory>,
}

impl Shared {
    fn configured(&self) -> Arc<Configured> {
        Arc::clone(&self.configured.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn line(&self, configured: &Configured, exchange: Rc<dyn Exchange>) -> Line {
        let (clock, pace) = (Arc::clone(&self.clock), Arc::clone(&self.pace));
        let (settings, time_out) = (Arc::clone(&configured.settings), self.time_out);
        Line { settings, exchange, time_out, clock, pace }
    }
}

impl PagarmeFactory {
    /// Makes a factory of an account as it is configured, reached through these exchanges.
    pub fn new(
        spec: AcquirerSpec,
        settings: PagarmeSettings,
        exchange: Arc<dyn ExchangeFactory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let notices = PagarmeNotices::new(&settings);
        let configured = RwLock::new(Arc::new(Configured { settings: Arc::new(settings), exchange }));
        let time_out = Duration::from_millis(spec.time_out_ms);
        let shared = Shared { time_out, clock, pace: Arc::default(), configured };
        Self { spec, notices, shared: Arc::new(shared) }
    }

    /// Uses other secrets and exchanges from the next call on; calls under way end as they began.
    pub fn reconfigure(&self, settings: PagarmeSettings, exchange: Arc<dyn ExchangeFactory>) {
        self.notices.reconfigure(&settings);
        let next = Arc::new(Configured { settings: Arc::new(settings), exchange });
        *self.shared.configured.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// Asks about an order that nobody has, and for a page of payables if they are listed. The answers prove that address
    /// and key are right, and nothing is changed.
    ///
    /// # Errors
    /// Answer in place of "there is none", or of the page.
    pub async fn ask_something_unknown(&self) -> Result<(), CallFailure> {
        let configured = self.shared.configured();
        let line = self.shared.line(&configured, configured.exchange.open());
        let nobodys = code::write(TransactionId::new(Uuid::now_v7()));
        match lookup::body(line.orders_of(&nobodys).await).map(|body| Order::read_list(&body)) {
            Err(Missing::Failed(failure)) => Err(failure),
            Err(Missing::Unknown) => self.list_something().await,
            Ok(Ok(listed)) if listed.is_empty() => self.list_something().await,
            Ok(Ok(_)) => Err(CallFailure::Unknown("Pagar.me lists an order that nobody made".to_owned())),
            Ok(Err(Unreadable(what))) => {
                Err(CallFailure::Unknown(format!("the answer can't be read: {what}")))
            }
        }
    }
}

impl PagarmeFactory {
    /// Asks for the first page of today's payables, if they are listed.
    async fn list_something(&self) -> Result<(), CallFailure> {
        let Some(list) = self.lists() else { return Ok(()) };
        let now = self.shared.clock.now();
        list.page(ListPart::All, (now.minus_ms(DAY_MS), now), &PageCursor::default()).await.map(drop)
    }
}

impl AcquirerFactory for PagarmeFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(Pagarme { shared: Arc::clone(&self.shared), opened: RefCell::default() })
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        None
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(&self.notices)
    }

    fn operates_in_turn(&self) -> bool {
        true
    }

    fn charge_name(&self) -> Option<&'static str> {
        Some(CHARGE_ID)
    }

    fn refund_shows_after_ms(&self, _: Method) -> u64 {
        operation::REFUND_SHOWS_AFTER_MS
    }

    fn refunds(&self, method: Method) -> bool {
        method != Method::Boleto
    }

    fn looks_at_paid(&self, method: Method) -> bool {
        // Only a card is charged back, and payables say so.
        method == Method::CreditCard && !self.shared.configured().settings.lists
    }

    fn states_cost(&self) -> bool {
        true
    }

    fn objection(&self, order: &Wanted) -> Option<&'static str> {
        let settings = &self.shared.configured().settings;
        let shares = splits::shares(&order.splits, order.amount, settings);
        let of_splits = shares.and_then(|shares| splits::rules(&shares, order.amount, settings)).err();
        of_splits.or_else(|| request::email_is_too_long(&order.payer))
    }

    fn numbers(&self) -> Option<&NumberRange> {
        None
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        let has_lists = self.shared.configured().settings.lists;
        has_lists.then(|| -> Rc<dyn ListReader> {
            let pagarme = Pagarme { shared: Arc::clone(&self.shared), opened: RefCell::default() };
            Rc::new(PayableList { pagarme, acquirer: self.spec.name.clone() })
        })
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        None
    }
}

/// An exchange, and what was configured when it was opened.
type Opened = (Arc<Configured>, Rc<dyn Exchange>);

/// One account at Pagar.me, on the thread of an actor.
struct Pagarme {
    shared: Arc<Shared>,
    opened: RefCell<Option<Opened>>,
}

impl Pagarme {
    /// Returns a line as it is configured now. The exchange is kept until that changes.
    fn line(&self) -> Line {
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

    /// Returns what the charges state. Of a chargeback the payables tell the amount, and of a paid charge the cost, some
    /// time after it.
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
            // What it cost is asked for again.
            Err(Missing::Failed(_) | Missing::Unknown) => Vec::new(),
        };
        reader.charged_back = payables::sum(&payables, Movement::Chargeback);
        reader.is_dispute_won = reader.charged_back.is_some_and(|taken| {
            payables::sum(&payables, Movement::DisputeWon).is_some_and(|returned| returned >= taken)
        });
        let is_new = |at: quita_domain::time::Timestamp| reader.now.ms_since(at) < PAYABLES_LAG_MS;
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

    /// Reads the answer to a creation. What a repeated key brings is an old answer, so the order is read once more.
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
        let is_repeated = query.attempt > 1;
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

    /// Returns the charge that an operation is about, as it is now.
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
            Ok(charge) => self.known_by_now(query, operation, &charge),
            Err(answer) => answer,
        }
    }

    /// Returns what a charge says of an operation that was sent. A withdrawal that its payer crossed may still arrive,
    /// and would give the money back: it was sent before the charge was paid.
    fn known_by_now(
        &self,
        query: &ChargeQuery,
        operation: &Operation,
        charge: &ChargeThere,
    ) -> OperationAnswer {
        let answer = operation::by_sums(query, operation, charge);
        let now = self.shared.clock.now();
        let is_new = charge.updated_at.is_some_and(|at| now.ms_since(at) < operation::REFUND_SHOWS_AFTER_MS);
        let is_refused = matches!(answer, OperationAnswer::Refused(_));
        if is_refused && is_new && operation.kind == OperationKind::Cancel {
            return operation::unclear("the charge was paid just now, and the withdrawal may still arrive");
        }
        answer
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

    /// Reads the answer to an operation. A refusal is held against the sums: it was done before, or the key brings an old
    /// answer.
    async fn operated(
        &self,
        (query, operation): (&ChargeQuery, &Operation),
        reply: Reply,
        line: &Line,
    ) -> OperationAnswer {
        let why = match reply {
            Reply::Failed(failure) => return OperationAnswer::Failed(failure),
            Reply::Refused(why) | Reply::NotFound(why) => why,
            Reply::Body(body) => match ChargeThere::read(&body) {
                Ok(charge) if statement::mismatch(query, &charge).is_none() && operation.sent <= 1 => {
                    return done_by_now(operation::by_sums(query, operation, &charge));
                }
                // The answer may be an old one under the same key: the charge is read.
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
        let (line, query) = (self.line(), &charge.query);
        if query.attempt > 1 && self.shared.clock.now().ms_since(query.created_at) > KEY_LASTS_MS {
            // The key may be forgotten, and the same order would be another one.
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
        if matches!(operation.kind, OperationKind::Refund(_)) && query.method == Method::Boleto {
            return OperationAnswer::Refused("refund_unsupported".to_owned());
        }
        let line = self.line();
        // What is withdrawn must be unpaid: the same call would give the money back.
        let charge = match self.charge_of(query, &line).await {
            Ok(charge) => charge,
            Err(answer) => return unsent(answer),
        };
        if operation.kind == OperationKind::Cancel {
            let is_tried_enough = query.method == Method::Pix && operation.sent > PIX_CANCEL_TRIES;
            let was_sent = operation.sent > 1;
            let answer = if was_sent {
                self.known_by_now(query, operation, &charge)
            } else {
                operation::by_sums(query, operation, &charge)
            };
            if answer != OperationAnswer::NotFound || is_tried_enough {
                return answer;
            }
        }
        let reply = self.send(query, operation, &charge.id, &line).await;
        self.operated((query, operation), reply, &line).await
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let line = self.line();
        self.ask_about(query, operation, &line).await
    }

    async fn identify(&self, reference: &Reference) -> Identified {
        self.line().identified(reference).await
    }
}

/// An operation that was answered, and whose sums did not move, is not known to be done.
fn done_by_now(answer: OperationAnswer) -> OperationAnswer {
    match answer {
        OperationAnswer::Failed(failure) => OperationAnswer::Failed(unknown(failure)),
        OperationAnswer::NotFound => operation::unclear("Pagar.me's answer does not show the operation"),
        answer @ (OperationAnswer::Done
        | OperationAnswer::Accepted
        | OperationAnswer::Refused(_)
        | OperationAnswer::RefusedPerhaps(_)
        | OperationAnswer::Contradicted(_)) => answer,
    }
}

/// Finding the charge failed before the operation was sent: that certainly had no effect.
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

/// A failure to read what was just made or done says nothing of that.
fn unknown(failure: CallFailure) -> CallFailure {
    match failure {
        CallFailure::NotDelivered(why) => CallFailure::Unknown(why),
        CallFailure::Withheld => CallFailure::Unknown("no inquiry can leave now".to_owned()),
        failure @ (CallFailure::Unknown(_) | CallFailure::Throttled { .. }) => failure,
    }
}
