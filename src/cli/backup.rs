//! `quita backup`: copies the embedded store while the service runs.

use std::path::PathBuf;

use clap::Args;
use quita_embedded::{BackupError, EmbeddedStore};

use super::command_store::note_store;
use super::failure::Failure;
use super::flags::StoreFlags;
use super::output;
use crate::store::OpenError;
use quita_config::store_url::StoreUrl;

/// Arguments of `quita backup`.
#[derive(Debug, Args)]
#[command(
    after_help = "The copy is consistent, verified, and readable by its owner only. To restore it, stop the \
                        service, move its store aside, and put the copy in its place."
)]
pub(super) struct BackupCommand {
    /// File to create; it must not exist yet
    path: PathBuf,
    #[command(flatten)]
    store: StoreFlags,
}

pub(super) async fn run(command: BackupCommand) -> Result<(), Failure> {
    let BackupCommand { path, store } = command;
    let database = match StoreUrl::from_settings(store.settings())? {
        StoreUrl::Embedded(database) => database,
        url @ StoreUrl::Mongo(_) => {
            let why =
                format!("{url} is backed up by other means: a snapshot of its volume, or mongodump --oplog");
            return Err(Failure::failed(why));
        }
    };
    let url = StoreUrl::Embedded(database.clone());
    let bytes = EmbeddedStore::back_up(&database, &path).map_err(|error| match error {
        BackupError::Missing => OpenError::missing(&url).into(),
        error @ (BackupError::Exists(_)
        | BackupError::Store(_)
        | BackupError::Copy(..)
        | BackupError::Damaged(_)) => Failure::failed(error),
    })?;
    note_store(&url);
    output::result(&format!("{}: {bytes} bytes, checked", path.display()))
}
