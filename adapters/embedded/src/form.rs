//! Stored form of the file. It is read in every write, so that no program writes a form that differs from the file's.

use async_trait::async_trait;
use quita_ports::{StoreError, StoreForm, UpgradeStore, Upgraded};
use quita_stored_form::form::{Found, MetForm, PROGRAM, known, too_new, upgraded};
use quita_stored_form::{signed_limit, unsigned};
use rusqlite::{Connection, OptionalExtension, Transaction};
use uuid::Uuid;

use super::EmbeddedStore;
use super::archive::of_archive;
use super::failure::Failure;

const NUMBER: &str = "PRAGMA user_version";
const IS_UPGRADING: &str = "SELECT EXISTS (SELECT 1 FROM stored_form WHERE up_to IS NOT NULL)";
const HAS_TABLE: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'stored_form')";
const BROUGHT_BY: &str = "INSERT INTO stored_form (id, program, up_to, until) VALUES (1, ?1, ?2, ?3) \
    ON CONFLICT (id) DO UPDATE SET program = excluded.program, up_to = excluded.up_to, until = excluded.until";

/// Returns the number of the form in which a file is stored; 0 if nothing was ever created in it.
pub(super) fn number_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached(NUMBER)?.query_row([], |row| row.get(0))
}

/// Returns the form of a file that has a number.
pub(super) fn found_in(connection: &Connection) -> rusqlite::Result<Found> {
    let number = number_of(connection)?;
    let mut found = Found { number, program: None, is_upgrading: false };
    if connection.query_row(HAS_TABLE, [], |row| row.get(0))? {
        found.is_upgrading = connection.query_row(IS_UPGRADING, [], |row| row.get(0))?;
        let program = connection.query_row("SELECT program FROM stored_form", [], |row| row.get(0));
        found.program = program.optional()?;
    }
    Ok(found)
}

/// Records that this program brought the whole file into its form.
pub(super) fn note_whole(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(BROUGHT_BY, (PROGRAM, None::<i64>, None::<i64>)).map(drop)
}

/// More rows than a file can hold; the archive's rows are numbered from here on.
const EVERY_ROW: i64 = i64::MAX >> 1;

/// Restarts an upgrade that was under way in a copy, because the copy numbers its rows differently.
pub(super) fn begin_anew(copy: &Connection) -> rusqlite::Result<()> {
    if copy.query_row(HAS_TABLE, [], |row| row.get(0))? {
        let anew = "UPDATE stored_form SET up_to = 0, until = ?1 WHERE up_to IS NOT NULL";
        copy.execute(anew, [EVERY_ROW])?;
    }
    Ok(())
}

/// Reads the number within a write transaction. Nobody can change it before the transaction ends.
///
/// # Errors
/// [`StoreError::Broken`] if another program upgraded the file to a form that this one does not know.
pub(super) fn meet(form: &MetForm, transaction: &Transaction<'_>) -> Result<(), Failure> {
    let number = number_of(transaction)?;
    if number == form.number() {
        return Ok(());
    }
    let found = found_in(transaction)?;
    form.note(found.form());
    // Refused under the write lock: no upgrade can come between this check and the write.
    if number > known() {
        let program = found.program.unwrap_or_default();
        return Err(StoreError::Broken(too_new(number, &program)).into());
    }
    Ok(())
}

impl EmbeddedStore {
    /// Reads the form as it is now.
    pub(super) async fn read_form(&self) -> Result<StoreForm, StoreError> {
        let form = self.read(|transaction| Ok(found_in(transaction)?.form())).await?;
        self.trust.form().note(form);
        Ok(form)
    }
}

const PROGRESS: &str = "SELECT up_to, until FROM stored_form WHERE id = 1 AND up_to IS NOT NULL";
const ADVANCE: &str = "UPDATE stored_form SET up_to = ?1 WHERE id = 1";
const NEXT: &str =
    "SELECT rowid, payment, id FROM payments WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid LIMIT ?3";
const REWRITE: &str = "UPDATE payments SET payment = ?2 WHERE rowid = ?1";
// An estimate: archived payments leave gaps, and counting would read the whole table. Beyond `until` the archive
// begins.
const LEFT: &str = "SELECT max(0, min(coalesce(max(rowid), 0), ?2) - ?1) FROM payments";
const LEFT_IN_ARCHIVE: &str = "SELECT max(0, coalesce(max(rowid), 0) - ?1) FROM archived_payments";

#[async_trait]
impl UpgradeStore for EmbeddedStore {
    async fn left_to_upgrade(&self) -> Result<u64, StoreError> {
        self.read(|transaction| {
            let is_older = number_of(transaction)? < known();
            let bounds = if is_older { Some((0, EVERY_ROW)) } else { progress(transaction)? };
            let Some((up_to, until)) = bounds else { return Ok(0) };
            let here: i64 = transaction.query_row(LEFT, [up_to, until], |row| row.get(0))?;
            let read_there = up_to.saturating_sub(until).max(0);
            let there: i64 = transaction.query_row(LEFT_IN_ARCHIVE, [read_there], |row| row.get(0))?;
            Ok(unsigned(here.saturating_add(there)))
        })
        .await
    }

    async fn announce_form(&self) -> Result<(), StoreError> {
        self.write(|transaction| {
            if number_of(transaction)? == known() {
                return Ok(());
            }
            // Rows that are inserted from now on are in the new form.
            let until = "SELECT coalesce(max(rowid), 0) FROM payments";
            let until: i64 = transaction.query_row(until, [], |row| row.get(0))?;
            // Bound and number change in one transaction, so no payment in the old form is beyond the bound.
            transaction.execute(BROUGHT_BY, (PROGRAM, 0, until))?;
            Ok(transaction.pragma_update(None, "user_version", known())?)
        })
        .await?;
        self.read_form().await.map(drop)
    }

    /// Does nothing: every program reads the number in each of its writes.
    async fn refuse_older_forms(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn upgrade_some(&self, limit: usize) -> Result<Upgraded, StoreError> {
        let upgraded = self.write(move |transaction| upgrade_step(transaction, limit)).await?;
        if upgraded.is_done {
            self.read_form().await?;
        }
        Ok(upgraded)
    }
}

/// Returns the rowids between which payments are still to be upgraded; `None` if no upgrade is under way.
fn progress(transaction: &Transaction<'_>) -> rusqlite::Result<Option<(i64, i64)>> {
    transaction.query_row(PROGRESS, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

fn payment_id(bytes: &[u8]) -> String {
    Uuid::from_slice(bytes).map_or_else(|_| String::from("one without an id"), |id| id.to_string())
}

/// Upgrades the next payments, and then those of the archive, whose rowids continue after the last one of the payments.
fn upgrade_step(transaction: &Transaction<'_>, limit: usize) -> Result<Upgraded, Failure> {
    let mut step = Upgraded::default();
    let Some((up_to, until)) = progress(transaction)? else {
        return Ok(Upgraded { is_done: true, ..step });
    };
    let whole = unsigned(signed_limit(limit));
    if up_to < until {
        let statements = TableStatements { next: NEXT, rewrite: REWRITE };
        let last = rewrite(transaction, &mut step, statements, up_to, until, limit)?;
        if step.read < whole {
            // Payments that are archived meanwhile are found there.
            transaction.execute(ADVANCE, [until])?;
        } else {
            transaction.execute(ADVANCE, [last])?;
        }
        return Ok(step);
    }
    let statements = TableStatements { next: &of_archive(NEXT), rewrite: &of_archive(REWRITE) };
    let read_there = up_to.saturating_sub(until);
    let last = rewrite(transaction, &mut step, statements, read_there, i64::MAX, limit)?;
    if step.read < whole {
        note_whole(transaction)?;
        step.is_done = true;
    } else {
        transaction.execute(ADVANCE, [until.saturating_add(last)])?;
    }
    Ok(step)
}

/// Statements about one table of payments.
struct TableStatements<'a> {
    /// Reads the payments between two rowids.
    next: &'a str,
    /// Replaces the document of one payment.
    rewrite: &'a str,
}

/// Rewrites the next payments of one table, and returns the rowid of the last one.
fn rewrite(
    transaction: &Transaction<'_>,
    step: &mut Upgraded,
    statements: TableStatements<'_>,
    mut up_to: i64,
    until: i64,
    limit: usize,
) -> Result<i64, Failure> {
    let mut statement = transaction.prepare_cached(statements.next)?;
    let rows = statement.query_map((up_to, until, signed_limit(limit)), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?))
    })?;
    for row in rows {
        let (rowid, document, id) = row?;
        match upgraded(&document) {
            Ok(Some(next)) => {
                transaction.prepare_cached(statements.rewrite)?.execute((rowid, next.as_bytes()))?;
                step.rewritten = step.rewritten.saturating_add(1);
            }
            Ok(None) => {}
            // A damaged payment is reported and skipped: it must not keep all later payments in the old form.
            Err(_) => step.unreadable.push(payment_id(&id)),
        }
        step.read = step.read.saturating_add(1);
        up_to = rowid;
    }
    Ok(up_to)
}

#[cfg(test)]
mod tests {
    use quita_ports::{OperatorStore, PaymentStore};

    use super::*;
    use crate::SoleWriterError;

    #[tokio::test]
    async fn a_program_that_wakes_up_after_an_upgrade_writes_nothing_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let asleep = EmbeddedStore::open_sole_writer(&path).unwrap();
        assert!(!asleep.form().is_too_new());
        let newer = known() + 1;
        let upgrade = Connection::open(&path).unwrap();
        upgrade.execute(BROUGHT_BY, ("9.1.0", 0, 7)).unwrap();
        upgrade.pragma_update(None, "user_version", newer).unwrap();
        let Err(StoreError::Broken(why)) = asleep.write(|_| Ok(())).await else { panic!("it writes") };
        assert!(why.contains("install Quita 9.1.0 or newer"), "{why}");
        assert!(asleep.form().is_too_new() && asleep.form().is_upgrading);
        assert!(matches!(asleep.write(|_| Ok(())).await, Err(StoreError::Broken(_))), "never again");
        assert_eq!(asleep.load(&[]).await, Ok(Vec::new()), "reading harms nobody");
        let Err(StoreError::Unreadable(why)) = EmbeddedStore::open(&path) else { panic!("it is opened") };
        assert!(why.contains(&format!("has number {newer}")), "{why}");
    }

    #[tokio::test]
    async fn an_upgrade_is_noticed_without_a_write_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let store = EmbeddedStore::open_sole_writer(&path).unwrap();
        Connection::open(&path).unwrap().pragma_update(None, "user_version", known() + 1).unwrap();
        assert!(!store.form().is_too_new(), "not looked at yet");
        assert!(store.follow_form().await.unwrap().is_too_new());
    }

    #[tokio::test]
    async fn a_file_from_before_the_first_release_is_refused_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        drop(EmbeddedStore::open_sole_writer(&path).unwrap());
        let file = Connection::open(&path).unwrap();
        file.execute_batch("DROP TABLE stored_form").unwrap();
        for number in [6, 1, 0] {
            file.pragma_update(None, "user_version", number).unwrap();
            let beside = EmbeddedStore::open(&path).map_err(SoleWriterError::from);
            for opened in [beside, EmbeddedStore::open_sole_writer(&path)] {
                let Err(SoleWriterError::Store(StoreError::Unreadable(why))) = opened else {
                    panic!("{number} is opened")
                };
                assert!(why.contains("of before the first release"), "{why}");
            }
            assert_eq!(number_of(&file), Ok(number));
            assert_eq!(found_in(&file).map(|found| found.program), Ok(None));
        }
    }
}
