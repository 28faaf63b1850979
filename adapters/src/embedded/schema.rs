//! The schema: made in a new file, and never changed in one that is there.

use quita_ports::StoreError;
use rusqlite::Connection;

use super::transaction;
use crate::store_rules::other_form;
use crate::stored_form::VERSION;

const SCHEMA: &str = include_str!("schema.sql");

/// Makes the schema in a new file, and refuses one whose stored form is another. `user_version` tells which it is.
pub(super) fn make(connection: &mut Connection) -> Result<(), StoreError> {
    let made = transaction::run(connection, |transaction| {
        match transaction.query_row("PRAGMA user_version", [], |row| row.get(0))? {
            VERSION => Ok(()),
            0 => {
                transaction.execute_batch(SCHEMA)?;
                Ok(transaction.pragma_update(None, "user_version", VERSION)?)
            }
            other => Err(other_form(Some(other)).into()),
        }
    });
    Ok(made?)
}
