//! `quita audit accept`: accepts that parts of the log are missing without an entry about their erasure.

use clap::Args;
use quita_domain::audit::AuditAction;

use super::{check, key_of};
use crate::cli::command_store::CommandStore;
use crate::cli::failure::Failure;
use crate::cli::flags::StoreAccessFlags;
use crate::cli::output;
use quita_services::audit::{AuditDraft, Initiator};

/// Maximum number of sequence ranges in one entry.
const RANGES: usize = 200;

/// The log to accept as it is.
#[derive(Debug, Args)]
pub(in crate::cli) struct Accept {
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(Accept { store }: Accept) -> Result<(), Failure> {
    let opened = CommandStore::open(store).await?;
    let key = key_of(&opened).await?;
    let check = check(opened.store.as_ref(), key, None, drop).await.map_err(Failure::failed)?;
    let audit = opened.audit().await?;
    let unaccounted = check.unaccounted();
    for parts in unaccounted.split(RANGES) {
        let draft = AuditDraft::of_operators(AuditAction::ErasureAccepted, &parts);
        let appended = audit.append(&Initiator::command_line(), draft).await;
        appended.map_err(|(_, error)| Failure::failed(error))?;
        output::note(&format!("Accepted: {parts}"));
    }
    output::result(&format!("{} parts accepted as erased", unaccounted.count()))
}
