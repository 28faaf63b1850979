//! A trial write that leaves nothing behind, in the database and on its disk.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quita_ports::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use super::failure::Failure;
use super::{EmbeddedStore, open};

/// Space that a store needs for its next payments: a batch of them, and the pages of their indexes.
const ROOM: usize = 1024 * 1024;
/// Statement that changes nothing, but requires everything that a write needs.
const SAME: &str = "UPDATE stored_form SET program = program";

impl EmbeddedStore {
    /// Checks that the store takes writes, without leaving one. A service that works on the store waits a few
    /// milliseconds at most.
    ///
    /// # Errors
    /// [`StoreError::Full`] if the disk has no space; otherwise the reason why nothing can be written.
    pub async fn try_write(&self) -> Result<(), StoreError> {
        self.trust.check_files()?;
        self.writer.run(try_in).await?
    }
}

fn try_in(connection: &mut Connection) -> Result<(), StoreError> {
    let path = connection.path().map(PathBuf::from);
    take_back(connection).map_err(StoreError::from)?;
    // Rolled-back data never reaches the disk, and a full log may still have room for a small write.
    path.map_or(Ok(()), |path| find_room(&path))
}

fn take_back(connection: &mut Connection) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(SAME, [])?;
    Ok(transaction.rollback()?)
}

/// Writes a file beside the store that no longer has a name: nothing is left of it, even after a crash.
fn find_room(database: &Path) -> Result<(), StoreError> {
    let mut name = database.as_os_str().to_owned();
    name.push(format!("-trial-{}", std::process::id()));
    let written = write_nameless(Path::new(&name));
    written.map_err(|error| {
        let folder = database.parent().unwrap_or(database).display();
        let why = format!("{folder} has no room for {ROOM} bytes: {error}");
        if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            StoreError::Full(why)
        } else {
            StoreError::Unavailable(format!("{folder} takes no files: {error}"))
        }
    })
}

fn write_nameless(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, open::PRIVATE_FILE);
    let mut file = options.open(path)?;
    // The name is removed first: no trial file stays beside the store, however the process ends.
    fs::remove_file(path)?;
    file.write_all(&vec![0; ROOM])?;
    // Some file systems allocate the space only now.
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use quita_ports::Store;

    use super::*;

    #[tokio::test]
    async fn a_trial_leaves_nothing_and_disturbs_nobody_who_serves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let serving = EmbeddedStore::open_sole_writer(&path).unwrap();
        let beside = EmbeddedStore::open_existing(&path).unwrap().unwrap();
        let log = || fs::read(folder.path().join("quita.db-wal")).unwrap();
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let before = (log(), fs::read(&path).unwrap(), names());
        assert_eq!(beside.try_write().await, Ok(()));
        assert_eq!((log(), fs::read(&path).unwrap(), names()), before);
        assert_eq!(serving.ping().await, Ok(()));
        assert_eq!(serving.write(|_| Ok(())).await, Ok(()));
    }

    #[tokio::test]
    async fn a_store_that_another_process_keeps_locked_takes_no_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let store = EmbeddedStore::open(&path).unwrap();
        let quickly = |connection: &mut Connection| connection.busy_timeout(std::time::Duration::ZERO);
        store.writer.run(quickly).await.unwrap().unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(matches!(store.try_write().await, Err(StoreError::Unavailable(_))));
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(store.try_write().await, Ok(()));
    }

    #[test]
    fn a_folder_that_takes_no_files_is_named() {
        let missing = Path::new("/proc/nowhere/quita.db");
        let Err(StoreError::Unavailable(why)) = find_room(missing) else { panic!("it has room") };
        assert!(why.contains("/proc/nowhere takes no files"), "{why}");
    }
}
