//! Operators' programs: they pause, drain and open acquirers at any time, and have them asked.

use std::sync::Arc;

use quita_domain::control::RouteOrder;
use quita_domain::method::Method;

use crate::chance::Fault;
use crate::world::World;

/// Orders something now and then, as long as it is let.
pub(crate) async fn meddle(world: Arc<World>) {
    loop {
        world.pass(200, 2_000).await;
        if world.strikes(Fault::OperatorOrders) {
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
    let order = world.chance.pick(&RouteOrder::ALL);
    world.note(|| format!("order {} for {bank} {method} at node {}", order.as_str(), node.place));
    let ordered = node.ask(|operators| async move { operators.order(&bank, method, order).await });
    if let Ok(Ok(Some(view))) = ordered.await
        && view.order != order
    {
        world.violation(format!("{} does not hold where it was ordered", order.as_str()));
    }
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
}
