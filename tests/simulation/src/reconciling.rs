//! Operators' nights: what banks list is compared with the payments, in storms now and then, and whenever all is quiet.

mod judge;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::NaiveDate;
use quita_domain::exception::Exception;
use quita_domain::identity::AcquirerName;
use quita_domain::reconciliation::StoredLine;
use tokio::task::JoinSet;

use crate::chance::Fault;
use crate::node::Node;
use crate::world::World;

pub(crate) use self::judge::check;

/// How the ids of exceptions begin that comparisons make.
pub(crate) const EXCEPTION: &str = "reconciliation:";

/// Comparisons of a thousand that are made once more.
const AGAIN: u64 = 300;

/// Lines and exceptions, as they are stored.
type Content = (Vec<StoredLine>, Vec<Exception>);

/// Has today's lists compared now and then, as long as it is let.
pub(crate) async fn meddle(world: Arc<World>) {
    loop {
        world.pass(500, 5_000).await;
        if !world.strikes(Fault::OperatorCompares) {
            continue;
        }
        let banks: Vec<_> = banks(&world).collect();
        let Some(node) = world.any_node().filter(|_| !banks.is_empty()) else { continue };
        let (bank, today) = (world.chance.pick(&banks), world.clock.now().sao_paulo_date());
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

/// Compares every list of every day on which something came in. Says whether all of it is settled.
pub(crate) async fn compare_all(world: &Arc<World>) -> bool {
    if !compare_days(world).await {
        return false;
    }
    if world.chance.per_mille(AGAIN) {
        let before = content(world);
        let is_settled = compare_days(world).await;
        let after = content(world);
        if is_settled && !is_unchanged(&before, &after) {
            let changed: Vec<_> = after.0.iter().filter(|one| !before.0.contains(one)).collect();
            let told: Vec<_> = after.1.iter().filter(|one| !before.1.contains(one)).collect();
            world.note(|| format!("changed: {changed:?}; told: {told:?}"));
            world.violation("lists that were compared twice changed something".to_owned());
        }
        return is_settled;
    }
    true
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

/// Whether nothing came to be but what is missed since, because its time has come.
fn is_unchanged((lines, exceptions): &Content, (after, exceptions_after): &Content) -> bool {
    let (known, new): (Vec<_>, Vec<_>) =
        after.iter().partition(|one| lines.iter().any(|was| was.line.id == one.line.id));
    known.into_iter().eq(lines)
        && new.iter().all(|one| one.line.is_expected())
        && exceptions_after.starts_with(exceptions)
        && exceptions_after.len() == exceptions.len() + new.len()
}

/// All that a comparison might change by itself.
fn content(world: &World) -> Content {
    let records = world.store.lock();
    // What is reported of a payment that is still asked about is another matter.
    let told = records.exceptions.iter().filter(|one| one.id.starts_with("reconciliation:"));
    (records.lines.values().cloned().collect(), told.cloned().collect())
}
