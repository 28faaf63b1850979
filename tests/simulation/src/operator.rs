//! Operators' programs: they pause, drain and open acquirers at any time, and have them asked.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use quita_domain::control::RouteDirective;
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;

use crate::chance::Fault;
use crate::world::World;

/// Where routes are known to be drained, and which ever were.
#[derive(Default)]
pub(crate) struct Drained {
    places: Mutex<HashMap<Route, Place>>,
    ever: Mutex<HashSet<Route>>,
}

type Route = (AcquirerName, Method);

/// The last order for a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It was drained at this node, which said so, and nothing was ordered since.
    At(usize),
    /// Not drained, or not for sure at any node.
    Nowhere,
    /// An order whose answer was lost may come to hold at any time.
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

    /// Whether this node must not send anything there.
    pub(crate) fn is_at(&self, acquirer: &AcquirerName, method: Method, node: usize) -> bool {
        self.places.lock().unwrap().get(&(acquirer.clone(), method)) == Some(&Place::At(node))
    }

    /// Whether an operator ever had it drained, on any node.
    pub(crate) fn was_ever(&self, acquirer: &AcquirerName, method: Method) -> bool {
        self.ever.lock().unwrap().contains(&(acquirer.clone(), method))
    }
}

/// Orders something now and then, as long as it is let.
pub(crate) async fn meddle(world: Arc<World>) {
    loop {
        world.pass(200, 2_000).await;
        if world.strikes(Fault::OperatorDirects) {
            order(&world).await;
        }
        if world.strikes(Fault::OperatorAsks) {
            ask(&world).await;
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
            Ok(Ok(_)) if order == RouteDirective::Drained => Place::At(node.place),
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

/// Every acquirer may be used again.
pub(crate) fn open_all(world: &World) {
    world.store.lock().controls.clear();
    world.drained.places.lock().unwrap().clear();
}
