//! The schema: made in a new file. What is in one that is there is never changed, only added to.

use quita_ports::StoreError;
use rusqlite::Connection;

use super::transaction;
use quita_stored_form::VERSION;
use quita_stored_form::rules::other_form;

const SCHEMA: &str = include_str!("schema.sql");

/// What came later, and changes nothing of what is there: a file that was made before gets it when it is opened.
const ADDITIONS: &str = include_str!("additions.sql");

/// Makes the schema in a new file, and refuses one whose stored form is another. `user_version` tells which it is.
pub(super) fn make(connection: &mut Connection) -> Result<(), StoreError> {
    let made = transaction::run(connection, |transaction| {
        match transaction.query_row("PRAGMA user_version", [], |row| row.get(0))? {
            VERSION => {}
            0 => {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            other => return Err(other_form(Some(other)).into()),
        }
        Ok(transaction.execute_batch(ADDITIONS)?)
    });
    Ok(made?)
}
