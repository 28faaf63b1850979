//! Operation of the service. Its nodes are stopped, read their routes again, and start with other settings. For a
//! while, an acquirer is removed from the configuration.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use tokio::time::sleep;

use super::Happening;
use crate::bank::Holding;
use crate::life;
use crate::node::Node;
use crate::planted;
use crate::world::World;

/// Other time-outs of banks simulated at the port, all shorter than the lease of a call.
const TIME_OUTS_MS: [u64; 3] = [3_000, 8_000, 12_000];

/// Time for which an acquirer is gone after the storm, in steps. A step goes up to the next due moment.
const STEPS_WITHOUT: (u64, u64) = (3, 20);

/// Longest time of calls under way to the store, or from an acquirer that has been removed since.
const AFTERMATH: Duration = Duration::from_secs(20);

/// Intervenes now and then, until it is stopped.
pub(crate) async fn meddle(world: Arc<World>) {
    let plan = world.installation.plan;
    if !plan.is_operated() {
        return;
    }
    loop {
        world.pass(300, 4_000).await;
        let chance = &world.chance;
        if plan.stops && chance.per_mille(300) {
            stop_one(&world).await;
        }
        let is_whole = world.installation.configurations.present().absent().is_none();
        if plan.reloads && is_whole && chance.per_mille(250) {
            reload(&world).await;
        }
        if plan.changes_time_out && chance.per_mille(200) {
            change_time_out(&world).await;
        }
        if plan.loses_an_acquirer && is_whole && chance.per_mille(600) {
            lose_an_acquirer(&world).await;
        }
    }
}

/// Tells one node to stop; it is restarted like one that died.
async fn stop_one(world: &Arc<World>) {
    let Some(node) = world.any_node() else { return };
    stop(world, node).await;
}

/// Stops a node in a task of its own, as the caller may be stopped earlier.
async fn stop(world: &Arc<World>, node: Node) {
    let world = Arc::clone(world);
    drop(actix::spawn(async move { node.stop(&world).await }).await);
}

/// Stops a node in calm conditions, in which it must lose nothing.
pub(crate) async fn stop_in_calm(world: &Arc<World>) {
    if world.installation.plan.stops && world.chance.per_mille(700) {
        world.pass(0, 5_000).await;
        stop_one(world).await;
    }
}

/// Makes every node read other routes, one after the other.
async fn reload(world: &Arc<World>) {
    let configurations = &world.installation.configurations;
    let present = configurations.present();
    let others = present.routes.others(&world.chance, world.banks.len());
    configurations.change(Arc::new(others), present.time_out_ms);
    world.installation.count(Happening::RoutesReloaded);
    for place in 0..world.node_count() {
        if let Some(node) = world.node(place) {
            node.reload(world);
            world.note_routes();
        }
        world.pass(0, 500).await;
    }
}

/// Restarts every node with another time-out, one after the other.
async fn change_time_out(world: &Arc<World>) {
    let configurations = &world.installation.configurations;
    let time_out_ms = world.chance.pick(&TIME_OUTS_MS);
    configurations.change(configurations.present().routes, time_out_ms);
    world.installation.count(Happening::TimeOutChanged);
    begin_anew(world).await;
}

/// Restarts every node without one of the acquirers. Another one takes the same payments.
async fn lose_an_acquirer(world: &Arc<World>) {
    let kinds = world.kinds();
    let can_go = |place: &usize| world.kinds_without(Some(*place)) == kinds;
    let able: Vec<_> = (0..world.banks.len()).filter(can_go).collect();
    if able.is_empty() {
        return;
    }
    let configurations = &world.installation.configurations;
    let bank = world.chance.pick(&able);
    let present = configurations.present();
    world.note(|| format!("{} is configured no more", world.banks[bank].name()));
    configurations.change(Arc::new(present.routes.without(bank)), present.time_out_ms);
    world.installation.note_gone(world.banks[bank].name());
    world.installation.count(Happening::AcquirerGone);
    begin_anew(world).await;
}

/// Tells every node to stop, each once the previous one is up again.
async fn begin_anew(world: &Arc<World>) {
    for place in 0..world.node_count() {
        let Some(node) = world.node(place) else { continue };
        stop(world, node).await;
        for _ in 0..10 {
            if world.node(place).is_some() {
                break;
            }
            world.pass(100, 800).await;
        }
    }
}

/// Lets time pass without an acquirer that was removed, if any, and then restores it.
pub(crate) async fn live_without(world: &Arc<World>) {
    let configurations = &world.installation.configurations;
    let Some(bank) = configurations.present().absent() else { return };
    let gone = world.banks[bank].name().clone();
    // Nodes that were not told to stop yet are told now.
    for place in 0..world.node_count() {
        if let Some(node) = world.node(place).filter(|node| node.has(&gone)) {
            stop(world, node).await;
        }
        if world.node(place).is_none() {
            world.put_node(place, Node::start(world, place, None));
        }
    }
    for place in 0..world.node_count() {
        planted::decide_gone(world, place, &gone);
    }
    sleep(AFTERMATH).await;
    let before = open_at(world, |payment| payment.acquirer() == Some(&gone));
    for _ in 0..before.len() {
        world.installation.count(Happening::OpenAtAGoneAcquirer);
    }
    for _ in 0..world.chance.between(STEPS_WITHOUT.0, STEPS_WITHOUT.1) {
        life::step(world).await;
    }
    for (id, status) in before {
        check_not_decided(world, bank, id, status);
    }
    world.note(|| format!("{gone} is configured again"));
    let present = configurations.present();
    configurations.change(configurations.whole(), present.time_out_ms);
    world.installation.count(Happening::AcquirerBack);
    for place in 0..world.node_count() {
        if let Some(node) = world.node(place) {
            stop(world, node).await;
        }
        world.put_node(place, Node::start(world, place, None));
    }
}

/// Returns the open payments and their statuses.
fn open_at(world: &World, is_meant: impl Fn(&Payment) -> bool) -> BTreeMap<TransactionId, Status> {
    let is_open = |status| matches!(status, Status::Initial | Status::Pending | Status::Approved);
    let payments = world.store.payments().into_iter();
    let open = payments.filter(|payment| is_open(payment.status()) && is_meant(payment));
    open.map(|payment| (payment.id, payment.status())).collect()
}

/// Checks that no payment was given up that the acquirer has. It could not be asked in the meantime.
fn check_not_decided(world: &World, bank: usize, id: TransactionId, before: Status) {
    let Some(payment) = world.store.payment(id) else { return };
    let account = world.banks[bank].account(world, id);
    let is_held = account.is_some_and(|account| {
        matches!(account.holding, Holding::Awaited | Holding::Authorised | Holding::Captured)
    });
    let is_given_up = matches!(payment.status(), Status::Declined | Status::Expired);
    if is_held && is_given_up && payment.status() != before {
        let name = world.banks[bank].name();
        world
            .violation(format!("{id} is {} although {name} has it and could not be asked", payment.status()));
    }
}
