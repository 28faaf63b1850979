//! The write-ahead log, as this process left it.
//!
//! SQLite remembers the length of its log and does not check the file again. If another program cuts or overwrites the
//! log, SQLite continues to append after the damage. The next start then finds none of these writes.

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
    /// SQLite's `data_version`: changes with every write and every log reset of another connection.
    of_others: i64,
    shape: Shape,
}

/// Length and header of the log: appending changes the length, a restart of the log changes the header.
#[derive(Debug)]
struct Shape {
    length: u64,
    /// Zeros if the log is shorter.
    header: [u8; HEADER_BYTES],
}

impl KeptLog {
    /// Watches the log of a database, given its connection for writing.
    pub(super) fn of(database: &Path, writer: &Connection) -> Self {
        let [path, _] = beside(database);
        let log = Self { path, left: Mutex::new(None) };
        // The log of a newly opened store may not exist yet.
        drop(log.remember(writer));
        log
    }

    /// Remembers the log after its writer wrote. Checks that it has a valid beginning: a log that was emptied under the
    /// writer begins with a hole.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if the beginning is not valid.
    pub(super) fn remember(&self, writer: &Connection) -> Result<(), StoreError> {
        // Read in this order, a write of another process in between counts as its write, and not as a log that was cut.
        let of_others = of_others(writer).ok();
        let shape = self.shape();
        // An empty log was emptied by a checkpoint. Only SQLite writes a header with its magic number.
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

    /// Checks before a commit that only SQLite has changed the log since. `writer` must hold the write lock.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if another program changed it.
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

    /// Returns true if the log is not as its writer left it. This may also be the write of another process.
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
    /// Reads the shape of a log. SQLite holds no lock on its log that closing another descriptor of the file would
    /// release.
    fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut header = [0; HEADER_BYTES];
        match file.read_exact(&mut header) {
            // A log this short has no header.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
            read => read?,
        }
        Ok(Self { length, header })
    }

    /// Returns true if nothing of this log was cut or overwritten. Additional bytes may come from a rolled-back
    /// transaction of another connection, or from a killed process. SQLite overwrites them.
    fn may_follow(&self, left: &Self) -> bool {
        self.header == left.header && self.length >= left.length
    }
}

fn of_others(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}
