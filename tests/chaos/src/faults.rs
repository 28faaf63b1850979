//! Faults: their kinds, times and numbers. They follow from the seed, except for the speed of the machine.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::sleep;

use crate::dice::Dice;
use crate::link::{Line, Link};
use crate::node::Node;
use crate::set::Set;
use crate::upgrade;
use crate::world::World;

/// Minimum duration of a round, and minimum number of each fault in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quota {
    pub(crate) seconds: u64,
    pub(crate) kills: u64,
    pub(crate) elections: u64,
    pub(crate) partitions: u64,
}

/// Kills nodes with SIGKILL and starts them again, some of them before they are ready.
pub(crate) async fn kill_nodes(world: &World, kills: u64) -> anyhow::Result<()> {
    let dice = Dice::new(world.seed, "kills");
    let made = || world.nodes.iter().map(|node| node.kills.get()).sum::<u64>();
    while made() < kills {
        sleep(dice.millis(200, if world.set.is_some() { 4_000 } else { 1_600 })).await;
        let _turn = world.restarts.lock().await;
        let node = &world.nodes[dice.index(world.nodes.len())];
        if node.is_suspended() {
            continue;
        }
        node.kill();
        upgrade::choose_version(world, node, &dice);
        if dice.percent(50) {
            sleep(dice.millis(0, 1_500)).await;
        }
        if dice.percent(15) {
            node.start()?;
            sleep(dice.millis(5, 300)).await;
            node.kill();
        }
        start(world, node).await?;
    }
    Ok(())
}

/// Starts a node and waits until it is ready. This may take any time while the store is unreachable.
async fn start(world: &World, node: &Node) -> anyhow::Result<()> {
    loop {
        match node.start_and_measure().await {
            Ok(()) => return Ok(()),
            // Without a primary the node reports this and exits, and its operator starts it again.
            Err(_) if world.set.is_some() && node.ended_by_itself().is_some() => {
                world.counts.starts_in_vain.set(world.counts.starts_in_vain.get() + 1);
                sleep(Duration::from_millis(500)).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Kills, stops or steps down the primary until there have been this many elections.
pub(crate) async fn trouble_the_set(world: &World, set: &Set, elections: u64) -> anyhow::Result<()> {
    let dice = Dice::new(world.seed, "elections");
    let first = set.term().await.unwrap_or(0);
    let add = |count: &Cell<u64>| count.set(count.get() + 1);
    while world.counts.elections.get() < elections {
        sleep(dice.millis(500, 3_000)).await;
        let primary = set.wait_primary().await?;
        match dice.between(0, 10) {
            0..=3 => {
                add(&world.counts.step_downs);
                set.step_down(primary).await;
            }
            4..=7 => {
                add(&world.counts.member_kills);
                set.signal(primary, "KILL");
                sleep(dice.millis(0, 4_000)).await;
                set.start(primary).await?;
            }
            _ => {
                add(&world.counts.member_stops);
                set.signal(primary, "STOP");
                sleep(dice.millis(1_000, 6_000)).await;
                set.signal(primary, "CONT");
            }
        }
        set.wait_primary().await?;
        if let Some(term) = set.term().await {
            world.counts.elections.set(u64::try_from(term - first).unwrap_or(0));
        }
    }
    Ok(())
}

/// Breaks links this many times.
pub(crate) async fn break_lines(world: &World, partitions: u64, number: u64) -> anyhow::Result<()> {
    let dice = Dice::new(world.seed, &format!("lines {number}"));
    while world.counts.partitions.get() < partitions {
        sleep(dice.millis(200, 1_500)).await;
        if world.counts.partitions.get() >= partitions {
            break;
        }
        let (links, loses) = choose(world, &dice).await;
        disturb(world, &dice, &links, loses).await;
    }
    Ok(())
}

/// Chooses some links that belong together. Also returns true if the data that they hold back is lost when they heal.
///
/// A bank may receive a request some seconds after it answered that it does not know the charge.
async fn choose(world: &World, dice: &Dice) -> (Vec<Rc<Link>>, bool) {
    let node = &world.nodes[dice.index(world.nodes.len())];
    let primary = match &world.set {
        Some(set) => set.primary().await,
        None => None,
    };
    if let Some(set) = &world.set
        && dice.percent(25)
    {
        // The primary or another member can't reach the others, but may still be reachable from outside.
        let place = primary.filter(|_| dice.percent(70)).unwrap_or_else(|| dice.index(3));
        let is_outward = dice.percent(60) || dice.percent(50);
        return (set.bridge.around(place, is_outward), dice.percent(50));
    }
    match dice.between(0, 10) {
        0..=2 if !node.store.is_empty() => (node.store.clone(), dice.percent(50)),
        3..=4 if !node.store.is_empty() => {
            let place = primary.unwrap_or_else(|| dice.index(node.store.len()));
            (vec![Rc::clone(&node.store[place])], dice.percent(50))
        }
        5 if !node.store.is_empty() => {
            let place = primary.unwrap_or(0);
            (world.nodes.iter().map(|node| Rc::clone(&node.store[place])).collect(), dice.percent(50))
        }
        0..=6 => (vec![Rc::clone(&node.bank)], dice.percent(50)),
        7 => (world.nodes.iter().map(|node| Rc::clone(&node.bank)).collect(), dice.percent(50)),
        8 => (vec![Rc::clone(&world.hooks[dice.index(world.hooks.len())])], true),
        _ => (vec![Rc::clone(&node.front)], true),
    }
}

async fn disturb(world: &World, dice: &Dice, links: &[Rc<Link>], loses: bool) {
    let add = |count: &Cell<u64>| count.set(count.get() + 1);
    let all = |line: Line| links.iter().for_each(|link| link.set(line));
    let well = Line::default();
    let full = Line { holds_requests: true, holds_answers: true, ..well };
    let lasts = dice.millis(800, if links.iter().any(|link| link.is_fed()) { 7_000 } else { 4_000 });
    match dice.between(0, 10) {
        0..=1 => {
            add(&world.counts.partitions);
            links.iter().for_each(|link| link.refuse());
            sleep(lasts).await;
        }
        2..=3 => {
            add(&world.counts.partitions);
            all(full);
            sleep(lasts).await;
        }
        4 => {
            add(&world.counts.partitions);
            all(Line { holds_requests: true, ..well });
            sleep(lasts).await;
        }
        5 => {
            add(&world.counts.partitions);
            all(Line { holds_answers: true, ..well });
            sleep(lasts).await;
        }
        6 => {
            add(&world.counts.partitions);
            for _ in 0..dice.between(2, 6) {
                all(full);
                sleep(dice.millis(100, 600)).await;
                for link in links {
                    link.heal(loses).await;
                }
                sleep(dice.millis(50, 400)).await;
            }
        }
        7..=8 => {
            add(&world.counts.cuts);
            for _ in 0..dice.between(1, 5) {
                all(Line { cuts_answers: true, ..well });
                sleep(dice.millis(50, 500)).await;
                all(well);
                sleep(dice.millis(50, 300)).await;
            }
        }
        _ => {
            add(&world.counts.latencies);
            all(Line { latency_ms: dice.between(20, 400), ..well });
            sleep(lasts).await;
        }
    }
    for link in links {
        link.heal(loses).await;
    }
}
