//! Meaning of SQLite's errors for the caller of the store.

use quita_ports::StoreError;
use rusqlite::{ErrorCode, ffi};

/// A store error into which rusqlite's errors convert automatically.
#[derive(Debug)]
pub(super) struct Failure(StoreError);

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        Self(match error.sqlite_error() {
            Some(cause) => classify(*cause, text),
            // Errors without an SQLite code are conversions in rusqlite: a column does not have the type that was
            // written.
            None => StoreError::Unreadable(text),
        })
    }
}

/// Returns true if SQLite certainly rolled back the transaction whose commit failed like this.
pub(super) fn is_undone(error: &rusqlite::Error) -> bool {
    // A full disk fails before the commit record is complete, and a busy database before anything is written.
    matches!(error.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy))
}

/// Classifies an error (<https://www.sqlite.org/rescode.html>). An error that is not known to be temporary counts as
/// broken.
fn classify(cause: ffi::Error, text: String) -> StoreError {
    // The kernel marks pages as clean after a failed fsync, so a repeated one succeeds without writing them.
    if [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC].contains(&cause.extended_code) {
        return StoreError::Broken(format!("fsync failed: {text}. Check the disk, and restart the service"));
    }
    match cause.code {
        ErrorCode::DiskFull => StoreError::Full(text),
        ErrorCode::SystemIoFailure
        | ErrorCode::ReadOnly
        | ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::CannotOpen
        | ErrorCode::PermissionDenied
        | ErrorCode::OutOfMemory
        | ErrorCode::OperationAborted
        | ErrorCode::OperationInterrupted
        | ErrorCode::SchemaChanged
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::NoLargeFileSupport
        | ErrorCode::AuthorizationForStatementDenied => StoreError::Unavailable(text),
        // `Unknown` is an error in SQL: the tables are not those that this version creates.
        ErrorCode::NotADatabase
        | ErrorCode::TypeMismatch
        | ErrorCode::TooBig
        | ErrorCode::NotFound
        | ErrorCode::ConstraintViolation
        | ErrorCode::ApiMisuse
        | ErrorCode::ParameterOutOfRange
        | ErrorCode::Unknown => StoreError::Unreadable(text),
        ErrorCode::DatabaseCorrupt | ErrorCode::InternalMalfunction | _ => {
            StoreError::Broken(format!("{text}. Stop the service, keep its files, and restore a backup"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(code: std::ffi::c_int) -> StoreError {
        Failure::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).into()
    }

    #[test]
    fn what_may_pass_is_out_of_reach() {
        for code in [
            ffi::SQLITE_IOERR,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_CANTOPEN,
        ] {
            assert!(matches!(seen(code), StoreError::Unavailable(_)), "{code}");
        }
    }

    #[test]
    fn a_full_disk_is_named() {
        assert!(matches!(seen(ffi::SQLITE_FULL), StoreError::Full(_)));
    }

    #[test]
    fn a_failed_fsync_and_a_corrupt_file_are_broken() {
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC, ffi::SQLITE_CORRUPT] {
            assert!(matches!(seen(code), StoreError::Broken(_)), "{code}");
        }
    }

    #[test]
    fn whatever_is_broken_says_what_to_do() {
        for (code, remedy) in [
            (ffi::SQLITE_IOERR_FSYNC, "restart the service"),
            (ffi::SQLITE_IOERR_DIR_FSYNC, "restart the service"),
            (ffi::SQLITE_CORRUPT, "restore a backup"),
        ] {
            assert!(seen(code).to_string().ends_with(remedy), "{}", seen(code));
        }
    }

    #[test]
    fn a_full_disk_undoes_a_transaction_and_a_failed_write_may_not() {
        let undone = |code| is_undone(&rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert!(undone(ffi::SQLITE_FULL));
        assert!(!undone(ffi::SQLITE_IOERR_WRITE) && !undone(ffi::SQLITE_IOERR_FSYNC));
    }
}
