//! The course of a campaign: rounds with faults, quiet, and a verdict.

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

/// Clock offsets in seconds, tried in turn until no work is left. First come the leases of calls and deliveries, then
/// the steps of the schedules. The last offset reaches the first inquiry for money that came after expiry without a
/// notice.
const AHEAD_S: [u64; 7] = [0, LEASES_S, 8 * 60, 45 * 60, 4 * 3_600, 12 * 3_600, 32 * 3_600];
/// Time in seconds that exceeds the leases of a call and of a delivery.
const LEASES_S: u64 = 60;
/// Maximum time for clients to get the answers to their requests, by clock offset in seconds.
const TOLD_WITHIN: [(u64, Duration); 5] = [
    (0, Duration::from_secs(8)),
    (LEASES_S, NOT_FOUND_WITHIN),
    (8 * 60, NOT_FOUND_WITHIN),
    (25 * 60, NOT_FOUND_WITHIN),
    (90 * 60, NOT_FOUND_WITHIN),
];

/// Maximum time until no work is left, at one of these offsets.
const QUIET_WITHIN: Duration = NOT_FOUND_WITHIN;

/// Time that exceeds any answer of the receiver. After it, every remaining delivery waits for its next attempt.
const SLOWEST_RECEIVER: Duration = Duration::from_secs(25);

/// Time until an acquirer's "not found" about a charge or an operation is accepted. Before, a process inquires for 50 s
/// by its own clock, and each inquiry may come from another node.
const NOT_FOUND_WITHIN: Duration = Duration::from_secs(220);

/// Parameters of all rounds.
pub(crate) struct Campaign {
    pub(crate) seed: u64,
    pub(crate) rounds: u64,
    pub(crate) clients: u64,
    pub(crate) quota: Quota,
    pub(crate) on_mongodb: bool,
    pub(crate) plant: Option<Plant>,
    /// Number of times that the upgrade of each round's store is killed; `None` without an upgrade.
    pub(crate) upgrade_kills: Option<u64>,
}

impl Campaign {
    /// Runs all rounds. Returns false if anything was violated. A signal ends it, and everything that it started.
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

/// Runs all faults concurrently, until each has happened as often as required.
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

/// Waits until every client has its answers; skips time according to the schedule for unknown outcomes.
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

/// Waits until no work is left and the ledgers agree; skips time where the schedules have long waits.
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
            // A bank's "not found" is accepted only from a process that has inquired for long.
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

/// Waits until no work is left, except webhooks whose next attempt is far away.
async fn wait_until_quiet(world: &World, deadline: Instant) -> anyhow::Result<()> {
    let mut seen = None;
    let mut since = Instant::now();
    while Instant::now() < deadline && !world.is_violated() {
        let now = (verdict::backlog(world).await?, world.receiver.requests.get());
        if seen != Some(now) {
            (seen, since) = (Some(now), Instant::now());
        }
        // The metrics are updated every two seconds, so they must be newer than the last change.
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
