//! The course of a campaign: rounds of trouble, quiet, and a verdict.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{Instant, sleep};

use crate::clients;
use crate::faults::{self, Quota};
use crate::node::Plant;
use crate::report::Report;
use crate::set::Set;
use crate::upgrade;
use crate::verdict::{self, Backlog, Verdict};
use crate::world::{Setting, World};

/// Offsets of the clocks, in seconds, tried in turn until nothing waits. The leases of calls and deliveries come first,
/// then the steps of the schedules. The last offset reaches the first look for money that came after the expiry and
/// that no bank told of.
const AHEAD_S: [u64; 7] = [0, LEASES_S, 8 * 60, 45 * 60, 4 * 3_600, 12 * 3_600, 32 * 3_600];
/// Time longer than the leases of a call and of a delivery, in seconds.
const LEASES_S: u64 = 60;
/// Longest waits of clients for the answers to their requests, by the offset of the clocks in seconds.
const TOLD_WITHIN: [(u64, Duration); 5] = [
    (0, Duration::from_secs(8)),
    (LEASES_S, NOT_FOUND_WITHIN),
    (8 * 60, NOT_FOUND_WITHIN),
    (25 * 60, NOT_FOUND_WITHIN),
    (90 * 60, NOT_FOUND_WITHIN),
];

/// Longest time until nothing waits, at one of these offsets.
const QUIET_WITHIN: Duration = NOT_FOUND_WITHIN;

/// Time longer than any answer of the receiver takes. After it, every delivery that is left waits for its next attempt.
const SLOWEST_RECEIVER: Duration = Duration::from_secs(25);

/// Time until an acquirer that does not know a charge or an operation is believed. A process asks for 50 s before, by
/// its own clock, and each question may be another node's.
const NOT_FOUND_WITHIN: Duration = Duration::from_secs(220);

/// Everything that is to be done.
pub(crate) struct Campaign {
    pub(crate) seed: u64,
    pub(crate) rounds: u64,
    pub(crate) clients: u64,
    pub(crate) quota: Quota,
    pub(crate) on_mongodb: bool,
    pub(crate) plant: Option<Plant>,
    /// Kills of the upgrade of each round's store; `None` if there is none.
    pub(crate) upgrade_kills: Option<u64>,
}

impl Campaign {
    /// Runs all rounds; `false` if anything was violated. A signal ends it, with everything that it started.
    pub(crate) async fn run(self) -> anyhow::Result<bool> {
        let (mut terminate, mut interrupt) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        tokio::select! {
            outcome = self.all_rounds() => outcome,
            _ = terminate.recv() => anyhow::bail!("told to end"),
            _ = interrupt.recv() => anyhow::bail!("told to end"),
        }
    }

    async fn all_rounds(&self) -> anyhow::Result<bool> {
        let directory = tempfile::Builder::new().prefix("quita-chaos.").tempdir()?;
        let set = if self.on_mongodb { Some(Set::of_surroundings().await?) } else { None };
        let mut total = Report::default();
        for round in 1..=self.rounds {
            let report = self.round(round, directory.path(), set.clone()).await?;
            println!("round {round} of {}: {report}", self.rounds);
            total.add(report);
            if total.violations > 0 {
                break;
            }
        }
        println!("\nquita-chaos, seed {}, in all:\n{total:#}", self.seed);
        if total.violations > 0 {
            // The logs of the nodes are evidence.
            println!("evidence: {}", directory.keep().display());
        }
        Ok(total.violations == 0)
    }

    async fn round(&self, round: u64, directory: &Path, set: Option<Rc<Set>>) -> anyhow::Result<Report> {
        let begun = Instant::now();
        let setting = Setting {
            seed: self.seed.wrapping_mul(1_000) + round,
            round,
            directory,
            set,
            plant: self.plant,
            upgrade_kills: self.upgrade_kills,
        };
        let world = World::start(setting).await?;
        let stop = Rc::new(Cell::new(false));
        let clients: Vec<_> = (0..self.clients)
            .map(|number| spawn_local(clients::work(Rc::clone(&world), number, Rc::clone(&stop))))
            .collect();
        trouble(&world, self.quota).await?;
        world.heal().await?;
        stop.set(true);
        wait_for_clients(&world, clients).await?;
        let (verdict, ahead_s) = settle(&world).await?;
        verdict.print_violations();
        let report = Report::of(&world, &verdict, ahead_s, begun.elapsed());
        for node in &world.nodes {
            node.end();
        }
        Ok(report)
    }
}

/// All faults side by side, until each has happened as often as it has to.
async fn trouble(world: &Rc<World>, quota: Quota) -> anyhow::Result<()> {
    let set_trouble = async {
        match &world.set {
            Some(set) => faults::trouble_the_set(world, set, quota.elections).await,
            None => Ok(()),
        }
    };
    let lasts = async {
        sleep(Duration::from_secs(quota.seconds)).await;
        anyhow::Ok(())
    };
    tokio::try_join!(
        faults::kill_nodes(world, quota.kills),
        set_trouble,
        faults::break_lines(world, quota.partitions, 1),
        faults::break_lines(world, quota.partitions, 2),
        upgrade::upgrade(world, quota.seconds),
        lasts,
    )?;
    Ok(())
}

/// Waits until every client was told what it asked for; skips time as the schedule of an unknown outcome does.
async fn wait_for_clients(world: &Rc<World>, clients: Vec<JoinHandle<()>>) -> anyhow::Result<()> {
    for (ahead_s, within) in TOLD_WITHIN {
        if ahead_s > 0 {
            world.restart_ahead(ahead_s * 1_000).await?;
        }
        let deadline = Instant::now() + within;
        while clients.iter().any(|client| !client.is_finished())
            && Instant::now() < deadline
            && !world.is_violated()
        {
            sleep(Duration::from_millis(100)).await;
        }
        if clients.iter().all(JoinHandle::is_finished) || world.is_violated() {
            return Ok(());
        }
    }
    let waiting = clients.iter().filter(|client| !client.is_finished()).count();
    let text = format!(
        "{waiting} clients were not told what they asked for; waiting are {:?}",
        world.told.waiting()
    );
    world.told.violation(text);
    Ok(())
}

/// Waits until nothing waits and the ledgers agree; skips time where the schedules say that it takes long.
async fn settle(world: &Rc<World>) -> anyhow::Result<(Verdict, u64)> {
    let mut found = None;
    for ahead_s in AHEAD_S {
        if ahead_s * 1_000 < world.bank.ahead_ms.get() {
            continue;
        }
        if ahead_s * 1_000 > world.bank.ahead_ms.get() {
            world.restart_ahead(ahead_s * 1_000).await?;
        }
        let deadline = Instant::now() + QUIET_WITHIN;
        let verdict = loop {
            wait_until_quiet(world, deadline).await?;
            let verdict = verdict::compare(world).await?;
            // What a bank does not know is believed only of a process that has been asking for long.
            let is_asked_for = verdict.is_open && ahead_s > 0 && Instant::now() < deadline;
            if verdict.is_over() || !is_asked_for {
                break verdict;
            }
            sleep(Duration::from_secs(5)).await;
        };
        let is_over = verdict.is_over();
        found = Some((verdict, ahead_s));
        if is_over {
            break;
        }
    }
    found.ok_or_else(|| anyhow::anyhow!("nothing was compared"))
}

/// Waits until nothing waits, or nothing but webhooks whose next attempt is far away.
async fn wait_until_quiet(world: &World, deadline: Instant) -> anyhow::Result<()> {
    let mut seen = None;
    let mut since = Instant::now();
    while Instant::now() < deadline && !world.is_violated() {
        let now = (verdict::backlog(world).await?, world.receiver.requests.get());
        if seen != Some(now) {
            (seen, since) = (Some(now), Instant::now());
        }
        // The metrics are counted every two seconds: what they say must be newer than the last change.
        let enough = match now.0 {
            Backlog::Empty => Duration::from_millis(2_500),
            Backlog::Webhooks => SLOWEST_RECEIVER,
            Backlog::Others => QUIET_WITHIN,
        };
        if since.elapsed() > enough {
            break;
        }
        sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}
