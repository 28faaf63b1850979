//! The files of the store, as they were when it was opened.
//!
//! SQLite keeps writing to a file that was deleted or replaced, and those commits are lost at the next start.

use std::path::{Path, PathBuf};

use quita_ports::StoreError;

use super::left_behind::{beside, rescue};

/// The database file and the files beside it.
#[derive(Debug)]
pub(super) struct SameFile {
    database: PathBuf,
    files: Vec<(PathBuf, Identity)>,
}

/// Device and inode of a file.
type Identity = (u64, u64);

impl SameFile {
    /// Remembers the files of an open store.
    pub(super) fn of(database: &Path) -> Self {
        let files = std::iter::once(database.to_owned()).chain(beside(database));
        let files = files.filter_map(|path| identity(&path).map(|is| (path, is))).collect();
        Self { database: database.to_owned(), files }
    }

    /// Checks that all files are still in place.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if one was deleted, moved or replaced.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.files.iter().find(|(path, was)| identity(path) != Some(*was)) {
            None => Ok(()),
            Some((path, _)) => Err(StoreError::Broken(format!(
                "{} was deleted or replaced while it was served: what is written now would be lost. {}",
                path.display(),
                rescue(&self.database)
            ))),
        }
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;

    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Returns nothing: on other systems an open file can't be deleted.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn whoever_reads_that_a_file_is_gone_reads_how_its_contents_are_saved_before_a_restart() {
        for gone in ["quita.db", "quita.db-wal"] {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("quita.db");
            for name in ["quita.db", "quita.db-wal"] {
                std::fs::write(folder.path().join(name), name).unwrap();
            }
            let files = SameFile::of(&database);
            assert_eq!(files.check(), Ok(()));
            std::fs::remove_file(folder.path().join(gone)).unwrap();
            let Err(StoreError::Broken(why)) = files.check() else { panic!("{gone}") };
            assert!(why.starts_with(&format!("{} was deleted", folder.path().join(gone).display())), "{why}");
            assert!(why.ends_with(&rescue(&database)) && why.contains("/proc/PID/fd"), "{why}");
        }
    }
}
