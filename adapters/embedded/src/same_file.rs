//! The files of the store, as they were when it was opened.
//!
//! SQLite goes on writing into a file that was deleted or replaced: what it commits there is gone at the next start.

use std::path::{Path, PathBuf};

use quita_ports::StoreError;

/// Files beside the database: its write-ahead log, and the index of readers' positions in it.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// The database file and what stands beside it.
#[derive(Debug)]
pub(super) struct SameFile {
    files: Vec<(PathBuf, Identity)>,
}

/// Device and inode of a file.
type Identity = (u64, u64);

impl SameFile {
    /// Remembers the files of a store that is open.
    pub(super) fn of(database: &Path) -> Self {
        let beside = BESIDE.map(|ending| {
            let mut path = database.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        });
        let files = std::iter::once(database.to_owned()).chain(beside);
        Self { files: files.filter_map(|path| identity(&path).map(|is| (path, is))).collect() }
    }

    /// Checks that all are still where they were.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if one was deleted, moved or replaced.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.files.iter().find(|(path, was)| identity(path) != Some(*was)) {
            None => Ok(()),
            Some((path, _)) => Err(StoreError::Broken(format!(
                "{} was deleted or replaced while it was served: what is written now would be lost. Put the file back, \
                 or restore a backup, and restart",
                path.display()
            ))),
        }
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;

    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Elsewhere an open file can't be deleted.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}
