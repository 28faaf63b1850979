//! A mark in the database file that distinguishes it from any other file, and from a copy of an earlier state.
//!
//! Between two checkpoints nobody writes into the file, and SQLite does not read again what it has cached. A file that
//! another program overwrote in place keeps its inode, so only its contents can show the change. The mark is random. It
//! is written when the service starts, and changed after each checkpoint, so that an older copy has an older mark.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_ports::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction};

use super::transaction::{self, Failed};

/// Number of reads before a file counts as overwritten: a page may be read while a checkpoint writes it.
const LOOKS: u32 = 5;

const WRITE: &str = "INSERT INTO file_mark (id, mark) VALUES (1, ?1) \
    ON CONFLICT (id) DO UPDATE SET mark = excluded.mark";
const READ: &str = "SELECT mark FROM file_mark WHERE id = 1";
const HAS_MARKS: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'file_mark')";

/// A mark: 128 random bits.
type Mark = [u8; 16];

/// The file of a store, and the marks that it may contain.
#[derive(Debug)]
pub(super) struct FileMark {
    path: PathBuf,
    marks: Mutex<Marks>,
}

#[derive(Debug)]
struct Marks {
    /// The mark that was last found in the file; `None` if there is none to compare with yet.
    in_file: Option<Mark>,
    /// The mark that the next checkpoint may bring into the file.
    next: Mark,
    next_is_written: bool,
    /// Metadata of the file when its mark was last read.
    read_of: Option<Stat>,
}

/// Length of a file and the time of its last change, in seconds and nanoseconds.
type Stat = (u64, i64, i64);

/// Mark of a file, and another mark that may follow it.
#[derive(Debug)]
struct Found {
    mark: Option<Mark>,
    fresh: Mark,
}

impl FileMark {
    /// Writes a new mark into the store, has `settle` bring it into the file, and reads the mark that is there.
    ///
    /// # Errors
    /// The reason why the store can't be written, unless it may be temporary; or the error of `settle`.
    pub(super) fn begin(
        path: &Path,
        writer: &mut Connection,
        settle: impl FnOnce(&Connection) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let mut next = Mark::default();
        let written = transaction::run(writer, |transaction| {
            next = random(transaction)?;
            Ok(transaction.execute(WRITE, [next]).map(drop)?)
        });
        let next_is_written = match written {
            Ok(()) => true,
            // Payments can still be read. The first write tries again.
            Err(Failed::Undone(StoreError::Unavailable(_) | StoreError::Full(_))) => false,
            Err(failed) => return Err(failed.into()),
        };
        // The mark goes into the log first. Only the checkpoint brings it into the file, where the comparison looks.
        settle(writer)?;
        let mut marks = Marks { in_file: None, next, next_is_written, read_of: stat(path) };
        if let Ok(found) = read(path) {
            marks.accept(&found);
            marks.in_file = found.mark;
        }
        Ok(Self { path: path.to_owned(), marks: Mutex::new(marks) })
    }

    /// Writes the next mark in a transaction, unless one was written since the last checkpoint.
    pub(super) fn write(&self, transaction: &Transaction<'_>) -> rusqlite::Result<Option<Written>> {
        let next = {
            let marks = self.marks();
            // One mark for each checkpoint is enough; a mark in every commit would dirty one more page.
            if marks.next_is_written {
                return Ok(None);
            }
            marks.next
        };
        transaction.prepare_cached(WRITE)?.execute([next])?;
        Ok(Some(Written(next)))
    }

    /// Records that a mark was committed.
    pub(super) fn committed(&self, written: &Written) {
        let mut marks = self.marks();
        marks.next_is_written |= marks.next == written.0;
    }

    /// Checks that the file contains a mark of this store, if the file was written since the last check.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if it does not.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let mut marks = self.marks();
        // Taken before the file is read: a later change is found by the next check.
        let now = stat(&self.path);
        if now == marks.read_of {
            return Ok(());
        }
        for _ in 0..LOOKS {
            match read(&self.path) {
                Ok(found) if marks.accept(&found) => {
                    marks.read_of = now;
                    return Ok(());
                }
                // A file that can't be read now proves nothing. The next check reads it again.
                Err(error) if may_pass(&error) => return Ok(()),
                // There is no mark to compare with before the first checkpoint.
                _ if marks.in_file.is_none() => return Ok(()),
                Ok(_) | Err(_) => std::thread::yield_now(),
            }
        }
        Err(StoreError::Broken(format!(
            "{} was overwritten by another program while it was served: what was written is lost, and so would be what \
             is written now. Stop the service, and restore a backup",
            self.path.display()
        )))
    }

    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A mark that a transaction writes.
#[derive(Debug)]
pub(super) struct Written(Mark);

impl Marks {
    /// Accepts a mark that was found, if it is one of these.
    fn accept(&mut self, found: &Found) -> bool {
        if found.mark == Some(self.next) {
            *self = Self { in_file: found.mark, next: found.fresh, next_is_written: false, ..*self };
            return true;
        }
        found.mark.is_some() && found.mark == self.in_file
    }
}

/// Removes the mark from a copy, so that it is not mistaken for its original.
pub(super) fn remove(copy: &Connection) -> rusqlite::Result<()> {
    let has_marks: bool = copy.query_row(HAS_MARKS, [], |row| row.get(0))?;
    if has_marks { copy.execute("DELETE FROM file_mark", []).map(drop) } else { Ok(()) }
}

/// Reads the contents of the file itself, whatever its write-ahead log holds.
///
/// Only SQLite may open and close the file: closing it releases all locks that this process holds on it.
fn read(path: &Path) -> rusqlite::Result<Found> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let file = Connection::open_with_flags(immutable(path), flags)?;
    // Otherwise a file whose last pages were not checkpointed yet would count as corrupt.
    file.execute_batch("PRAGMA writable_schema = ON")?;
    let has_marks: bool = file.query_row(HAS_MARKS, [], |row| row.get(0))?;
    let mark = if has_marks { file.query_row(READ, [], |row| row.get(0)).optional()? } else { None };
    Ok(Found { mark, fresh: random(&file)? })
}

/// Returns the name by which SQLite reads a file without its log.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02x}"));
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn random(connection: &Connection) -> rusqlite::Result<Mark> {
    connection.query_row("SELECT randomblob(16)", [], |row| row.get(0))
}

/// Returns true if an error says nothing about the contents of the file.
fn may_pass(error: &rusqlite::Error) -> bool {
    let passing = [
        ErrorCode::CannotOpen,
        ErrorCode::OutOfMemory,
        ErrorCode::PermissionDenied,
        ErrorCode::SystemIoFailure,
    ];
    error.sqlite_error_code().is_some_and(|code| passing.contains(&code))
}

#[cfg(unix)]
fn stat(path: &Path) -> Option<Stat> {
    use std::os::unix::fs::MetadataExt;

    std::fs::metadata(path).ok().map(|file| (file.len(), file.ctime(), file.ctime_nsec()))
}

/// Returns nothing: on other systems an open file can't be overwritten.
#[cfg(not(unix))]
fn stat(_: &Path) -> Option<Stat> {
    None
}
