//! The schema, created in a new file. In an existing file nothing is changed; parts are only added.

use quita_ports::StoreError;
use rusqlite::Connection;

use super::failure::Failure;
use super::{archive, form, transaction};
use quita_stored_form::form::{known, unreleased};

const SCHEMA: &str = include_str!("schema.sql");

/// Later additions, which change no existing part. An older file gets them when it is opened.
const ADDITIONS: &str = include_str!("additions.sql");

/// Marks a file as ours in its header (SQLite's `application_id`): "Quit". Files from before it have 0.
const APPLICATION_ID: i32 = 0x5175_6974;

/// Checks that a file contains our tables or none. Only reads.
///
/// # Errors
/// [`StoreError::Unreadable`] if the file is another program's.
pub(super) fn refuse_foreign(connection: &Connection) -> Result<(), Failure> {
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let all = count("SELECT count(*) FROM sqlite_schema WHERE type = 'table'")?;
    let ours = count(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('payments', 'inbox', 'applications')",
    )?;
    // Files that predate the mark have id 0, like other programs' files, so they are recognised by their tables.
    if [0, APPLICATION_ID].contains(&application) && (all == 0 || ours == 3) {
        return Ok(());
    }
    let why = "it is a database of another program. Nothing of it was changed: give Quita a file of its own";
    Err(StoreError::Unreadable(why.into()).into())
}

/// Columns of a payment that older files lack: due date, payment link and used token. Existing payments have no values
/// in them.
const LATER_COLUMNS: [(&str, &str); 3] = [("due_on", "TEXT"), ("link", "BLOB"), ("used_token", "TEXT")];

/// Adds missing columns.
fn add_columns(connection: &Connection) -> rusqlite::Result<()> {
    let count = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2 OR ?2 IS NULL";
    let count = |table: &str, name: Option<&str>| {
        connection.query_row(count, (table, name), |row| row.get::<_, i64>(0))
    };
    for table in ["payments", "archived_payments"] {
        // The archive is created after the payments have all columns.
        let is_there = count(table, None)? > 0;
        for (name, kind) in LATER_COLUMNS {
            if is_there && count(table, Some(name))? == 0 {
                connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {name} {kind}"))?;
            }
        }
    }
    Ok(())
}

/// Creates the schema in a new file, and refuses a file whose stored form this program does not know. `user_version` is
/// the number of the form. Returns true if the file was new.
pub(super) fn make(connection: &mut Connection) -> Result<bool, StoreError> {
    let made = transaction::run(connection, |transaction| {
        let mut is_new = false;
        match form::number_of(transaction)? {
            0 if has_tables(transaction)? => return Err(unreleased().into()),
            0 => {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "user_version", known())?;
                transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                is_new = true;
            }
            _ => drop(form::found_in(transaction)?.check()?),
        }
        // Columns come before the archive, which copies the statements that created the payments' table and indexes.
        add_columns(transaction)?;
        transaction.execute_batch(ADDITIONS)?;
        archive::make(transaction)?;
        if is_new {
            form::note_whole(transaction)?;
        }
        Ok(is_new)
    });
    Ok(made?)
}

/// Returns true if a file contains payments, whatever its number is.
pub(super) fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'payments')";
    connection.query_row(sql, [], |row| row.get(0))
}
