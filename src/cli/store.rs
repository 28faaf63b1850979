//! `quita store upgrade`, which converts a store to this program's newest form while nodes work on it, and
//! `quita store status`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use quita_domain::control::Node;
use quita_domain::time::Timestamp;
use quita_embedded::EmbeddedStore;
use quita_machine::SystemClock;
use quita_ports::{Clock, StoreError, StoreForm, UpgradeStore, WholeStore};
use tokio::time::{Instant, sleep, sleep_until};

use super::command_store::note_store;
use super::failure::Failure;
use super::flags::StoreFlags;
use super::output;
use crate::store;
use quita_config::store_url::StoreUrl;

/// Silence after which a node counts as gone.
const GONE_AFTER_MS: u64 = 60_000;
/// Time within which every node must report that it writes the new form. Nodes check every five seconds, and count as
/// gone after a minute.
const AGREED_WITHIN: Duration = Duration::from_secs(75);
/// Pause between two checks of the nodes.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Outage of the store after which the upgrade stops, to be continued later.
const OUTAGE_AT_MOST: Duration = Duration::from_secs(60);
/// Pause before the store is called again.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Number of payments that are rewritten at once: few enough that other writers do not wait long.
const STEP: usize = 200;
/// Interval between progress notes.
const NOTE_EVERY: Duration = Duration::from_secs(2);

#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// Show the store's form and the number of archived payments
    Status(StatusCommand),
    /// Upgrade the store to the newest form that this version supports, while nodes run
    Upgrade(UpgradeCommand),
}

/// Store to look at.
#[derive(Debug, Args)]
pub(super) struct StatusCommand {
    #[command(flatten)]
    store: StoreFlags,
}

/// Store to upgrade, and the way back.
#[derive(Debug, Args)]
#[command(
    after_help = "Start this version on every node first: nodes of both versions can share one store. Before the \
                  upgrade, the previous version can be started again at any time; afterwards, only from a backup. To \
                  continue an interrupted upgrade, run the same command again."
)]
pub(super) struct UpgradeCommand {
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Back up the embedded store to this file first; it must not exist yet
    #[arg(long, value_name = "PATH", conflicts_with = "i_have_a_backup")]
    backup: Option<PathBuf>,
    /// Confirm that a backup was made and can be restored
    #[arg(long)]
    i_have_a_backup: bool,
    /// Maximum number of payments read per second [default: no limit]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    rate: Option<u64>,
    #[command(flatten)]
    store: StoreFlags,
}

pub(super) async fn run(command: StoreCommand) -> Result<(), Failure> {
    match command {
        StoreCommand::Status(command) => show_status(command).await,
        StoreCommand::Upgrade(command) => upgrade(command).await,
    }
}

async fn show_status(command: StatusCommand) -> Result<(), Failure> {
    let url = StoreUrl::from_settings(command.store.settings())?;
    let store = store::open(&url, store::Purpose::Maintenance).await?;
    note_store(&url);
    let StoreForm { number, is_upgrading, .. } = store.follow_form().await?;
    let archived = store.count_archived().await?;
    let upgrading = if is_upgrading { ", upgrade under way" } else { "" };
    output::result(&format!("stored form: {number}{upgrading}\npayments archived: {archived}"))
}

async fn upgrade(command: UpgradeCommand) -> Result<(), Failure> {
    let url = StoreUrl::from_settings(command.store.clone().settings())?;
    let (whole, to_upgrade) = store::open_to_upgrade(&url).await?;
    note_store(&url);
    Upgrade { url, whole, to_upgrade, rate: command.rate }.run(&command).await
}

/// Upgrade of one store.
struct Upgrade {
    url: StoreUrl,
    whole: Arc<dyn WholeStore>,
    to_upgrade: Arc<dyn UpgradeStore>,
    rate: Option<u64>,
}

/// Work done by an upgrade.
#[derive(Default)]
struct Rewritten {
    /// Number of payments that were not in the new form.
    payments: u64,
    /// Ids of damaged payments.
    unreadable: Vec<String>,
}

impl Upgrade {
    async fn run(&self, command: &UpgradeCommand) -> Result<(), Failure> {
        let form = self.whole.follow_form().await?;
        let StoreForm { number, known, is_upgrading } = form;
        if !form.is_to_upgrade() {
            return output::result(&format!(
                "the store has form {number}, the newest that this version supports: nothing to do"
            ));
        }
        let older: Vec<Node> =
            self.alive().await?.into_iter().filter(|node| node.knows_form < known).collect();
        if command.dry_run {
            return self.show(form, &older).await;
        }
        if !older.is_empty() {
            return Err(Failure::failed(format!(
                "nodes of an older version are alive, and could no longer write after the upgrade:\n{}\nStart this \
                 version on them, or stop them. A node that was killed counts as alive for a minute.",
                listed(&older)
            )));
        }
        if is_upgrading {
            output::note(&format!("Continuing an earlier upgrade to form {known}."));
        } else {
            self.secure(command)?;
        }
        self.put_up_mark(known).await?;
        let Rewritten { payments, unreadable } = self.rewrite().await?;
        output::result(&format!("the store has form {known}; payments rewritten: {payments}"))?;
        if unreadable.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(format!(
            "{} payments are damaged and were left unchanged; restore them from a backup:\n  {}",
            unreadable.len(),
            unreadable.join("\n  ")
        )))
    }

    /// Prints what an upgrade would do.
    async fn show(&self, form: StoreForm, older: &[Node]) -> Result<(), Failure> {
        let left = self.to_upgrade.left_to_upgrade().await?;
        let begun = if form.is_upgrading { "continued from form" } else { "upgraded from form" };
        let before = if form.is_upgrading { form.number.saturating_sub(1) } else { form.number };
        output::result(&format!(
            "the store would be {begun} {before} to {}; payments to read: {left}",
            form.known
        ))?;
        if !older.is_empty() {
            output::note(&format!(
                "Nodes of an older version are alive, and must be stopped or upgraded first:\n{}",
                listed(older)
            ));
        }
        Ok(())
    }

    /// Creates the backup, or checks that there is one.
    fn secure(&self, command: &UpgradeCommand) -> Result<(), Failure> {
        let UpgradeCommand { backup, i_have_a_backup, .. } = command;
        match (&self.url, backup) {
            (_, None) if *i_have_a_backup => Ok(()),
            (StoreUrl::Embedded(database), Some(path)) => {
                let bytes = EmbeddedStore::back_up(database, path).map_err(Failure::failed)?;
                output::note(&format!("Backup: {}: {bytes} bytes, checked", path.display()));
                Ok(())
            }
            (StoreUrl::Embedded(_), None) => Err(Failure::failed(
                "after an upgrade the previous version can be started only from a backup: create one in a new file \
                 with --backup PATH, or confirm with --i-have-a-backup that you have one",
            )),
            (StoreUrl::Mongo(_), None) => Err(Failure::failed(
                "after an upgrade the previous version can be started only from a backup: create one (a snapshot of \
                 the volume, or mongodump --oplog), and confirm it with --i-have-a-backup",
            )),
            (StoreUrl::Mongo(_), Some(_)) => Err(Failure::failed(
                "--backup works only for the embedded store: make a snapshot of the volume, or mongodump --oplog, and \
                 confirm it with --i-have-a-backup",
            )),
        }
    }

    /// Makes every node write the new form, and the store refuse writes of older programs.
    async fn put_up_mark(&self, known: i64) -> Result<(), Failure> {
        self.patiently(async || self.to_upgrade.announce_form().await).await?;
        let deadline = Instant::now() + AGREED_WITHIN;
        loop {
            let mut behind = self.alive().await?;
            behind.retain(|node| node.knows_form >= known && node.writes_form < known);
            if behind.is_empty() {
                break;
            }
            if Instant::now() >= deadline {
                return Err(Failure::failed(format!(
                    "these nodes do not report that they write form {known}:\n{}\nNothing was rewritten yet. Check \
                     their logs, and run this again.",
                    listed(&behind)
                )));
            }
            sleep(LOOK_EVERY).await;
        }
        self.patiently(async || self.to_upgrade.refuse_older_forms().await).await?;
        // Nodes that were started since the first check.
        let mut older = self.alive().await?;
        older.retain(|node| node.knows_form < known);
        if !older.is_empty() {
            output::note(&format!(
                "These nodes can no longer write, and exit with code 1:\n{}",
                listed(&older)
            ));
        }
        Ok(())
    }

    /// Calls the store until it answers: elections and short outages pass.
    async fn patiently<T>(&self, ask: impl AsyncFn() -> Result<T, StoreError>) -> Result<T, Failure> {
        let deadline = Instant::now() + OUTAGE_AT_MOST;
        loop {
            match ask().await {
                Err(StoreError::Unavailable(why)) if Instant::now() < deadline => {
                    output::note(&format!("The store is unavailable ({why}): trying again."));
                    sleep(ASK_AGAIN).await;
                }
                answered => return Ok(answered?),
            }
        }
    }

    /// Rewrites every payment that is not in the new form.
    async fn rewrite(&self) -> Result<Rewritten, Failure> {
        let left = self.patiently(async || self.to_upgrade.left_to_upgrade().await).await?;
        let begun = Instant::now();
        let mut read = 0_u64;
        let mut rewritten = Rewritten::default();
        let mut noted = begun;
        let step = self.rate.and_then(|rate| usize::try_from(rate).ok()).map_or(STEP, |rate| rate.min(STEP));
        loop {
            let done = self.patiently(async || self.to_upgrade.upgrade_some(step).await).await?;
            read = read.saturating_add(done.read);
            rewritten.payments = rewritten.payments.saturating_add(done.rewritten);
            rewritten.unreadable.extend(done.unreadable);
            if done.is_done {
                return Ok(rewritten);
            }
            if noted.elapsed() >= NOTE_EVERY {
                noted = Instant::now();
                let all = left.max(read);
                let rewritten = rewritten.payments;
                output::note(&format!("{read} of {all} payments read, {rewritten} rewritten"));
            }
            if let Some(rate) = self.rate {
                let due_ms = read.saturating_mul(1_000).checked_div(rate).unwrap_or(0);
                sleep_until(begun + Duration::from_millis(due_ms)).await;
            }
        }
    }

    /// Returns the nodes that are alive.
    async fn alive(&self) -> Result<Vec<Node>, Failure> {
        let since: Timestamp = SystemClock.now().minus_ms(GONE_AFTER_MS);
        self.patiently(async || self.whole.nodes(since).await).await
    }
}

fn listed(nodes: &[Node]) -> String {
    let line = |node: &Node| {
        format!(
            "  {} (Quita {}, stored form {}), last seen {}",
            node.address, node.version, node.knows_form, node.seen_at
        )
    };
    nodes.iter().map(line).collect::<Vec<_>>().join("\n")
}
