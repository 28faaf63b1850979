//! Cielo's E-commerce API 3.0: cards, PIX and boletos.
//!
//! Cielo has no idempotency key, and only its sums reveal operations. So a charge has an order name derived from our id
//! (`order_id`), and is looked up under it before anything is sent again (`lookup`). A capture or void is compared with
//! the sums before it (`operation`). A sale's status determines its facts (`statement`), read leniently (`sale`,
//! `crate::field`). Calls about one sale are five seconds apart (`spacing`). The owners of sales are cached, because a
//! notification names only a sale (`known_sales`).
//!
//! Path of a charge: `request` → `call` → `sale` → `statement`, with `codes` or `decline`.

mod brand;
mod call;
mod chargeback;
mod codes;
mod known_sales;
mod lookup;
mod notices;
mod operation;
mod order_id;
mod reason;
mod request;
mod sale;
pub mod settings;
mod spacing;
mod statement;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Identified, OperationAnswer, Reference,
};
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::method::Method;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Order;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, Clock, ListReader, LocalIssue, NoticeReader, NumberRange,
    Preparation,
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::exchange::{Exchange, ExchangeFactory};
use crate::field::Unreadable;
use call::{Line, Reply};
use codes::Issuer;
use known_sales::KnownSales;
use lookup::{Lookup, Missing};
use notices::CieloNotices;
use request::Unsendable;
use sale::{PaymentId, Sale};
use settings::CieloSettings;
use spacing::{Purpose, Spacing};
use statement::Reader;

/// Name under which a reference contains Cielo's name of the sale.
const PAYMENT_ID: &str = "paymentId";

/// Cielo's code for an order that it already has.
const DUPLICATE_ORDER: &str = "302";

/// Fraction of a call's time within which a request must leave, so that its answer has the rest: three quarters.
const LATEST: [u32; 2] = [3, 4];

/// Longest time that a call waits for its turns, in addition to its requests' time-out: two requests may need a
/// distance from others.
const TURNS_MS: u64 = 10_000;

/// Limit of a call's time with these waits, in milliseconds: its lease is not much longer.
const LONGEST_WITH_TURNS_MS: u64 = 20_000;

/// Factory of the adapters of one merchant at Cielo. They share the configuration and the times of calls about each
/// sale.
pub struct CieloFactory {
    spec: AcquirerSpec,
    notices: CieloNotices,
    shared: Arc<Shared>,
}

struct Shared {
    mode: Mode,
    /// Time-out of one request.
    time_out: Duration,
    /// Time-out of a call, which may be several requests, each in its turn.
    call_time_out: Duration,
    clock: Arc<dyn Clock>,
    spacing: Arc<Spacing>,
    known: KnownSales,
    configured: RwLock<Arc<Configured>>,
}

/// Settings that a reload may replace.
struct Configured {
    settings: Arc<CieloSettings>,
    exchange: Arc<dyn ExchangeFactory>,
}

impl Shared {
    fn configured(&self) -> Arc<Configured> {
        Arc::clone(&self.configured.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn line(&self, configured: &Configured, exchange: Rc<dyn Exchange>) -> Line {
        let clock = Arc::clone(&self.clock);
        let spacing = Arc::clone(&self.spacing);
        let settings = Arc::clone(&configured.settings);
        let time_out = self.time_out;
        Line { settings, exchange, time_out, clock, spacing }
    }

    fn lookup<'a>(&'a self, line: &'a Line) -> Lookup<'a> {
        let [parts, of] = LATEST;
        let by_parts = self.call_time_out.saturating_mul(parts).checked_div(of).unwrap_or_default();
        let left = by_parts.max(self.call_time_out.saturating_sub(self.time_out));
        let now = Instant::now();
        Lookup { line, known: &self.known, deadline: now.checked_add(left).unwrap_or(now) }
    }
}

impl CieloFactory {
    /// Creates the factory of a merchant at Cielo with this configuration, reached through these exchanges.
    pub fn new(
        spec: AcquirerSpec,
        settings: CieloSettings,
        exchange: Arc<dyn ExchangeFactory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let notices = CieloNotices::new(&settings);
        let configured = RwLock::new(Arc::new(Configured { settings: Arc::new(settings), exchange }));
        let time_out = Duration::from_millis(spec.time_out_ms);
        // The time-out of a call includes the waits for its turns, which must not use up its requests' own time.
        let spec = AcquirerSpec { time_out_ms: with_turns(spec.time_out_ms), ..spec };
        let call_time_out = Duration::from_millis(spec.time_out_ms);
        let spacing = Arc::default();
        let known = KnownSales::default();
        let shared = Shared { mode: spec.mode, time_out, call_time_out, clock, spacing, known, configured };
        Self { spec, notices, shared: Arc::new(shared) }
    }

    /// Replaces secrets and exchanges from the next call on. Calls under way keep the old ones.
    pub fn reconfigure(&self, settings: CieloSettings, exchange: Arc<dyn ExchangeFactory>) {
        self.notices.reconfigure(&settings);
        let next = Arc::new(Configured { settings: Arc::new(settings), exchange });
        *self.shared.configured.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// Asks about an order that does not exist. The answer shows if address and credentials are right, without any
    /// effect.
    ///
    /// # Errors
    /// The answer, if it is not "there is none".
    pub async fn ask_something_unknown(&self) -> Result<(), CallFailure> {
        let configured = self.shared.configured();
        let line = self.shared.line(&configured, configured.exchange.open());
        let nobodys = order_id::write(TransactionId::new(Uuid::now_v7()), Method::CreditCard);
        match self.shared.lookup(&line).listed(&nobodys).await {
            Err(Missing::Unknown) => Ok(()),
            Err(Missing::Failed(failure)) => Err(failure),
            Ok(_) | Err(Missing::Mismatched(_)) => {
                Err(CallFailure::Unknown("Cielo names a sale of an order that nobody made".to_owned()))
            }
        }
    }
}

impl AcquirerFactory for CieloFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn account(&self) -> String {
        let settings = Arc::clone(&self.shared.configured().settings);
        format!("{} {}", settings.base_url, settings.merchant_id)
    }

    fn charge_account(&self) -> Option<String> {
        Some(self.account())
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(Cielo { shared: Arc::clone(&self.shared), opened: RefCell::default() })
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
        Some(PAYMENT_ID)
    }

    fn refund_shows_after_ms(&self, method: Method) -> u64 {
        match method {
            Method::Pix => operation::PIX_REFUND_SHOWS_AFTER_MS,
            Method::Boleto | Method::CreditCard => 0,
        }
    }

    fn refunds(&self, _: Method) -> bool {
        true
    }

    fn looks_at_paid(&self, method: Method) -> bool {
        // Only cards have chargebacks.
        method == Method::CreditCard
    }

    fn states_cost(&self) -> bool {
        false
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

/// An exchange, and the configuration with which it was opened.
type Opened = (Arc<Configured>, Rc<dyn Exchange>);

/// One merchant at Cielo, on the thread of an actor.
struct Cielo {
    shared: Arc<Shared>,
    opened: RefCell<Option<Opened>>,
}

impl Cielo {
    /// Returns a line with the current configuration. The exchange is kept until that changes.
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
        let issuer = Issuer { mode: self.shared.mode, boleto: line.settings.boleto.as_ref() };
        Reader { issuer, now: self.shared.clock.now() }
    }

    /// Reads the answer to a creation.
    fn created(&self, query: &ChargeQuery, reply: Reply, line: &Line) -> ChargeAnswer {
        let body = match reply {
            Reply::Body(body) => body,
            // Cielo has a sale of this order, whatever its queries show, so its outcome is inquired about.
            Reply::Refused(refusal) if refusal.codes.iter().any(|code| code == DUPLICATE_ORDER) => {
                return ChargeAnswer::Accepted(Reference::none());
            }
            // An explicit refusal took nothing, so the payment may go to another acquirer.
            Reply::Refused(refusal) | Reply::NotFound(refusal) => {
                return ChargeAnswer::Refused(refusal.reason);
            }
            Reply::Failed(failure) => return ChargeAnswer::Failed(failure),
        };
        match Sale::read(&body) {
            Ok(sale) => {
                // The creation counts as a call about the sale under both names, since the next call may use either.
                self.shared.spacing.also(sale.payment_id.as_str());
                self.shared.known.learn(&sale);
                self.reader(line).answer(query, &sale)
            }
            Err(Unreadable(what)) => {
                let why = format!("Cielo's answer can't be read: {what}");
                ChargeAnswer::Failed(CallFailure::Unknown(why))
            }
        }
    }

    /// Returns the sale that an operation is about: by its reference, otherwise the one that represents the payment.
    async fn payment_id(
        &self,
        query: &ChargeQuery,
        lookup: Lookup<'_>,
    ) -> Result<PaymentId, OperationAnswer> {
        // A known name needs no lookup, and Cielo's queries lag behind new sales.
        if let Some(payment_id) = statement::payment_id(&query.reference) {
            return Ok(payment_id);
        }
        let sale = self.sale_of(query, lookup).await?;
        Ok(sale.payment_id)
    }

    /// Returns the current state of the sale. "Not found" says nothing about an operation: Cielo forgets sales after
    /// three months.
    async fn sale_of(&self, query: &ChargeQuery, lookup: Lookup<'_>) -> Result<Sale, OperationAnswer> {
        let order_id = order_id::write(query.id, query.method);
        let read = match statement::payment_id(&query.reference) {
            // Other sales of the order are not involved.
            Some(payment_id) => lookup.sale(&payment_id, &[&order_id, payment_id.as_str()]).await.map(Some),
            None => lookup.sales(query).await.map(|sales| sales.into_iter().next()),
        };
        let sale = match read {
            Ok(sale) => sale,
            Err(Missing::Unknown) => None,
            Err(Missing::Mismatched(what)) => return Err(operation::unclear(&what)),
            Err(Missing::Failed(failure)) => return Err(OperationAnswer::Failed(failure)),
        };
        let sale = sale.ok_or_else(|| operation::unclear("Cielo does not know the sale"))?;
        match statement::mismatch(query, &sale) {
            Some(what) => Err(operation::unclear(&what)),
            None => Ok(sale),
        }
    }

    /// Checks a refusal against the sums. It may be wrong: the operation was done before, or only the answer failed.
    async fn refused_by_sums_too(
        &self,
        query: &ChargeQuery,
        operation: &Operation,
        lookup: Lookup<'_>,
        why: String,
        is_of_the_request: bool,
    ) -> OperationAnswer {
        // Sums show refunds late: queries lag, and a PIX is refunded some time after the request. A second capture of
        // the same sale takes no more money.
        let is_capture = matches!(operation.kind, OperationKind::Capture(_));
        let may_show_late = !is_of_the_request && !is_capture;
        match self.ask_about(query, operation, lookup).await {
            // A single lagging query is no proof: refunding again after a false refusal would give the money back
            // twice.
            OperationAnswer::NotFound if may_show_late => OperationAnswer::RefusedPerhaps(why),
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

    async fn ask_about(
        &self,
        query: &ChargeQuery,
        operation: &Operation,
        lookup: Lookup<'_>,
    ) -> OperationAnswer {
        match self.sale_of(query, lookup).await {
            Ok(sale) => operation::by_sums(query, operation, &sale),
            Err(answer) => answer,
        }
    }
}

#[async_trait(?Send)]
impl Acquirer for Cielo {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        let line = self.line();
        let query = &charge.query;
        let body = match request::body(charge, &line.settings, self.shared.clock.now()) {
            Ok(body) => body,
            Err(Unsendable::Refused(why)) => return ChargeAnswer::Refused(why.to_owned()),
            Err(Unsendable::NotReady(why)) => {
                return ChargeAnswer::Failed(CallFailure::NotDelivered(why.to_owned()));
            }
        };
        let order_id = order_id::write(query.id, query.method);
        let deadline = self.shared.lookup(&line).deadline;
        if let Err(failure) = self.shared.spacing.turn(&[&order_id], Purpose::Act, deadline).await {
            return ChargeAnswer::Failed(failure);
        }
        let reply = line.create(body).await;
        self.created(query, reply, &line)
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        let line = self.line();
        match self.shared.lookup(&line).sales(query).await {
            Ok(sales) => lookup::answer(query, &sales, self.reader(&line)),
            Err(Missing::Unknown) => ChargeAnswer::NotFound,
            Err(Missing::Mismatched(what)) => ChargeAnswer::Mismatched(what),
            Err(Missing::Failed(failure)) => ChargeAnswer::Failed(failure),
        }
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        if is_here_only(query, operation) {
            return OperationAnswer::Done;
        }
        let line = self.line();
        let lookup = self.shared.lookup(&line);
        let payment_id = match self.payment_id(query, lookup).await {
            Ok(payment_id) => payment_id,
            Err(answer) => return unsent(answer),
        };
        let names = [payment_id.as_str(), &order_id::write(query.id, query.method)];
        // The wait for the turn comes before the call, so after a refusal here nothing has left.
        if let Err(failure) = self.shared.spacing.turn(&names, Purpose::Act, lookup.deadline).await {
            return OperationAnswer::Failed(failure);
        }
        let reply = match operation.kind {
            OperationKind::Cancel => line.void(&payment_id, query.amount.cents()).await,
            OperationKind::Capture(amount) => line.capture(&payment_id, amount.cents()).await,
            // The amount is always stated, because a void without one refunds everything.
            OperationKind::Refund(amount) => line.void(&payment_id, amount.cents()).await,
        };
        let is_of_the_request = operation::refuses_the_request(&reply);
        match operation::answer(query, operation, reply) {
            OperationAnswer::Refused(why) => {
                self.refused_by_sums_too(query, operation, lookup, why, is_of_the_request).await
            }
            answer @ (OperationAnswer::Done
            | OperationAnswer::Accepted
            | OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::NotFound
            | OperationAnswer::Contradicted(_)
            | OperationAnswer::Failed(_)) => answer,
        }
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        if is_here_only(query, operation) {
            return OperationAnswer::Done;
        }
        let line = self.line();
        self.ask_about(query, operation, self.shared.lookup(&line)).await
    }

    async fn identify(&self, reference: &Reference) -> Identified {
        let Some(payment_id) = statement::payment_id(reference) else { return Identified::Unknown };
        if let Some(payment) = self.shared.known.payment(&payment_id) {
            return Identified::Payment(payment);
        }
        let line = self.line();
        let sale = match self.shared.lookup(&line).sale(&payment_id, &[payment_id.as_str()]).await {
            Ok(sale) => sale,
            Err(Missing::Unknown) => return Identified::NotFound,
            Err(Missing::Mismatched(what)) => return Identified::Failed(CallFailure::Unknown(what)),
            Err(Missing::Failed(failure)) => return Identified::Failed(failure),
        };
        let Some(order_id) = sale.order_id else { return Identified::Unknown };
        self.shared.spacing.also(&order_id.to_ascii_lowercase());
        order_id::read(&order_id).map_or(Identified::Unknown, Identified::Payment)
    }
}

/// Returns the time of a call, in milliseconds, whose requests have this time-out each.
fn with_turns(time_out_ms: u64) -> u64 {
    time_out_ms.saturating_add(TURNS_MS).min(LONGEST_WITH_TURNS_MS).max(time_out_ms)
}

/// Returns true for an unpaid PIX or boleto, which Cielo can't withdraw: it is cancelled only here, and later money
/// counts as late.
fn is_here_only(query: &ChargeQuery, operation: &Operation) -> bool {
    let can_be_voided = match query.method {
        Method::CreditCard => true,
        Method::Pix | Method::Boleto => false,
    };
    operation.kind == OperationKind::Cancel && !can_be_voided
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
