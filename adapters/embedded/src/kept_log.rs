//! The write-ahead log, as this process left it.
//!
//! SQLite remembers how long its log is and looks at the file no more. Behind a log that another program cut or
//! overwrote it goes on writing, and the next start finds nothing of it.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_ports::StoreError;
use rusqlite::Connection;

use super::failure::Failure;
use super::left_behind::beside;

/// Bytes of the log's header: <https://www.sqlite.org/fileformat.html#the_wal_file>.
const HEADER_BYTES: usize = 32;
/// First bytes of a header; the last bit is the byte order of checksums.
const MAGIC: [[u8; 4]; 2] = [[0x37, 0x7f, 0x06, 0x82], [0x37, 0x7f, 0x06, 0x83]];

/// The log of a store, and how its writer left it.
#[derive(Debug)]
pub(super) struct KeptLog {
    path: PathBuf,
    left: Mutex<Option<Left>>,
}

/// State of the log after a write.
#[derive(Debug)]
struct Left {
    /// SQLite's `data_version`: changes with every write and every emptied log of another connection.
    of_others: i64,
    shape: Shape,
}

/// Length and header of the log: appending changes the one, beginning anew the other.
#[derive(Debug)]
struct Shape {
    length: u64,
    /// Zeros where the log is shorter.
    header: [u8; HEADER_BYTES],
}

impl KeptLog {
    /// The log beside a database whose connection for writing this is.
    pub(super) fn of(database: &Path, writer: &Connection) -> Self {
        let [path, _] = beside(database);
        let log = Self { path, left: Mutex::new(None) };
        // The log of a store that was just opened may not be there yet.
        drop(log.remember(writer));
        log
    }

    /// Remembers the log after its writer wrote. Checks that it begins as a log does: one that was emptied under the
    /// writer begins with a hole.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if it does not begin so.
    pub(super) fn remember(&self, writer: &Connection) -> Result<(), StoreError> {
        // In this order: what another process writes in between is taken for its write, and not for a log that was cut.
        let of_others = of_others(writer).ok();
        let shape = self.shape();
        // An empty log is one that a checkpoint has emptied. Nothing but SQLite writes a header with its magic number.
        let begins_well =
            |shape: &Shape| shape.length == 0 || MAGIC.iter().any(|magic| shape.header.starts_with(magic));
        let checked = match &shape {
            Ok(shape) if begins_well(shape) => Ok(()),
            Ok(_) => Err(self.meddled_with()),
            Err(error) => Err(error.clone()),
        };
        *self.left() = of_others.zip(shape.ok()).map(|(of_others, shape)| Left { of_others, shape });
        checked
    }

    /// Checks before a commit that nobody but SQLite altered the log since. `writer` must hold the lock for writing.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if somebody did.
    pub(super) fn check_before(&self, writer: &Connection) -> Result<(), Failure> {
        let of_others = of_others(writer)?;
        let shape = self.shape()?;
        match &*self.left() {
            Some(left) if left.of_others == of_others && !shape.may_follow(&left.shape) => {
                Err(self.meddled_with().into())
            }
            // A changed `data_version` means that another connection wrote through SQLite, which kept the log valid.
            Some(_) | None => Ok(()),
        }
    }

    /// Tells whether the log is not as its writer left it. Another process may have written, too.
    pub(super) fn has_changed(&self) -> bool {
        let shape = Shape::of(&self.path).ok();
        let may_follow = |left: &Left| shape.as_ref().is_some_and(|shape| shape.may_follow(&left.shape));
        self.left().as_ref().is_some_and(|left| !may_follow(left))
    }

    fn shape(&self) -> Result<Shape, StoreError> {
        let cannot =
            |error| StoreError::Unavailable(format!("{} can't be read: {error}", self.path.display()));
        Shape::of(&self.path).map_err(cannot)
    }

    fn left(&self) -> MutexGuard<'_, Option<Left>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn meddled_with(&self) -> StoreError {
        StoreError::Broken(format!(
            "{} was cut or overwritten by another program while it was served: what was written is lost, and so would \
             be what is written now. Restore a backup, and restart",
            self.path.display()
        ))
    }
}

impl Shape {
    /// SQLite holds no lock on its log, which closing another descriptor of the file would give up.
    fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut header = [0; HEADER_BYTES];
        match file.read_exact(&mut header) {
            // A log that is cut this short has no header.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
            read => read?,
        }
        Ok(Self { length, header })
    }

    /// Tells whether nothing of this log was cut or overwritten. One that is longer holds what another connection took
    /// back, or a process that was killed did not finish, and SQLite writes over it.
    fn may_follow(&self, left: &Self) -> bool {
        self.header == left.header && self.length >= left.length
    }
}

fn of_others(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}
