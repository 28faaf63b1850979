//! A consistent copy of the file, made while it is being written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use quita_ports::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use thiserror::Error;

use super::failure::Failure;
use super::file_mark;
use super::form::{self, number_of};
use super::open;

/// Reasons for having no copy.
#[derive(Debug, Error)]
pub enum BackupError {
    /// A file exists there already; it is left as it was.
    #[error("{0} exists already: name a file that does not")]
    Exists(PathBuf),
    /// There is no store to copy.
    #[error("there is no store")]
    Missing,
    /// The store can't be read.
    #[error("{0}")]
    Store(StoreError),
    /// The copy can't be written.
    #[error("{0} can't be made: {1}")]
    Copy(PathBuf, io::Error),
    /// The copy is damaged.
    #[error("the copy is damaged: {0}; check the disk, and the store itself")]
    Damaged(String),
}

impl BackupError {
    fn store(failure: impl Into<Failure>) -> Self {
        Self::Store(failure.into().into())
    }
}

/// Copies the store in this file, checks and syncs the copy, and returns its size. If this fails, no copy is left.
pub(super) fn back_up(database: &Path, copy: &Path) -> Result<u64, BackupError> {
    let cannot = |error| BackupError::Copy(copy.into(), error);
    let source = open::existing(database).map_err(BackupError::Store)?.ok_or(BackupError::Missing)?;
    let form = number_of(&source).map_err(BackupError::store)?;
    if form == 0 {
        return Err(BackupError::Missing);
    }
    // SQLite resolves relative paths in its own way, and gives some names a special meaning.
    let absolute = std::path::absolute(copy).map_err(cannot)?;
    let reserved = reserve(&absolute).map_err(|error| {
        let is_there = error.kind() == io::ErrorKind::AlreadyExists;
        if is_there { BackupError::Exists(copy.into()) } else { cannot(error) }
    })?;
    let made = fill(&source, &absolute)
        // An upgrade may begin meanwhile.
        .and_then(|()| number_of(&source).map_err(BackupError::store))
        .and_then(|form_now| unmark(&absolute).map(|()| form..=form_now))
        .and_then(|forms| check(&absolute, &forms))
        // Synced last: a copy is valid only once it was found intact and its bytes and name survive a power failure.
        .and_then(|()| settle(&reserved, &absolute).map_err(cannot));
    if made.is_err() {
        // An incomplete file must not be mistaken for a copy.
        drop(fs::remove_file(&absolute));
    }
    made
}

/// Creates the file, readable only by its owner, if the name is free.
fn reserve(copy: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // `create_new` excludes both another backup of the same name and a link that somebody placed there.
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, open::PRIVATE_FILE);
    options.open(copy)
}

/// Fills the copy. A single statement is one read transaction: it sees one state, and blocks no writer.
fn fill(source: &Connection, copy: &Path) -> Result<(), BackupError> {
    let path =
        copy.to_str().ok_or_else(|| BackupError::Copy(copy.into(), io::ErrorKind::InvalidFilename.into()))?;
    source
        // SQLite requires that the target is missing or empty, so the name can be reserved first.
        .execute("VACUUM INTO ?1", [path])
        .map(drop)
        .map_err(|error| if is_of_target(&error) { of_copy(copy, &error) } else { BackupError::store(error) })
}

/// Returns true if only the target file can have failed like this, because the store itself is not written.
fn is_of_target(error: &rusqlite::Error) -> bool {
    let writes = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_DIR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
    ];
    error.sqlite_error().is_some_and(|cause| {
        matches!(cause.code, ErrorCode::DiskFull | ErrorCode::ReadOnly)
            || writes.contains(&cause.extended_code)
    })
}

/// Returns an error that names the copy.
fn of_copy(copy: &Path, error: &rusqlite::Error) -> BackupError {
    let is_full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
    let why = if is_full { String::from("its disk is full") } else { error.to_string() };
    BackupError::Copy(copy.into(), io::Error::other(why))
}

/// Removes the mark from a copy, so that it is recognised if it replaces the file of a running service.
fn unmark(copy: &Path) -> Result<(), BackupError> {
    let remove = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let copy = Connection::open_with_flags(copy, flags)?;
        form::begin_anew(&copy)?;
        file_mark::remove(&copy)
    };
    remove().map_err(|error| of_copy(copy, &error))
}

fn check(copy: &Path, forms: &RangeInclusive<i64>) -> Result<(), BackupError> {
    let read = || -> rusqlite::Result<(String, i64)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let copy = Connection::open_with_flags(copy, flags)?;
        Ok((copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?, number_of(&copy)?))
    };
    match read() {
        Ok((verdict, found)) if verdict == "ok" && forms.contains(&found) => Ok(()),
        Ok((verdict, found)) => Err(BackupError::Damaged(format!("{verdict}, form {found}"))),
        Err(error) => Err(BackupError::Damaged(error.to_string())),
    }
}

/// Syncs the file and its name.
fn settle(file: &File, path: &Path) -> io::Result<u64> {
    file.sync_all()?;
    if let Some(folder) = path.parent() {
        // A file's own sync does not cover its directory entry (fsync(2)).
        File::open(folder)?.sync_all()?;
    }
    Ok(file.metadata()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: std::ffi::c_int) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn a_copy_without_room_is_named_and_the_store_is_not_blamed() {
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_READONLY]
        {
            assert!(is_of_target(&failed(code)), "{code}");
        }
        let told = of_copy(Path::new("/mnt/copy.db"), &failed(ffi::SQLITE_FULL)).to_string();
        assert_eq!(told, "/mnt/copy.db can't be made: its disk is full");
    }

    #[test]
    fn a_store_that_cannot_be_read_is_blamed() {
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_IOERR_READ, ffi::SQLITE_BUSY] {
            assert!(!is_of_target(&failed(code)), "{code}");
        }
    }
}
