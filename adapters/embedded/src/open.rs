//! Opening the file: folder, schema, connections.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

use quita_ports::{StoreError, StoreForm};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::failure::{Failure, is_undone};
use super::{form, left_behind, schema};

/// Time for which a write waits for another process, such as a command that creates a key.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// Threads for lookups.
pub(super) const READERS: usize = 3;
/// Prepared statements that a connection keeps.
const PREPARED_STATEMENTS: usize = 64;

/// Permissions of a file of the store, and of a folder that is created for it: nobody but the owner has access.
#[cfg(unix)]
pub(super) const PRIVATE_FILE: u32 = 0o600;
#[cfg(unix)]
const PRIVATE_FOLDER: u32 = 0o700;

/// The connection that writes.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) connection: Connection,
    /// True if the schema was created just now.
    pub(super) is_new: bool,
}

/// Opens the connection that writes; creates the file and the schema if they are missing.
pub(super) fn writer(path: &Path) -> Result<Writer, StoreError> {
    left_behind::refuse(path)?;
    left_behind::refuse_unfit_log(path)?;
    make_folder(path)?;
    // An empty file is a new store: SQLite itself creates one before it writes the first page.
    let is_there = fs::metadata(path).is_ok_and(|file| file.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let known = if is_there { Some(connect(path, flags)?) } else { None };
    if let Some(connection) = &known {
        // Checked before anything of the file is changed, including its permissions.
        schema::refuse_foreign(connection).map_err(|failure| in_file(path, failure))?;
    }
    let made = private_file(path).map(drop);
    made.map_err(|error| StoreError::Unavailable(format!("{} can't be opened: {error}", path.display())))?;
    let connection = known.map_or_else(|| connect(path, flags), Ok)?;
    make_ready(connection, path)
}

/// Opens the connection that writes to an existing store; `None` if there is none. Creates no file, folder or schema.
pub(super) fn existing_writer(path: &Path) -> Result<Option<Connection>, StoreError> {
    let Some(connection) = existing(path)? else { return Ok(None) };
    let is_empty = || -> Result<bool, Failure> {
        schema::refuse_foreign(&connection)?;
        Ok(form::number_of(&connection)? == 0 && !schema::has_tables(&connection)?)
    };
    if is_empty().map_err(|failure| in_file(path, failure))? {
        return Ok(None);
    }
    make_ready(connection, path).map(|writer| Some(writer.connection))
}

/// Returns the form of an opened store.
pub(super) fn form_of(connection: &Connection, path: &Path) -> Result<StoreForm, StoreError> {
    let found = form::found_in(connection).map_err(|error| in_file(path, error.into()))?;
    found.check()
}

/// Configures the connection for the store's durability, and its files to be readable only by their owner.
fn make_ready(mut connection: Connection, path: &Path) -> Result<Writer, StoreError> {
    keep_private(path);
    left_behind::beside(path).iter().for_each(|beside| keep_private(beside));
    let is_new = prepare(&mut connection).map_err(|failure| in_file(path, failure))?;
    Ok(Writer { connection, is_new })
}

/// Opens a connection to an existing file; `None` if the file is missing or empty.
///
/// # Errors
/// Fails also if other files of the store are left, or a process still serves it.
pub(super) fn existing(path: &Path) -> Result<Option<Connection>, StoreError> {
    let is_missing = match fs::metadata(path) {
        Ok(file) => file.len() == 0,
        // Opening the file reports any other fault.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_missing {
        return left_behind::refuse_served(path).map(|()| None);
    }
    left_behind::refuse_unfit_log(path)?;
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX).map(Some)
}

/// Brings the contents that a crash left in the write-ahead log into the file, and syncs it.
///
/// If the log's last sync failed, the system counts its pages as clean although they may not be on the disk: no later
/// sync of the log would write them. So nothing of the log is shown before it is written again, elsewhere.
pub(super) fn settle_log(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    match is_busy {
        Ok(false) => Ok(()),
        Ok(true) => {
            tracing::warn!(
                "another process is reading the store: the write-ahead log will be truncated later"
            );
            Ok(())
        }
        // Payments can still be read.
        Err(error) if is_undone(&error) => {
            tracing::warn!(%error, "the store's write-ahead log could not be truncated; this will happen later");
            Ok(())
        }
        Err(error) => Err(in_file(path, error.into())),
    }
}

/// Opens the connections that read.
pub(super) fn readers(path: &Path, count: usize) -> Result<Vec<Connection>, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    (0..count).map(|_| connect(path, flags)).collect()
}

/// Creates the folder that will contain a file.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, PRIVATE_FOLDER);
    let made = builder.create(folder);
    made.map_err(|error| StoreError::Unavailable(format!("{} can't be made: {error}", folder.display())))
}

/// Opens a file that only its owner may read: it contains personal data, or is the lock for serving it. Creates it if
/// it is missing.
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, PRIVATE_FILE);
    let file = options.open(path)?;
    keep_private(path);
    Ok(file)
}

/// Removes other users' access to a file, which may have been granted since it was created.
fn keep_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let is_open =
            fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o777 & !PRIVATE_FILE != 0);
        if is_open && let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(PRIVATE_FILE)) {
            tracing::warn!(file = %path.display(), %error, "other users can still open a file of the store");
        }
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || -> Result<Connection, Failure> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        connection.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS);
        // Otherwise plans depend on the values of variables: each query with `LIMIT ?` is parsed and planned at each use.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.execute_batch("PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;")?;
        Ok(connection)
    };
    open().map_err(|failure| in_file(path, failure))
}

/// Prepares a connection. Replaced data is overwritten at once, in every write of this connection. Otherwise an erased
/// payer, or a secret that was sealed again, would remain in free pages until these are reused.
///
/// SQLite checkpoints the WAL during writes, every 4,000 pages (16 MB). A failed checkpoint is repeated later. Until
/// then the WAL, which a commit has synced, keeps everything.
///
/// Returns true if the schema was created.
fn prepare(connection: &mut Connection) -> Result<bool, Failure> {
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    // SQLite reports the mode that it kept instead of failing: network file systems lack the shared memory that WAL
    // needs.
    if mode != "wal" {
        let why = format!("its file system does not allow a write-ahead log (journal mode is {mode})");
        return Err(StoreError::Unavailable(why).into());
    }
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; \
         PRAGMA secure_delete = ON;",
    )?;
    let is_new = schema::make(connection)?;
    // Every query names its index, and was checked without statistics of the planner. Making them reads whole indexes:
    // minutes for a large file that is not in memory. Earlier programs made some, with samples of payers' documents.
    match connection.execute_batch("DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4") {
        Err(error) if is_undone(&error) => {
            tracing::warn!(%error, "statistics of the embedded store's planner could not be dropped");
            Ok(is_new)
        }
        done => Ok(done.map(|()| is_new)?),
    }
}

fn in_file(path: &Path, failure: Failure) -> StoreError {
    let named = |why: String| format!("{}: {why}", path.display());
    match StoreError::from(failure) {
        StoreError::Unavailable(why) => StoreError::Unavailable(named(why)),
        StoreError::Full(why) => StoreError::Full(named(why)),
        StoreError::Broken(why) => StoreError::Broken(named(why)),
        StoreError::Unreadable(why) => StoreError::Unreadable(named(why)),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::writer;

    #[test]
    fn a_query_that_is_repeated_with_another_limit_is_planned_once() {
        let folder = tempfile::tempdir().unwrap();
        let connection = writer(&folder.path().join("quita.db")).unwrap().connection;
        let mut due = connection
            .prepare("SELECT id FROM payments WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2")
            .unwrap();
        for (now, limit) in [(1, 10), (2, 20), (3, 20)] {
            assert!(due.query((now, limit)).unwrap().next().unwrap().is_none());
        }
        assert_eq!(due.get_status(StatementStatus::RePrepare), 0);
    }
}
