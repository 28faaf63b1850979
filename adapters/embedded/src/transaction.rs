//! One write transaction, and the certainty of its outcome if it failed.

use quita_ports::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::failure::{Failure, is_undone};

/// A transaction that failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// Nothing of it was written.
    Undone(StoreError),
    /// The commit itself failed: the writes may be found after a restart.
    Unknown(StoreError),
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Undone(error) | Failed::Unknown(error) => error,
        }
    }
}

/// Runs `work` as one transaction. It takes the write lock first, and waits for it for a limited time.
pub(super) fn run<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T, Failed> {
    let undone = |error: Failure| Failed::Undone(error.into());
    // A transaction that begins as a reader and then writes fails at once if another process has written meanwhile.
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.map_err(|error| undone(error.into()))?;
    // Dropping the transaction rolls it back, so nothing of a failed `work` is written.
    let result = work(&transaction).map_err(undone)?;
    match transaction.commit() {
        Ok(()) => Ok(result),
        Err(error) if is_undone(&error) => Err(undone(error.into())),
        // After a failed sync the pages may still be in the log, and the next start may find the transaction complete.
        Err(error) => Err(Failed::Unknown(Failure::from(error).into())),
    }
}
