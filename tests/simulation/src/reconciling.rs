//! Nights: what banks list of the day before is compared with the payments, by each node at five in the morning, and by
//! operators in between.

mod judge;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{NaiveDate, NaiveTime};
use quita_domain::exception::Exception;
use quita_domain::identity::{AcquirerName, OperationId};
use quita_domain::reconciliation::StoredLine;
use quita_domain::time::{DAY_MS, Timestamp};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::chance::Fault;
use crate::node::Node;
use crate::world::World;

pub(crate) use self::judge::check;

/// Prefix of the ids of exceptions that comparisons make.
pub(crate) const EXCEPTION: &str = "reconciliation:";

/// Time at which the day before has its turn, in Brasília.
pub(crate) const NIGHT: NaiveTime = NaiveTime::from_hms_opt(5, 0, 0).unwrap();

/// Interval at which a process looks whether that is so.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Time that goes by at most until every process has looked again. With forty days until money goes back, and what follows
/// that, it is less than the ninety for which lists are made up for.
const UNSEEN_MS: u64 = 7 * DAY_MS;

/// Longest time of one look.
const PASS_TIME_OUT: Duration = Duration::from_secs(300);

/// Comparisons of a thousand that are made once more.
const AGAIN: u64 = 300;

/// Lines and exceptions, as they are stored.
struct Content {
    lines: Vec<StoredLine>,
    exceptions: Vec<Exception>,
}

/// Has today's lists compared now and then, as long as it is let.
pub(crate) async fn meddle(world: Arc<World>) {
    loop {
        world.pass(500, 5_000).await;
        if !world.strikes(Fault::OperatorCompares) {
            continue;
        }
        let banks: Vec<_> = banks(&world).collect();
        let Some(node) = world.any_node().filter(|_| !banks.is_empty()) else { continue };
        let bank = world.chance.pick(&banks);
        let today = world.clock.now().sao_paulo_date();
        compare(&world, node, bank, today).await;
    }
}

fn banks(world: &World) -> impl Iterator<Item = AcquirerName> {
    let listing = world.banks.iter().filter(|bank| bank.received(world).is_some());
    listing.map(|bank| bank.name().clone())
}

/// Says whether all of it is settled. A comparison ends with its caller, and may panic as an adapter does.
async fn compare(world: &Arc<World>, node: Node, bank: AcquirerName, day: NaiveDate) -> bool {
    world.store.see_nodes(world.clock.now());
    world.note(|| format!("node {} compares {bank} on {day}", node.place));
    let mut run = JoinSet::new();
    let own = bank.clone();
    run.spawn_local(async move { node.compare(&own, day).await });
    let compared = run.join_next().await;
    world.note(|| format!("{bank} on {day}: {compared:?}"));
    matches!(compared, Some(Ok(Ok(Ok(true)))))
}

/// Every process looks often whether a night has come, at a time of its own.
pub(crate) async fn live_nights(world: Arc<World>) {
    world.note_look_for_nights(world.clock.now());
    loop {
        sleep(LOOK_EVERY).await;
        let begun = world.clock.now();
        for place in 0..world.node_count() {
            if let Some(node) = world.node(place) {
                pass(&world, node).await;
            }
        }
        world.note_look_for_nights(begun);
    }
}

/// Moment up to which time may go by before every process looks again: they look every few seconds, and a list that is waited for
/// comes or fails within minutes.
pub(crate) fn looked_until(world: &World) -> Timestamp {
    let looked_at = world.looked_for_nights_at().filter(|_| banks(world).next().is_some());
    looked_at.map_or(Timestamp::from_millis(i64::MAX), |at| at.plus_ms(UNSEEN_MS))
}

/// Compares what is due of a node's nights. Says whether nothing is left to do; a pass may panic as an adapter does.
async fn pass(world: &Arc<World>, node: Node) -> bool {
    world.store.see_nodes(world.clock.now());
    let mut is_done = true;
    // A bank that is away takes the others nothing of their nights.
    for bank in banks(world).collect::<Vec<_>>() {
        let mut run = JoinSet::new();
        let node = node.clone();
        let name = bank.clone();
        // A call of the store that never comes back is given up by its adapter outside.
        run.spawn_local(async move { timeout(PASS_TIME_OUT, node.pass_night(&name)).await });
        is_done &= matches!(run.join_next().await, Some(Ok(Ok(Ok(true)))));
    }
    is_done
}

/// The first moment at which the nights of all days have come on which money was moved until now.
pub(crate) fn last_turn(world: &World) -> Option<Timestamp> {
    let received = world.banks.iter().filter_map(|bank| bank.received(world)).flatten();
    let days = received.map(|one| judge::day_of(&one.end_to_end_id)).chain(world.moved_on());
    let last = days.max().filter(|_| banks(world).next().is_some())?;
    turn_of(last)
}

/// Moment at which a day has its turn.
pub(crate) fn turn_of(day: NaiveDate) -> Option<Timestamp> {
    Timestamp::from_sao_paulo(day.succ_opt()?.and_time(NIGHT))
}

/// Does what is due of all nights. Says whether all of it is settled.
pub(crate) async fn end_nights(world: &Arc<World>) -> bool {
    let Some(node) = world.any_node() else { return false };
    if !pass(world, node).await {
        // What could not be had, or was not answered, is tried again after a quarter of an hour.
        let again_at = world.clock.now().plus_ms(16 * 60_000);
        world.store.skip(world.clock.put_forward_to(again_at));
        return false;
    }
    !world.chance.per_mille(AGAIN) || compare_again(world).await
}

/// Compares every list of every day on which something came in once more, which changes nothing.
async fn compare_again(world: &Arc<World>) -> bool {
    // A refund that its bank still works on may end between the two, and is a line of the second list only. So may one that
    // begins by what the first one asked about.
    let known = operations(world);
    if known.values().any(|is_processing| *is_processing) {
        return true;
    }
    if !compare_days(world).await {
        return false;
    }
    let before = content(world);
    let is_settled = compare_days(world).await;
    let after = content(world);
    if operations(world) != known {
        return is_settled;
    }
    if is_settled && !is_unchanged(&before, &after) {
        let changed: Vec<_> = after.lines.iter().filter(|one| !before.lines.contains(one)).collect();
        let was = |one: &&StoredLine| changed.iter().any(|now| now.line.id == one.line.id);
        let was: Vec<_> = before.lines.iter().filter(was).collect();
        let told: Vec<_> = after.exceptions.iter().filter(|one| !before.exceptions.contains(one)).collect();
        world.note(|| format!("was: {was:?}; changed: {changed:?}; told: {told:?}"));
        world.violation("lists that were compared twice changed something".to_owned());
    }
    is_settled
}

/// Every operation, and whether it is under way.
fn operations(world: &World) -> BTreeMap<OperationId, bool> {
    let payments = world.store.payments();
    let all = payments.iter().flat_map(|payment| payment.operations.iter());
    all.map(|operation| (operation.id, operation.is_processing())).collect()
}

async fn compare_days(world: &Arc<World>) -> bool {
    for bank in &world.banks {
        let received = bank.received(world).unwrap_or_default();
        let days: BTreeSet<_> = received.iter().map(|one| judge::day_of(&one.end_to_end_id)).collect();
        for day in days {
            let Some(node) = world.any_node() else { return false };
            if !compare(world, node, bank.name().clone(), day).await {
                return false;
            }
        }
    }
    true
}

/// Returns true if nothing is new but what is missed since then, because its time has come.
fn is_unchanged(before: &Content, after: &Content) -> bool {
    let was_there = |one: &&StoredLine| before.lines.iter().any(|was| was.line.id == one.line.id);
    let (known, new): (Vec<_>, Vec<_>) = after.lines.iter().partition(was_there);
    known.into_iter().eq(&before.lines)
        && new.iter().all(|one| one.line.is_expected())
        && after.exceptions.starts_with(&before.exceptions)
        && after.exceptions.len() == before.exceptions.len() + new.len()
}

/// All that a comparison might change by itself.
fn content(world: &World) -> Content {
    let records = world.store.lock();
    // What is reported of a payment that is still asked about is another matter.
    let told = records.exceptions.iter().filter(|one| one.id.starts_with("reconciliation:"));
    Content { lines: records.lines.values().cloned().collect(), exceptions: told.cloned().collect() }
}
