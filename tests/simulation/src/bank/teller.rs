//! Bank as one node reaches it: over a network that loses requests and answers.

use std::future::pending;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, DeclineKind, Fact, HintSubject, Identified,
    NoticeContent, OperationAnswer, Reference,
};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Order;
use quita_domain::status::Status;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, ListReader, LocalIssue, NoticeHead, NoticeReader, NoticeRefused,
    NoticeSink, NumberRange, Preparation, RawNotice,
};
use tokio::time::{Instant, sleep, timeout};

use super::notify::{self, AUTHENTICATED_BY};
use super::{Bank, Entry, Holding, check_intent, check_reference, payer};
use crate::chance::Fault;
use crate::node::Fuse;
use crate::planted::{self, Mistake};
use crate::world::World;

/// Longest delay of a request after its sender stopped waiting, in milliseconds.
const LATE_MS: u64 = 8_000;
/// Longest time for which a charge or an operation is invisible after it was made, in milliseconds.
const LAG_MS: u64 = 8_000;
/// Least delay of a charge that arrives after all parties gave it up, in milliseconds.
const VERY_LATE_MS: u64 = 120_000;
/// Time for which a card's limit is held at a bank that can be asked about it, in milliseconds.
const LAPSES_AFTER_MS: u64 = 3 * DAY_MS;
/// Longest time for which a boleto has no code, in milliseconds.
const REGISTRATION_MS: u64 = 60_000;
/// Times that a refund may take, in milliseconds; some are hours.
const REFUND_TAKES_MS: [u64; 4] = [20_000, 120_000, 1_800_000, 6 * 3_600_000];

/// Bank as seen from one node.
#[derive(Clone)]
pub(crate) struct NodeBank {
    pub(crate) world: Arc<World>,
    pub(crate) fuse: Arc<Fuse>,
    pub(crate) bank: Arc<Bank>,
    /// Specification as this node is configured.
    spec: AcquirerSpec,
    /// Moment until which the bank accepts no calls from this node, as it has reported to the node.
    throttled_until: Arc<Mutex<Option<Instant>>>,
}

impl NodeBank {
    pub(crate) fn new(world: &Arc<World>, fuse: &Arc<Fuse>, bank: &Arc<Bank>, time_out_ms: u64) -> Self {
        let spec = AcquirerSpec { time_out_ms, ..bank.spec.clone() };
        let world = Arc::clone(world);
        let fuse = Arc::clone(fuse);
        let bank = Arc::clone(bank);
        Self { world, fuse, bank, spec, throttled_until: Arc::default() }
    }

    /// Returns the longest time of a call here, just short of its time-out.
    const fn in_time(&self) -> Duration {
        Duration::from_millis(self.spec.time_out_ms - 1)
    }
}

impl AcquirerFactory for NodeBank {
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
        Rc::new(self.clone())
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        None
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(self)
    }

    fn operates_in_turn(&self) -> bool {
        self.bank.manner.knows_sums_only
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
        self.bank.manner.issues_locally.then_some(self)
    }
}

impl LocalIssue for NodeBank {
    fn connect(&self, _: Arc<dyn NoticeSink>) {}

    fn issue(&self, query: &ChargeQuery) -> Option<Fact> {
        let is_local = self.bank.manner.issues_locally && query.method == Method::Pix;
        is_local.then(|| {
            let mut entry = self.bank.entry(query, Holding::Awaited);
            entry.fact(query.id.uuid(), self.world.clock.now())
        })
    }

    fn stored(&self, query: &ChargeQuery) {
        self.check_drained(query.method);
        if !self.fuse.is_dead() {
            payer::issued_locally(&self.world, &self.bank, query);
        }
    }
}

/// Reader of hints, which name their subject by an id of ours or by the bank's name for it.
impl NoticeReader for NodeBank {
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        let is_own = head.header(AUTHENTICATED_BY) == Some(self.bank.name().as_str());
        if is_own { Ok(()) } else { Err(NoticeRefused::NotAuthentic) }
    }

    fn read(&self, notice: &RawNotice<'_>, _: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        self.admit(&notice.head())?;
        let text = String::from_utf8_lossy(notice.body);
        let subject = match TransactionId::parse(&text) {
            Some(id) => HintSubject::Payment(id),
            None => HintSubject::Reference(Reference::none().with("id", &text)),
        };
        Ok(planted::hints(&self.world, subject).map(NoticeContent::Hint).into_iter().collect())
    }
}

impl NodeBank {
    /// Checks a call that leaves the node. None may leave for a drained acquirer, nor while the bank accepts none.
    fn check_call(&self, method: Method) {
        self.check_drained(method);
        let name = self.bank.name();
        let place = self.fuse.place();
        // A mistake may swallow the answer that asks for fewer calls.
        if self.fuse.is_dead() || self.world.mistake.is_some() {
            return;
        }
        if self.throttled_until.lock().unwrap().is_some_and(|until| Instant::now() < until) {
            self.world.violation(format!("{name} is called by node {place} although it wants fewer calls"));
        }
    }

    fn check_drained(&self, method: Method) {
        let name = self.bank.name();
        let place = self.fuse.place();
        if !self.fuse.is_dead() && self.world.drained.is_at(name, method, place) {
            self.world.violation(format!("{name} is used for {method} by node {place}, which drained it"));
        }
    }

    /// Simulates the way to the bank. Returns its failure, if any.
    async fn reach(&self) -> Option<CallFailure> {
        let world = &self.world;
        assert!(!world.strikes(Fault::BankPanic), "the bank's adapter panics");
        if world.strikes(Fault::BankRefuses) {
            return Some(CallFailure::NotDelivered("no connection".into()));
        }
        world.pass(2, 200).await;
        if world.strikes(Fault::BankThrottles) {
            let after_ms = world.chance.between(100, 20_000);
            let until = Instant::now() + Duration::from_millis(after_ms);
            let mut throttled = self.throttled_until.lock().unwrap();
            *throttled = (*throttled).max(Some(until));
            return Some(CallFailure::Throttled { after_ms });
        }
        if world.strikes(Fault::BankSlow) {
            world.pass(500, self.spec.time_out_ms + 2_000).await;
        }
        if world.strikes(Fault::BankSilentBefore) {
            pending::<()>().await;
        }
        world.strikes(Fault::BankErrorBefore).then(|| CallFailure::Unknown("503".into()))
    }

    /// Simulates the way back. Returns its failure, if any.
    async fn answer(&self) -> Option<CallFailure> {
        if self.world.strikes(Fault::BankSilentAfter) {
            pending::<()>().await;
        }
        self.fuse.gate("bank answered").await;
        self.world.strikes(Fault::BankErrorAfter).then(|| CallFailure::Unknown("not JSON".into()))
    }

    /// Draws the delay of a request that arrives after its sender stopped waiting.
    fn late_ms(&self) -> u64 {
        self.spec.time_out_ms + self.world.chance.between(1, LATE_MS)
    }
}

/// Charges.
impl NodeBank {
    /// Draws whether the issuer declines, and whether another try may succeed.
    fn declines(&self, method: Method) -> Option<DeclineKind> {
        let is_card = method == Method::CreditCard;
        if self.world.strikes(Fault::BankDeclines) || is_card && self.world.strikes(Fault::CardDeclinedHere) {
            Some(DeclineKind::Reversible)
        } else {
            self.world.strikes(Fault::BankDeclinesForGood).then_some(DeclineKind::Irreversible)
        }
    }

    /// Handles a request for a charge that has arrived.
    fn take(&self, charge: &Charge) -> ChargeAnswer {
        let world = &self.world;
        let query = &charge.query;
        let id = query.id;
        let now = world.clock.now();
        if let Some(card) = &query.card {
            world.tries.lock().unwrap().note(card, id, now);
        }
        let mut books = self.bank.books();
        if let Some(entry) = books.get_mut(&id) {
            let holds = matches!(entry.holding, Holding::Authorised | Holding::Captured);
            if self.bank.manner.forgets_keys && holds && query.method == Method::CreditCard {
                entry.authorised += 1;
            }
            return stated(entry, id, now);
        }
        let declined = self.declines(query.method);
        let holding = match query.method {
            _ if declined.is_some() => Holding::Declined,
            Method::Pix | Method::Boleto => Holding::Awaited,
            Method::CreditCard if query.captures_at_once && !self.bank.manner.authorises_only => {
                Holding::Captured
            }
            Method::CreditCard => Holding::Authorised,
        };
        let mut entry = self.bank.entry(query, holding);
        entry.decline_kind = declined.filter(|_| self.bank.manner.says_if_final);
        if world.strikes(Fault::BankLags) {
            entry.has_lagged = true;
            entry.visible_at = now.plus_ms(world.chance.between(1, LAG_MS));
        }
        let is_slip = query.method == Method::Boleto && holding == Holding::Awaited;
        if is_slip && self.bank.manner.registers_later {
            entry.registered_at = now.plus_ms(world.chance.between(1_000, REGISTRATION_MS));
        }
        entry.lapses_at = (!self.bank.manner.issues_locally).then(|| now.plus_ms(LAPSES_AFTER_MS));
        let has_code = query.method != Method::CreditCard && holding == Holding::Awaited;
        entry.has_no_code = has_code && world.strikes(Fault::BankHasNoCode);
        world.note(|| format!("{} holds {id} {holding:?}", self.bank.name()));
        let answer = stated(&mut entry, id, now);
        books.insert(id, entry);
        drop(books);
        payer::after_charge(world, &self.bank, id);
        answer
    }

    /// Returns true if a charge only holds a card's limit, at a bank that would not charge it twice.
    fn is_only_authorised(&self, charge: &Charge) -> bool {
        let is_card = charge.query.method == Method::CreditCard;
        let captures = charge.query.captures_at_once && !self.bank.manner.authorises_only;
        is_card && !captures && !self.bank.manner.forgets_keys
    }

    /// Handles a charge request that arrives after its payment was given up. If the payment was not given up, the
    /// request is lost.
    async fn take_very_late(&self, charge: &Charge) {
        let world = &self.world;
        let id = charge.query.id;
        sleep(Duration::from_millis(world.chance.between(VERY_LATE_MS, 2 * VERY_LATE_MS))).await;
        let is_given_up = world.store.payment(id).is_some_and(|payment| {
            payment.status() == Status::Declined && payment.acquirer() == Some(self.bank.name())
        });
        if !is_given_up || self.bank.books().contains_key(&id) {
            return;
        }
        let mut entry = self.bank.entry(&charge.query, Holding::Authorised);
        entry.is_late = true;
        let fact = entry.fact(id.uuid(), world.clock.now());
        world.note(|| format!("{} holds {id} very late", self.bank.name()));
        self.bank.books().insert(id, entry);
        notify::notify(world, &self.bank, id, "authorised", fact, true);
    }

    /// Sends a charge, and returns its answer if that comes in time.
    async fn send(&self, charge: &Charge) -> ChargeAnswer {
        self.fuse.gate("charge").await;
        self.world.note(|| format!("charge {} to {}", charge.query.id, self.bank.name()));
        if let Some(failure) = self.reach().await {
            return ChargeAnswer::Failed(failure);
        }
        check_intent(&self.world, self.bank.name(), &charge.query);
        if self.is_only_authorised(charge) && self.world.strikes(Fault::CardIsVeryLate) {
            let teller = self.clone();
            let charge = charge.clone();
            self.world.errand(async move { teller.take_very_late(&charge).await });
            pending::<()>().await;
        }
        if self.world.strikes(Fault::BankLateArrival) {
            let teller = self.clone();
            let charge = charge.clone();
            let wait_ms = self.late_ms();
            self.world.errand(async move {
                sleep(Duration::from_millis(wait_ms)).await;
                teller.take(&charge);
            });
            pending::<()>().await;
        }
        let answer = self.take(charge);
        self.answer().await.map_or(answer, ChargeAnswer::Failed)
    }
}

/// Returns the bank's answer about a charge that it has.
fn stated(entry: &mut Entry, id: TransactionId, now: Timestamp) -> ChargeAnswer {
    if entry.registered_at > now && entry.holding == Holding::Awaited {
        return ChargeAnswer::Accepted(entry.reference.clone());
    }
    let statement = entry.statement(id.uuid(), now);
    if entry.has_no_code && entry.holding == Holding::Awaited {
        return ChargeAnswer::WithoutCode(entry.reference.clone());
    }
    ChargeAnswer::Known(statement)
}

/// Operations.
impl NodeBank {
    /// Handles a request for an operation that has arrived.
    fn operate_now(&self, id: TransactionId, operation: &Operation) -> OperationAnswer {
        let (world, now) = (&self.world, self.world.clock.now());
        let manner = self.bank.manner;
        let takes_time = manner.takes_time_for_refunds && !manner.knows_sums_only;
        let refund_ends = takes_time.then(|| {
            let longest_ms = world.chance.pick(&REFUND_TAKES_MS);
            (now.plus_ms(world.chance.between(1_000, longest_ms)), world.strikes(Fault::RefundFails))
        });
        let mut books = self.bank.books();
        let Some(entry) = books.get_mut(&id) else { return OperationAnswer::Refused("unknown".into()) };
        entry.pass_to(now);
        let is_capture = matches!(operation.kind, OperationKind::Capture(_));
        let may_refuse = is_capture && entry.holding == Holding::Authorised && !entry.has_answered(operation);
        let answer = match manner.knows_sums_only {
            _ if may_refuse && world.strikes(Fault::CaptureRefused) => {
                entry.refuse_capture(operation, !manner.knows_sums_only)
            }
            true => entry.operate_once_more(operation),
            false => entry.operate_by_id(operation, refund_ends),
        };
        if world.strikes(Fault::BankLags) {
            entry.operations_visible_at = now.plus_ms(world.chance.between(1, LAG_MS));
        }
        drop(books);
        notify::after_operation(world, &self.bank, id, operation, &answer);
        answer
    }

    /// Sends an operation, and returns its answer if that comes in time.
    async fn send_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        self.fuse.gate("operate").await;
        self.world.note(|| format!("{} {} at {}", operation.kind.verb(), query.id, self.bank.name()));
        if let Some(failure) = self.reach().await {
            return OperationAnswer::Failed(failure);
        }
        let operation = planted::sent(&self.world, operation);
        if self.world.strikes(Fault::BankLateArrival) {
            let teller = self.clone();
            let id = query.id;
            let wait_ms = self.late_ms();
            self.world.errand(async move {
                sleep(Duration::from_millis(wait_ms)).await;
                teller.operate_now(id, &operation);
            });
            return pending().await;
        }
        let answer = self.operate_now(query.id, &operation);
        self.answer().await.map_or(answer, OperationAnswer::Failed)
    }

    /// Returns the outcome of an operation, as far as it is visible yet.
    fn became(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let now = self.world.clock.now();
        let mut books = self.bank.books();
        let Some(entry) = books.get_mut(&query.id) else { return OperationAnswer::NotFound };
        entry.pass_to(now);
        let by_sums = self.bank.manner.knows_sums_only;
        if by_sums && self.world.strikes(Fault::SumsMove) {
            return OperationAnswer::Contradicted("something else moved".into());
        }
        let answer =
            if by_sums { entry.became_by_sums(query, operation) } else { entry.became_by_id(operation) };
        if answer == OperationAnswer::Done && entry.operations_visible_at > now {
            return OperationAnswer::NotFound;
        }
        answer
    }
}

#[async_trait(?Send)]
impl Acquirer for NodeBank {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        self.check_call(charge.query.method);
        if self.world.mistake == Some(Mistake::NotFoundAtOnce) {
            self.bank.sent.lock().unwrap().insert(charge.query.id, charge.clone());
        }
        let in_time = timeout(self.in_time(), self.send(charge)).await.ok();
        match planted::charge_heard(&self.world, in_time) {
            Some(answer) => answer,
            None => pending().await,
        }
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        self.check_call(query.method);
        check_reference(&self.world, self.bank.name(), &planted::asked(&self.world, query));
        self.fuse.gate("inquire").await;
        self.world.note(|| format!("inquire {} at {}", query.id, self.bank.name()));
        if let Some(failure) = self.reach().await {
            return planted::inquiry_heard(&self.world, ChargeAnswer::Failed(failure));
        }
        // Only the first charge is answered within the process itself.
        if self.bank.manner.issues_locally && query.method == Method::Pix && query.attempt.is_first() {
            payer::issued_locally(&self.world, &self.bank, query);
        }
        let now = self.world.clock.now();
        let answer = self
            .bank
            .books()
            .get_mut(&query.id)
            .filter(|entry| entry.visible_at <= now)
            .map(|entry| stated(entry, query.id, now));
        let again = self.bank.sent.lock().unwrap().get(&query.id).cloned();
        let answer = match (self.answer().await, answer, again) {
            (Some(failure), _, _) => ChargeAnswer::Failed(failure),
            (None, Some(_), _) if self.world.strikes(Fault::BankMixesUp) => {
                ChargeAnswer::Mismatched("it is about another charge".into())
            }
            (None, Some(_), _) if self.world.strikes(Fault::BankIsForeign) => {
                ChargeAnswer::Foreign("another key receives its money".into())
            }
            (None, Some(answer), _) => answer,
            (None, None, Some(again)) => self.send(&again).await,
            (None, None, None) => ChargeAnswer::NotFound,
        };
        self.world.note(|| format!("inquire {}: {answer:?}", query.id));
        planted::inquiry_heard(&self.world, answer)
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        self.check_call(query.method);
        let sent = self.send_operation(query, operation);
        let in_time = timeout(self.in_time(), sent).await.ok();
        self.world.note(|| format!("{} {}: {in_time:?}", operation.kind.verb(), query.id));
        match planted::operation_heard(&self.world, in_time) {
            Some(answer) => answer,
            None => pending().await,
        }
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        self.check_call(query.method);
        self.fuse.gate("inquire operation").await;
        let verb = operation.kind.verb();
        self.world.note(|| format!("inquire {verb} of {} at {}", query.id, self.bank.name()));
        if let Some(failure) = self.reach().await {
            return OperationAnswer::Failed(failure);
        }
        let answer = self.became(query, operation);
        let answer = match self.world.mistake {
            Some(Mistake::OperationNotFoundAtOnce) if answer == OperationAnswer::NotFound => {
                self.send_operation(query, operation).await
            }
            Some(_) | None => answer,
        };
        self.answer().await.map_or(answer, OperationAnswer::Failed)
    }

    async fn identify(&self, reference: &Reference) -> Identified {
        self.fuse.pass().await;
        if let Some(failure) = self.reach().await {
            return Identified::Failed(failure);
        }
        self.bank.identify(reference).map_or(Identified::Unknown, Identified::Payment)
    }
}
