//! A bank as one node reaches it: over a network that loses requests and answers.

use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, OperationAnswer};
use quita_domain::method::Method;
use quita_domain::operation::Operation;
use quita_domain::order::Order;
use quita_ports::{Acquirer, AcquirerFactory, AcquirerSpec, NoticeSink};
use tokio::time::{sleep, timeout};

use super::{Bank, Entry, Holding, TIME_OUT_MS, notify, payer};
use crate::chance::Fault;
use crate::node::Fuse;
use crate::planted::{self, Mistake};
use crate::world::World;

/// How long after its sender gave up a request may still arrive, in milliseconds.
const LATE_MS: u64 = 8_000;
/// How long a charge may be invisible after it was made, in milliseconds.
const LAG_MS: u64 = 8_000;

/// A bank, seen from one node.
#[derive(Clone)]
pub(crate) struct NodeBank {
    pub(crate) world: Arc<World>,
    pub(crate) fuse: Arc<Fuse>,
    pub(crate) bank: Arc<Bank>,
}

impl AcquirerFactory for NodeBank {
    fn spec(&self) -> &AcquirerSpec {
        &self.bank.spec
    }

    fn answers_locally(&self, order: &Order) -> bool {
        self.bank.manner.issues_locally && order.method == Method::Pix
    }

    fn build(&self, _: Arc<dyn NoticeSink>) -> Rc<dyn Acquirer> {
        Rc::new(self.clone())
    }
}

impl NodeBank {
    /// A call leaves the node. Where an operator had the acquirer drained none does.
    fn check_order(&self, method: Method) {
        let (name, place) = (self.bank.name(), self.fuse.place());
        if self.world.drained.is_at(name, method, place) && !self.fuse.is_dead() {
            self.world.violation(format!("{name} is called for {method} by node {place}, which drained it"));
        }
    }

    /// The way there: what went wrong with it.
    async fn reach(&self) -> Option<CallFailure> {
        let world = &self.world;
        assert!(!world.strikes(Fault::BankPanic), "the bank's adapter panics");
        if world.strikes(Fault::BankRefuses) {
            return Some(CallFailure::NotDelivered("no connection".into()));
        }
        world.pass(2, 200).await;
        if world.strikes(Fault::BankSlow) {
            world.pass(500, TIME_OUT_MS + 2_000).await;
        }
        if world.strikes(Fault::BankSilentBefore) {
            pending::<()>().await;
        }
        world.strikes(Fault::BankErrorBefore).then(|| CallFailure::Unknown("503".into()))
    }

    /// The way back: what went wrong with it.
    async fn answer(&self) -> Option<CallFailure> {
        if self.world.strikes(Fault::BankSilentAfter) {
            pending::<()>().await;
        }
        self.fuse.gate("bank answered").await;
        self.world.strikes(Fault::BankErrorAfter).then(|| CallFailure::Unknown("not JSON".into()))
    }

    /// A request for a charge has arrived.
    fn take(&self, charge: &Charge) -> Fact {
        let (world, query) = (&self.world, &charge.query);
        let (id, now) = (query.id, world.clock.now());
        let mut books = self.bank.books();
        if let Some(entry) = books.get_mut(&id) {
            let holds = matches!(entry.holding, Holding::Authorised | Holding::Captured);
            if self.bank.manner.forgets_keys && holds && query.method == Method::CreditCard {
                entry.authorised += 1;
            }
            return entry.fact(id.uuid(), now);
        }
        let holding = match query.method {
            _ if world.strikes(Fault::BankDeclines) => Holding::Declined,
            Method::Pix | Method::Boleto => Holding::Awaited,
            Method::CreditCard if query.captures_at_once && !self.bank.manner.authorises_only => {
                Holding::Captured
            }
            Method::CreditCard => Holding::Authorised,
        };
        let mut entry = Entry::new(query, holding);
        if world.strikes(Fault::BankLags) {
            entry.has_lagged = true;
            entry.visible_at = now.plus_ms(world.chance.between(1, LAG_MS));
        }
        world.note(|| format!("{} holds {id} {holding:?}", self.bank.name()));
        let fact = entry.fact(id.uuid(), now);
        books.insert(id, entry);
        drop(books);
        payer::after_charge(world, &self.bank, id);
        fact
    }

    /// The request arrives although its sender does not wait any more.
    fn take_late(&self, charge: &Charge) {
        let wait_ms = TIME_OUT_MS + self.world.chance.between(1, LATE_MS);
        let (teller, charge) = (self.clone(), charge.clone());
        self.world.errand(async move {
            sleep(Duration::from_millis(wait_ms)).await;
            teller.take(&charge);
        });
    }
}

impl NodeBank {
    /// A charge that is sent, and what is answered to it, if that is in time.
    async fn send(&self, charge: &Charge) -> ChargeAnswer {
        self.fuse.gate("charge").await;
        let id = charge.query.id;
        self.world.note(|| format!("charge {id} to {}", self.bank.name()));
        if self.answers_locally(&charge.order) {
            let entry = Entry::new(&charge.query, Holding::Awaited).fact(id.uuid(), self.world.clock.now());
            return ChargeAnswer::Known(entry);
        }
        if let Some(failure) = self.reach().await {
            return ChargeAnswer::Failed(failure);
        }
        self.bank.check_intent(&self.world, charge);
        if self.world.strikes(Fault::BankLateArrival) {
            self.take_late(charge);
            pending::<()>().await;
        }
        let fact = self.take(charge);
        self.answer().await.map_or(ChargeAnswer::Known(fact), ChargeAnswer::Failed)
    }
}

#[async_trait(?Send)]
impl Acquirer for NodeBank {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        self.check_order(charge.query.method);
        if self.world.mistake == Some(Mistake::NotFoundAtOnce) {
            self.bank.sent.lock().unwrap().insert(charge.query.id, charge.clone());
        }
        let in_time = timeout(Duration::from_millis(TIME_OUT_MS - 1), self.send(charge)).await.ok();
        match planted::charge_heard(&self.world, in_time) {
            Some(answer) => answer,
            None => pending().await,
        }
    }

    async fn begun(&self, query: &ChargeQuery) {
        self.check_order(query.method);
        self.fuse.gate("begun").await;
        payer::issued_locally(&self.world, &self.bank, query);
    }

    async fn find(&self, query: &ChargeQuery) -> ChargeAnswer {
        self.check_order(query.method);
        self.fuse.gate("find").await;
        self.world.note(|| format!("find {} at {}", query.id, self.bank.name()));
        if let Some(failure) = self.reach().await {
            return ChargeAnswer::Failed(failure);
        }
        if self.bank.manner.issues_locally && query.method == Method::Pix {
            payer::issued_locally(&self.world, &self.bank, query);
        }
        let now = self.world.clock.now();
        let fact = self
            .bank
            .books()
            .get_mut(&query.id)
            .filter(|entry| entry.visible_at <= now)
            .map(|entry| entry.fact(query.id.uuid(), now));
        let again = self.bank.sent.lock().unwrap().get(&query.id).cloned();
        match (self.answer().await, fact, again) {
            (Some(failure), _, _) => ChargeAnswer::Failed(failure),
            (None, Some(fact), _) => ChargeAnswer::Known(fact),
            (None, None, Some(again)) => self.send(&again).await,
            (None, None, None) => ChargeAnswer::NotFound,
        }
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        self.check_order(query.method);
        self.fuse.gate("operate").await;
        self.world.note(|| format!("{} {} at {}", operation.kind.verb(), query.id, self.bank.name()));
        if let Some(failure) = self.reach().await {
            return OperationAnswer::Failed(failure);
        }
        let operation = &planted::sent(&self.world, operation);
        let Some(answer) = self.bank.books().get_mut(&query.id).map(|entry| entry.operate(operation)) else {
            return OperationAnswer::Refused("unknown".into());
        };
        notify::after_operation(&self.world, &self.bank, query.id, operation, &answer);
        self.answer().await.map_or(answer, OperationAnswer::Failed)
    }
}
