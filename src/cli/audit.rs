//! `quita audit`: check and export the audit log.

mod accept;
mod export;

use clap::{Args, Subcommand};
use quita_domain::audit::chain::{AuditKey, ChainCheck, ChainFault, ChainKey, ChainPlace};
use quita_ports::{AuditStore, StoreError};

use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::output;

/// Number of entries per read.
const PAGE: usize = 500;
/// Maximum number of faults that are printed; the others are counted.
const NAMED: u64 = 20;

/// Subcommands of `quita audit`.
#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Verify that no entry was changed, moved or removed; the service may keep running
    Verify(VerifyLog),
    /// Print entries as JSON, one per line, the oldest first. They name people: protect them like the store
    Export(export::ExportLog),
    /// Record in the log that parts are missing without an entry about it, so that `verify` no longer reports them. For
    /// parts erased by a version that did not record erasures
    Accept(accept::Accept),
}

/// The log to check.
#[derive(Debug, Args)]
pub(super) struct VerifyLog {
    /// End of the log as printed by an earlier call: it must still be in the log
    #[arg(long, value_name = "SEQUENCE:HASH", value_parser = place)]
    continues: Option<ChainPlace>,
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(command: AuditCommand) -> Result<(), Failure> {
    match command {
        AuditCommand::Verify(command) => verify(command).await,
        AuditCommand::Export(command) => export::run(command).await,
        AuditCommand::Accept(command) => accept::run(command).await,
    }
}

async fn verify(VerifyLog { continues, store }: VerifyLog) -> Result<(), Failure> {
    let opened = CommandStore::open(store).await?;
    let key = key_of(&opened).await?;
    let mut faults = 0_u64;
    let tell = |fault: ChainFault| {
        faults = faults.saturating_add(1);
        if faults <= NAMED {
            output::note(&fault.to_string());
        }
    };
    let check = check(opened.store.as_ref(), key, continues, tell).await.map_err(Failure::failed)?;
    let read = check.read();
    let erased = check.erased();
    let last = check.last();
    match faults {
        0 => output::result(&format!("{read} entries, {erased} parts erased, up to {last}")),
        1..=NAMED => {
            Err(Failure::failed(format!("The audit log is not as it was written ({read} entries).")))
        }
        _ => {
            let more = faults.saturating_sub(NAMED);
            let message =
                format!("and {more} more. The audit log is not as it was written ({read} entries).");
            Err(Failure::failed(message))
        }
    }
}

/// Returns the key of the audit log.
async fn key_of(opened: &CommandStore) -> Result<ChainKey, Failure> {
    let url = &opened.url;
    match opened.strongbox().audit_key().await? {
        Some(AuditKey { key, has_begun: true }) => Ok(key),
        // A key without entries means that no service has started on this store yet.
        Some(AuditKey { has_begun: false, .. }) => {
            Err(Failure::failed(format!("{url} has no audit log yet: start the service once.")))
        }
        None => Err(Failure::failed(format!(
            "{url} has no audit log: nothing was ever written to it, or its key was deleted."
        ))),
    }
}

/// Checks the whole log page by page, while other processes may append to it. Reports each fault to `tell`.
async fn check(
    store: &(impl AuditStore + ?Sized),
    key: ChainKey,
    continues: Option<ChainPlace>,
    mut tell: impl FnMut(ChainFault),
) -> Result<ChainCheck, StoreError> {
    let mut check = ChainCheck::new(key, continues);
    loop {
        // The head is read before the page: if the page is empty, this head belongs to the last entry read.
        let head = store.audit_head().await?;
        let page = store.chained_audit(check.last().sequence, PAGE).await?;
        if page.is_empty() {
            check.end(head.as_ref()).into_iter().for_each(&mut tell);
            return Ok(check);
        }
        for (sequence, read) in page {
            let faults = match &read {
                Ok(entry) => check.next(entry),
                Err(_) => check.unreadable(sequence),
            };
            faults.into_iter().for_each(&mut tell);
        }
    }
}

fn place(text: &str) -> Result<ChainPlace, String> {
    ChainPlace::parse(text)
        .ok_or_else(|| "must be a place and its hash, as `quita audit verify` prints them".into())
}
