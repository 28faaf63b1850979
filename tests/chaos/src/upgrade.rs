//! Two versions on one store, and its upgrade to the form of the newer version, during client requests and faults.
//!
//! At first, every start of a node uses either version, back and forth. Then all nodes are moved to the newer one. On
//! MongoDB, one of the older nodes is suspended instead, so that it wakes up after the upgrade. The upgrade is killed,
//! and continues where it stopped. As in every round, the clients' answers are compared with the store.
//!
//! The newer version is the same program as the older one, but told of a made-up form.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::dice::Dice;
use crate::node::{Node, tied};
use crate::world::{Upgrade, World};

/// Payments per second that an upgrade reads before it is killed: few, so that it is killed halfway.
const RATE: &str = "30";
/// Maximum time for which it may be refused because a killed node still counts as alive.
const REFUSED_AT_MOST: Duration = Duration::from_secs(120);
/// Time within which every node knows that an upgrade has ended: a heartbeat, and a partition that delays it.
const KNOWN_WITHIN: Duration = Duration::from_secs(20);
/// Silence after which a suspended node counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(65);
/// Maximum time until a refusal.
const REFUSED_WITHIN: Duration = Duration::from_secs(3);

/// Version of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// Knows only the first form.
    Older,
    /// Knows a made-up form as well.
    Newer,
}

impl Version {
    /// Returns a command of the program in this version, which dies with this process.
    pub(crate) fn of(self, program: &Path) -> Command {
        let mut command = tied(program);
        match self {
            Self::Older => command.env_remove("CHAOS_MADE_UP_FORM"),
            Self::Newer => command.env("CHAOS_MADE_UP_FORM", "known"),
        };
        command
    }
}

/// Chooses a version for the next start of a node; only the newer one once the upgrade has begun.
pub(crate) fn choose_version(world: &World, node: &Node, dice: &Dice) {
    let Some(upgrade) = &world.upgrade else { return };
    let is_newer = upgrade.is_begun.get() || dice.percent(50);
    if node.take_version(if is_newer { Version::Newer } else { Version::Older }) {
        world.counts.changes.set(world.counts.changes.get() + 1);
    }
}

/// Returns true if a payment may be refused because the store lacks the form that it needs, and counts this.
pub(crate) fn may_lack_form(world: &World) -> bool {
    let Some(upgrade) = &world.upgrade else { return false };
    let counted = &world.counts.without_form;
    counted.set(counted.get() + 1);
    upgrade.ended.get().is_none_or(|ended| ended.elapsed() < KNOWN_WITHIN)
}

/// Upgrades the store after both versions have worked on it for a while.
pub(crate) async fn upgrade(world: &Rc<World>, seconds: u64) -> anyhow::Result<()> {
    let Some(upgrade) = &world.upgrade else { return Ok(()) };
    let dice = Dice::new(world.seed, "upgrade");
    sleep(Duration::from_secs(seconds / 2)).await;
    let asleep = bring_to_the_newer_version(world, upgrade).await?;
    if asleep.is_some() {
        sleep(GONE_AFTER).await;
    }
    while world.counts.upgrade_kills.get() < upgrade.kills {
        let backup = format!("{}.backup", world.counts.upgrade_kills.get());
        let mut child = begin(upgrade, &backup, Some(RATE)).await?;
        sleep(dice.millis(500, 5_000)).await;
        anyhow::ensure!(
            child.try_wait()?.is_none(),
            "the upgrade ended before it could be killed: more payments"
        );
        child.kill()?;
        child.wait()?;
        world.counts.upgrade_kills.set(world.counts.upgrade_kills.get() + 1);
    }
    let mut child = begin(upgrade, "last.backup", None).await?;
    while child.try_wait()?.is_none() {
        sleep(Duration::from_millis(200)).await;
    }
    anyhow::ensure!(child.wait()?.success(), "the upgrade failed");
    upgrade.ended.set(Some(Instant::now()));
    check_the_way_back(upgrade).await?;
    if let Some(node) = asleep {
        let _turn = world.restarts.lock().await;
        node.resume();
        let code = node.exit_code(Duration::from_secs(30)).await?;
        anyhow::ensure!(code == Some(1), "a node that woke up after the upgrade ended with {code:?}");
        node.take_version(Version::Newer);
        node.start_and_measure().await?;
    }
    for node in &world.nodes {
        let ready = node.ops("/health/ready").await;
        let ready =
            ready.map(|answer| String::from_utf8_lossy(&answer.body).into_owned()).unwrap_or_default();
        // A node that is being killed at this moment does not answer.
        anyhow::ensure!(ready.is_empty() || ready.contains("\"storeForm\":2"), "{}: {ready}", node.name());
    }
    Ok(())
}

/// Moves all nodes to the newer version except one, which is suspended; a single node is not suspended.
async fn bring_to_the_newer_version(
    world: &Rc<World>,
    upgrade: &Upgrade,
) -> anyhow::Result<Option<Rc<Node>>> {
    let _turn = world.restarts.lock().await;
    upgrade.is_begun.set(true);
    let mut asleep = None;
    for node in &world.nodes {
        let is_older = node.runs(Version::Older);
        if is_older && asleep.is_none() && world.set.is_some() {
            node.suspend();
            asleep = Some(Rc::clone(node));
            continue;
        }
        if is_older {
            node.stop().await?;
            node.take_version(Version::Newer);
            world.counts.changes.set(world.counts.changes.get() + 1);
            node.start_and_measure().await?;
        }
    }
    Ok(asleep)
}

/// Starts the upgrade, and repeats this while it is refused because older nodes count as alive.
async fn begin(upgrade: &Upgrade, backup: &str, rate: Option<&str>) -> anyhow::Result<Child> {
    let deadline = Instant::now() + REFUSED_AT_MOST;
    loop {
        if let Some(child) = try_to_begin(upgrade, backup, rate).await? {
            return Ok(child);
        }
        anyhow::ensure!(Instant::now() < deadline, "the upgrade is refused for too long");
        sleep(Duration::from_secs(2)).await;
    }
}

/// Starts the upgrade. Returns `None` if it was refused.
async fn try_to_begin(upgrade: &Upgrade, backup: &str, rate: Option<&str>) -> anyhow::Result<Option<Child>> {
    let mut command = Version::Newer.of(&upgrade.program);
    command.args(["store", "upgrade", "--store", &upgrade.store]);
    if let Some(rate) = rate {
        command.args(["--rate", rate]);
    }
    if upgrade.store.starts_with("sqlite:") {
        command.arg("--backup").arg(upgrade.directory.join(backup));
    } else {
        command.arg("--i-have-a-backup");
    }
    command.current_dir(&upgrade.directory).stdin(Stdio::null()).stdout(Stdio::inherit());
    let log = upgrade.directory.join("upgrade.log");
    command.stderr(std::fs::File::create(&log)?);
    let mut child = command.spawn()?;
    let deadline = Instant::now() + REFUSED_WITHIN;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            if status.success() {
                break;
            }
            let why = std::fs::read_to_string(&log)?;
            // Without a primary it reports this and exits, and its operator starts it again.
            let is_refused = why.contains("nodes of an older version are alive")
                || why.contains("the store is unavailable");
            anyhow::ensure!(is_refused, "{status}: {why}");
            return Ok(None);
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(Some(child))
}

/// Checks that the older version no longer works on the store after the upgrade, and reports which version does.
async fn check_the_way_back(upgrade: &Upgrade) -> anyhow::Result<()> {
    let deadline = Instant::now() + REFUSED_AT_MOST;
    loop {
        let mut command = Version::Older.of(&upgrade.program);
        command.args(["keys", "list", "--store", &upgrade.store]).current_dir(&upgrade.directory);
        // Run on a thread of its own, because its connections pass through this one.
        let output = spawn_blocking(move || command.output()).await??;
        let why = String::from_utf8_lossy(&output.stderr);
        if why.contains("the store is unavailable") && Instant::now() < deadline {
            sleep(Duration::from_secs(2)).await;
            continue;
        }
        let is_told = why.contains("its stored form has number 2") && why.contains("install Quita");
        anyhow::ensure!(output.status.code() == Some(1) && is_told, "{}: {why}", output.status);
        return Ok(());
    }
}
