//! Files of a store whose database file is gone: its write-ahead log and the log's index.
//!
//! SQLite deletes such a log when it creates a new database file beside it, although the log may contain the newest
//! payments.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use quita_ports::StoreError;

use super::sole_writer;

/// Endings of the files that a complete log needs. The lock file does not count: it is never removed.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Refuses to create a new file next to the remains of another one.
///
/// # Errors
/// [`StoreError::Broken`] with the names of the remaining files.
pub(super) fn refuse(database: &Path) -> Result<(), StoreError> {
    let left: Vec<_> = beside(database).into_iter().filter(|path| path.exists()).collect();
    if left.is_empty() || is_there(database) {
        return Ok(());
    }
    let names = left.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ");
    let file = database.display();
    Err(StoreError::Broken(format!(
        "{file} is gone, and {names} of it are left: they may hold the newest payments, so nothing is made beside them. Put \
         {file} back; or move them away and restore a backup; or move them away to begin with a new, empty store"
    )))
}

/// Refuses to report a store as missing while another process serves it.
///
/// # Errors
/// [`StoreError::Broken`] with the remedy.
pub(super) fn refuse_served(database: &Path) -> Result<(), StoreError> {
    if !is_there(database) && sole_writer::is_locked(database) {
        let file = database.display();
        return Err(StoreError::Broken(format!(
            "{file} is gone, and a process still serves it. {}",
            rescue(database)
        )));
    }
    refuse(database)
}

/// Refuses a store whose log belongs to another file, or is gone.
///
/// # Errors
/// [`StoreError::Broken`] with the remedy.
pub(super) fn refuse_unfit_log(database: &Path) -> Result<(), StoreError> {
    refuse_log_of_another(database)?;
    refuse_index_without_log(database)
}

/// Refuses a log next to a backup that replaced the store: SQLite would write the pages of another file into it.
///
/// # Errors
/// [`StoreError::Broken`] with the files to move away.
fn refuse_log_of_another(database: &Path) -> Result<(), StoreError> {
    let [log, index] = beside(database);
    let has_log = fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    if !has_log || !never_had_log(database) {
        return Ok(());
    }
    let file = database.display();
    let log = log.display();
    let index = index.display();
    Err(StoreError::Broken(format!(
        "{file} is a backup that was never served, so {log} is the log of another file, with its newest payments, and would \
         be mixed into it: nothing was opened. Move {log} and {index} away, with the file that they belong to, and keep them"
    )))
}

/// Refuses a store whose log is gone, although the process that wrote it never shut down cleanly: it left the log's
/// index.
///
/// # Errors
/// [`StoreError::Broken`] with the file to restore.
fn refuse_index_without_log(database: &Path) -> Result<(), StoreError> {
    let [log, index] = beside(database);
    if !is_there(database) || log.exists() || !index.exists() || sole_writer::is_locked(database) {
        return Ok(());
    }
    let file = database.display();
    let log = log.display();
    let index = index.display();
    Err(StoreError::Broken(format!(
        "{log} is gone, and {index} says that the service ended without closing {file}: the newest payments were in it. Put \
         {log} back; or restore a backup; or, if it can't be found, delete {index} to go on without them"
    )))
}

/// Returns true if the file was never in the mode in which SQLite keeps a write-ahead log, like a fresh backup.
///
/// Source: SQLite database file format, section 1.3.3: byte 18 is 1 for rollback journals, 2 for a write-ahead log.
fn never_had_log(database: &Path) -> bool {
    let mut header = [0; 19];
    let read = File::open(database).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header.ends_with(&[1])
}

/// Returns the remedy for a file that is gone while a process serves it: its contents last as long as the process.
pub(super) fn rescue(database: &Path) -> String {
    let file = database.display();
    format!(
        "Before the service ends, put it back from where it was moved to. If it was deleted, copy {file} and its -wal from \
         /proc/PID/fd to another folder, and put the copies back once the service has ended. Restore a backup only if \
         neither can be done"
    )
}

/// Returns true if the file exists and is not empty. Any other fault is reported when it is opened.
fn is_there(database: &Path) -> bool {
    fs::metadata(database).map_or_else(
        |error| error.kind() != std::io::ErrorKind::NotFound,
        |file| !file.is_file() || file.len() > 0,
    )
}

/// Returns the paths at which SQLite keeps the write-ahead log of a database, and its index.
pub(super) fn beside(database: &Path) -> [PathBuf; 2] {
    BESIDE.map(|ending| {
        let name: OsString = [database.as_os_str(), ending.as_ref()].into_iter().collect();
        name.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BackupError, EmbeddedStore, SoleWriterError};

    fn told(opened: Result<EmbeddedStore, SoleWriterError>) -> String {
        let Err(SoleWriterError::Store(StoreError::Broken(why))) = opened else { panic!("{opened:?}") };
        why
    }

    fn told_by_each_opening(path: &Path) -> [String; 3] {
        [
            EmbeddedStore::open_sole_writer(path),
            EmbeddedStore::open(path).map_err(SoleWriterError::from),
            EmbeddedStore::open_existing(path).map(Option::unwrap).map_err(SoleWriterError::from),
        ]
        .map(told)
    }

    fn names_in(folder: &Path) -> Vec<(OsString, u64)> {
        let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut names: Vec<_> =
            files.map(|file| (file.file_name(), file.metadata().unwrap().len())).collect();
        names.sort();
        names
    }

    #[test]
    fn no_store_is_made_beside_what_is_left_of_another_and_nothing_of_that_is_touched() {
        for left in [&["-wal"][..], &["-shm"], &["-wal", "-shm", ".lock"]] {
            for is_empty_file in [false, true] {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("quita.db");
                for ending in left {
                    fs::write(format!("{}{ending}", path.display()), "of another").unwrap();
                }
                if is_empty_file {
                    fs::write(&path, "").unwrap();
                }
                let before = names_in(folder.path());
                for why in told_by_each_opening(&path) {
                    for ending in left.iter().filter(|ending| BESIDE.contains(ending)) {
                        assert!(why.contains(&format!("quita.db{ending}")), "{why}");
                    }
                    for remedy in ["Put ", "restore a backup", "new, empty store"] {
                        assert!(why.contains(remedy), "{why}");
                    }
                }
                let refused = EmbeddedStore::back_up(&path, folder.path().join("copy.db"));
                assert!(matches!(refused, Err(BackupError::Store(StoreError::Broken(_)))), "{refused:?}");
                assert_eq!(names_in(folder.path()), before);
            }
        }
    }

    #[test]
    fn a_backup_beside_the_log_of_another_file_is_left_as_it_is_until_that_is_moved_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let copy = folder.path().join("copy.db");
        let serving = EmbeddedStore::open_sole_writer(&path).unwrap();
        EmbeddedStore::back_up(&path, &copy).unwrap();
        // The files that a killed process leaves.
        let log = fs::read(format!("{}-wal", path.display())).unwrap();
        assert!(!log.is_empty());
        drop(serving);
        fs::copy(&copy, &path).unwrap();
        fs::write(format!("{}-wal", path.display()), log).unwrap();
        let before = names_in(folder.path());
        for why in told_by_each_opening(&path) {
            assert!(why.contains("quita.db-wal") && why.contains("keep them"), "{why}");
        }
        let refused = EmbeddedStore::back_up(&path, folder.path().join("another.db"));
        assert!(matches!(refused, Err(BackupError::Store(StoreError::Broken(_)))), "{refused:?}");
        assert_eq!(names_in(folder.path()), before);
        for left in beside(&path) {
            drop(fs::remove_file(left));
        }
        drop(EmbeddedStore::open_sole_writer(&path).unwrap());
        // Once served, it has a log of its own.
        assert!(EmbeddedStore::open_existing(&path).unwrap().is_some());
    }

    #[test]
    fn a_log_that_was_deleted_after_a_kill_is_missed_by_each_opening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        drop(EmbeddedStore::open_sole_writer(&path).unwrap());
        // The files that a killed process leaves, without the log.
        let [log, index] = beside(&path);
        fs::write(&index, [0; 32_768]).unwrap();
        drop(fs::remove_file(log));
        let before = names_in(folder.path());
        for why in told_by_each_opening(&path) {
            assert!(why.contains("quita.db-wal is gone") && why.contains("delete"), "{why}");
        }
        assert_eq!(names_in(folder.path()), before, "what tells of it stays");
        fs::remove_file(index).unwrap();
        drop(EmbeddedStore::open_sole_writer(&path).unwrap());
    }

    #[test]
    fn a_lock_file_alone_is_left_by_whoever_moved_the_rest_away_and_a_store_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        fs::write(folder.path().join("quita.db.lock"), "").unwrap();
        assert!(EmbeddedStore::open_existing(&path).unwrap().is_none());
        let made = EmbeddedStore::open_sole_writer(&path).unwrap();
        assert!(made.is_new());
        drop(made);
        assert!(!EmbeddedStore::open_sole_writer(&path).unwrap().is_new());
    }

    #[test]
    fn a_store_that_is_gone_while_it_is_served_is_not_called_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let _serving = EmbeddedStore::open_sole_writer(&path).unwrap();
        for ending in ["", "-wal", "-shm"] {
            fs::remove_file(format!("{}{ending}", path.display())).unwrap();
        }
        let why =
            told(EmbeddedStore::open_existing(&path).map(Option::unwrap).map_err(SoleWriterError::from));
        assert!(why.contains("still serves it") && why.ends_with(&rescue(&path)), "{why}");
        let again = EmbeddedStore::open_sole_writer(&path);
        assert!(matches!(again, Err(SoleWriterError::Served(_))), "{again:?}");
    }
}
