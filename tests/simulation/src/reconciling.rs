//! Nights, in which the banks' lists of the day before are compared with the payments. Each node does this at five in
//! the morning, and operators compare lists in between.

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

/// Time of day in Brasília at which the day before is due.
pub(crate) const NIGHT: NaiveTime = NaiveTime::from_hms_opt(5, 0, 0).unwrap();

/// Interval at which a process checks whether a night is due.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Longest time that may pass until every process has looked again. Money goes back within forty days. With what
/// follows that, the total stays below the ninety days for which lists are made up for.
const UNSEEN_MS: u64 = 7 * DAY_MS;

/// Longest time of one look at the nights.
const PASS_TIME_OUT: Duration = Duration::from_secs(300);

/// Comparisons in a thousand that are repeated.
const AGAIN: u64 = 300;

/// Stored lines and exceptions.
struct Content {
    lines: Vec<StoredLine>,
    exceptions: Vec<Exception>,
}

/// Has today's lists compared now and then, until it is stopped.
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

/// Compares one list. Returns true if all of it is settled. A comparison ends with its caller, and may panic as an
/// adapter does.
async fn compare(world: &Arc<World>, node: Node, bank: AcquirerName, day: NaiveDate) -> bool {
    world.store.see_nodes(world.clock.now());
    world.note(|| format!("node {} compares {bank} on {day}", node.place));
    let mut run = JoinSet::new();
    let own = bank.clone();
    run.spawn_local(async move { node.compare(&own, day).await });
    // The error itself names a task by a number that counts the tasks of all worlds.
    let compared = run.join_next().await.map(|ended| ended.map_err(|_| "panicked"));
    world.note(|| format!("{bank} on {day}: {compared:?}"));
    matches!(compared, Some(Ok(Ok(Ok(true)))))
}

/// Makes every process look often for a due night, each at a time of its own.
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

/// Returns the moment up to which time may pass before every process looks again. They look every 15 s, and an
/// awaited list arrives or fails within minutes.
pub(crate) fn looked_until(world: &World) -> Timestamp {
    let looked_at = world.looked_for_nights_at().filter(|_| banks(world).next().is_some());
    looked_at.map_or(Timestamp::from_millis(i64::MAX), |at| at.plus_ms(UNSEEN_MS))
}

/// Compares what is due of a node's nights. Returns true if nothing is left to do; a pass may panic as an adapter does.
async fn pass(world: &Arc<World>, node: Node) -> bool {
    world.store.see_nodes(world.clock.now());
    let mut is_done = true;
    // A bank that is away does not delay the nights of the others.
    for bank in banks(world).collect::<Vec<_>>() {
        let mut run = JoinSet::new();
        let node = node.clone();
        let name = bank.clone();
        // In production, the adapter gives up a store call that never returns.
        run.spawn_local(async move { timeout(PASS_TIME_OUT, node.pass_night(&name)).await });
        is_done &= matches!(run.join_next().await, Some(Ok(Ok(Ok(true)))));
    }
    is_done
}

/// Returns the first moment by which the nights of all days on which money moved so far have come.
pub(crate) fn last_turn(world: &World) -> Option<Timestamp> {
    let received = world.banks.iter().filter_map(|bank| bank.received(world)).flatten();
    let days = received.map(|one| judge::day_of(&one.end_to_end_id)).chain(world.moved_on());
    let last = days.max().filter(|_| banks(world).next().is_some())?;
    turn_of(last)
}

/// Returns the moment at which a day is due.
pub(crate) fn turn_of(day: NaiveDate) -> Option<Timestamp> {
    Timestamp::from_sao_paulo(day.succ_opt()?.and_time(NIGHT))
}

/// Does what is due of all nights. Returns true if all of it is settled.
pub(crate) async fn end_nights(world: &Arc<World>) -> bool {
    let Some(node) = world.any_node() else { return false };
    if !pass(world, node).await {
        // A list or answer that was missing is tried again after a quarter of an hour.
        let again_at = world.clock.now().plus_ms(16 * 60_000);
        world.store.skip(world.clock.put_forward_to(again_at));
        return false;
    }
    !world.chance.per_mille(AGAIN) || compare_again(world).await
}

/// Compares every list of every day with incoming money once more. This must change nothing.
async fn compare_again(world: &Arc<World>) -> bool {
    // A refund in progress at its bank may end between the two comparisons, and is then a line of the second list only.
    // The same goes for one that begins because of an inquiry of the first comparison.
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

/// Returns every operation, with true if it is under way.
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

/// Returns true if the only new lines are payments that are due to be missed since then.
fn is_unchanged(before: &Content, after: &Content) -> bool {
    let was_there = |one: &&StoredLine| before.lines.iter().any(|was| was.line.id == one.line.id);
    let (known, new): (Vec<_>, Vec<_>) = after.lines.iter().partition(was_there);
    known.into_iter().eq(&before.lines)
        && new.iter().all(|one| one.line.is_expected())
        && after.exceptions.starts_with(&before.exceptions)
        && after.exceptions.len() == before.exceptions.len() + new.len()
}

/// Returns everything that a comparison alone might change.
fn content(world: &World) -> Content {
    let records = world.store.lock();
    // Reports about a payment that is still being inquired about are left out.
    let told = records.exceptions.iter().filter(|one| one.id.starts_with("reconciliation:"));
    Content { lines: records.lines.values().cloned().collect(), exceptions: told.cloned().collect() }
}
