//! Operators' programs. They pause, drain and open acquirers at any time, and have them make inquiries.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use quita_actors::Operators;
use quita_domain::acquiring::OperationAnswer;
use quita_domain::control::RouteDirective;
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::operation::{Operation, OperationKind, Verdict};
use quita_domain::payment::Payment;
use quita_domain::time::DAY_MS;

use crate::bank::Holding;
use crate::chance::Fault;
use crate::world::World;

/// Nodes at which routes are known to be drained, and routes that were ever drained.
#[derive(Default)]
pub(crate) struct Drained {
    places: Mutex<HashMap<Route, Place>>,
    ever: Mutex<HashSet<Route>>,
}

type Route = (AcquirerName, Method);

/// State of a route after the last order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It was drained at this node, which confirmed it, and there was no order since.
    At(usize),
    /// It is not drained, or not for certain at any node.
    Nowhere,
    /// An order whose answer was lost may take effect at any time.
    NotKnown,
}

impl Drained {
    fn learn(&self, route: &Route, place: Place) {
        let mut places = self.places.lock().unwrap();
        let known = places.entry(route.clone()).or_insert(Place::Nowhere);
        if *known != Place::NotKnown {
            *known = place;
        }
    }

    /// Forgets the orders, as the store has.
    pub(crate) fn forget(&self) {
        self.places.lock().unwrap().clear();
    }

    /// Returns true if this node must not send anything on this route.
    pub(crate) fn is_at(&self, acquirer: &AcquirerName, method: Method, node: usize) -> bool {
        self.places.lock().unwrap().get(&(acquirer.clone(), method)) == Some(&Place::At(node))
    }

    /// Returns true if an operator ever drained the route, on any node.
    pub(crate) fn was_ever(&self, acquirer: &AcquirerName, method: Method) -> bool {
        self.ever.lock().unwrap().contains(&(acquirer.clone(), method))
    }
}

/// Gives orders now and then, until it is stopped.
pub(crate) async fn meddle(world: Arc<World>) {
    loop {
        world.pass(200, 2_000).await;
        if world.strikes(Fault::OperatorDirects) {
            order(&world).await;
        }
        if world.strikes(Fault::OperatorAsks) {
            ask(&world).await;
        }
        if world.changes_keys && world.chance.per_mille(200) {
            change_the_key(&world).await;
        }
    }
}

async fn order(world: &Arc<World>) {
    let Some(node) = world.any_node() else { return };
    let bank = world.chance.pick(&world.banks).name().clone();
    let method = world.chance.pick(&Method::ALL);
    let order = world.chance.pick(&RouteDirective::ALL);
    world.note(|| format!("order {} for {bank} {method} at node {}", order.as_str(), node.place));
    let route = (bank.clone(), method);
    world.drained.learn(&route, Place::Nowhere);
    if order == RouteDirective::Drained {
        world.drained.ever.lock().unwrap().insert(route.clone());
    }
    let ordered = node.ask(|operators| async move { operators.direct(&bank, method, order).await });
    world.drained.learn(
        &route,
        match ordered.await {
            Ok(Ok(Some(_))) if order == RouteDirective::Drained => Place::At(node.place),
            Ok(Ok(_)) => Place::Nowhere,
            _ => Place::NotKnown,
        },
    );
}

async fn ask(world: &Arc<World>) {
    let payments = world.store.payments();
    let Some(node) = world.any_node().filter(|_| !payments.is_empty()) else { return };
    let id = world.chance.pick(&payments).id;
    world.note(|| format!("ask for {id} at node {}", node.place));
    drop(node.ask(|operators| async move { operators.ask_acquirer(id).await }).await);
}

/// Continues a change of the secret key. At a node that was given both keys, the store works with the newer one from
/// now on.
async fn change_the_key(world: &Arc<World>) {
    let Some(node) = world.any_node() else { return };
    world.note(|| format!("rewrap at node {}", node.place));
    // The store's adapter may panic.
    drop(actix::spawn(async move { node.keys.work_with_newest().await }).await);
}

/// Ends what only a person can end. An operation whose outcome the bank's sums do not show ends as the bank's clerk
/// says. A payment that takes no more money is closed.
pub(crate) async fn end_what_is_stuck(world: &Arc<World>) {
    let Some(node) = world.any_node() else { return };
    for payment in world.store.payments() {
        let id = payment.id;
        if payment.waits_for_a_person() {
            // The clerk sees money that the bank's answers have not shown yet. Money of another amount never settles
            // it.
            let mut banks = world.banks.iter().filter(|bank| Some(bank.name()) == payment.acquirer());
            let is_paid = banks.any(|bank| {
                bank.account(world, id).is_some_and(|account| {
                    account.holding == Holding::Captured && account.captured == payment.order.amount
                })
            });
            if is_paid {
                drop(node.ask(|operators| async move { operators.ask_acquirer(id).await }).await);
            } else {
                drop(node.ask(|operators| async move { operators.end_mismatch(id).await }).await);
            }
        }
        let is_never_told = || {
            let accounts = world.banks.iter().filter_map(|bank| bank.account(world, id));
            accounts.into_iter().any(|account| account.is_never_told)
        };
        if !payment.possible_charge_verdicts(world.clock.now()).is_empty() && is_never_told() {
            let charge = payment.last_attempt();
            world.note(|| format!("end charge {charge} of {id}"));
            let end = |operators: Operators| async move {
                operators.resolve_charge(id, charge, Verdict::Refused).await
            };
            drop(node.ask(end).await);
        }
        let now = world.clock.now();
        // An operation older than a day is never sent again.
        let is_never_sent = |operation: &Operation| {
            let is_old = operation.is_own() && now.ms_since(operation.requested_at) > DAY_MS;
            operation.contradicted || is_old && !operation.call.is_taken()
        };
        let stuck =
            |operation: &&Operation| is_never_sent(operation) && !operation.possible_verdicts(now).is_empty();
        for operation in payment.operations.iter().filter(stuck) {
            // The payment is read again, as the previous verdict may have changed its sums.
            let Some(payment) = world.store.payment(id) else { continue };
            let Some(verdict) = said_by_the_clerk(world, &payment, operation) else { continue };
            let operation = operation.id;
            world.note(|| format!("end {operation} of {id} as {}", verdict.as_str()));
            let resolve = |operators: Operators| async move {
                operators.resolve_operation(id, operation, verdict).await
            };
            drop(node.ask(resolve).await);
        }
    }
}

/// Returns the verdict of the bank's books on an operation, which its clerk gives by telephone.
fn said_by_the_clerk(world: &World, payment: &Payment, operation: &Operation) -> Option<Verdict> {
    let bank = world.banks.iter().find(|bank| Some(bank.name()) == payment.acquirer())?;
    let account = bank.account(world, payment.id)?;
    let is_done = match operation.kind {
        OperationKind::Cancel => account.holding == Holding::Cancelled,
        OperationKind::Capture(amount) => account.captured == amount,
        // Several refunds of one amount may be open. A clerk whose bank knows our ids looks for this one.
        OperationKind::Refund(amount) => match bank.became_of_refund(world, payment.id, operation) {
            Some(OperationAnswer::Accepted) => return None,
            Some(answer) => answer == OperationAnswer::Done,
            None => account.given_back.minus(payment.state.refunded_amount()) == amount,
        },
    };
    Some(if is_done { Verdict::Done } else { Verdict::Refused })
}

/// Opens every acquirer again.
pub(crate) fn open_all(world: &World) {
    world.store.lock().controls.clear();
    world.drained.forget();
}
