//! One write transaction, and how far it came if it failed.

use quita_ports::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::failure::{Failure, is_undone};

/// A transaction that failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// Nothing of it was written.
    Undone(StoreError),
    /// The commit itself failed: it may be found written after a restart.
    Unknown(StoreError),
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Undone(error) | Failed::Unknown(error) => error,
        }
    }
}

/// Runs `work` as one transaction that takes the write lock first and waits for it a while.
pub(super) fn run<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T, Failed> {
    let undone = |error: Failure| Failed::Undone(error.into());
    // A transaction that begins as a reader and then writes fails at once if another process wrote meanwhile.
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.map_err(|error| undone(error.into()))?;
    // Dropping the transaction rolls it back, so nothing of a failed `work` is written.
    let result = work(&transaction).map_err(undone)?;
    match transaction.commit() {
        Ok(()) => Ok(result),
        Err(error) if is_undone(&error) => Err(undone(error.into())),
        // After a failed sync the pages may be in the log all the
        // same, and the next start may find the transaction complete.
        Err(error) => Err(Failed::Unknown(Failure::from(error).into())),
    }
}
