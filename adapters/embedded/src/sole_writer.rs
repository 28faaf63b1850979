//! The lock that lets only one process at a time serve a file.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use quita_ports::StoreError;
use thiserror::Error;

use super::open::private_file;

/// Failure to become the only process that serves a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SoleWriterError {
    /// Another process serves it.
    #[error("another process serves {}", .0.display())]
    Served(PathBuf),
    /// The file can't be used.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Lock held while this process is the only one that writes payments; the system releases it when the process ends.
#[derive(Debug)]
pub(super) struct SoleWriter {
    _file: File,
}

impl SoleWriter {
    /// Takes the lock of a database file: `{file}.lock` beside it.
    pub(super) fn lock(database: &Path) -> Result<Self, SoleWriterError> {
        super::open::make_folder(database)?;
        let path = lock_of(database);
        let unavailable =
            |error| StoreError::Unavailable(format!("{} can't be locked: {error}", path.display()));
        // The lock file is never removed: a process with a deleted lock file and a process with a new one would both
        // serve.
        let file = private_file(&path).map_err(unavailable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(SoleWriterError::Served(database.to_owned())),
            Err(TryLockError::Error(error)) => Err(unavailable(error).into()),
        }
    }
}

/// Returns true if a process serves this file. Creates no lock file, and keeps no lock.
pub(super) fn is_locked(database: &Path) -> bool {
    let Ok(file) = File::open(lock_of(database)) else { return false };
    // A shared lock is enough to detect an exclusive one, and two commands that check at once do not block each other.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn lock_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".lock");
    path.into()
}
