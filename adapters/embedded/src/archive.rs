//! The archive: a second table of payments, with the same columns and indexes.
//!
//! A move is one transaction, and every query reads both tables in one transaction. So a payment is always in exactly
//! one of them.

use std::cell::RefCell;

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{ArchiveStore, Listed, StoreError};
use rusqlite::{Connection, Params, Row, Transaction};
use uuid::Uuid;

use super::EmbeddedStore;
use super::failure::Failure;
use super::payments::{StoredPayment, read_payment};
use quita_stored_form::turns::Lister;
use quita_stored_form::{listed, signed, signed_limit, unsigned};

/// Every column of a payment.
pub(super) const COLUMNS: &str = "id, revision, last_op, merchant, mode, method, document, email, \
    external_reference, link, card, created_at, amount, due_on, status, paid_at, due_at, outbox_at, outbox_to, \
    delivery_states, our_number, document_number, rests_since, used_token, payment";

const LEAVE: &str = "DELETE FROM payments WHERE id = ?1";

/// Payments that were created until some time, oldest first.
const UNARCHIVED: &str = "SELECT id, created_at, payment FROM payments INDEXED BY payments_newest \
    WHERE merchant = ?1 AND mode = ?2 AND created_at <= ?3 AND (created_at, id) > (?4, ?5) \
    ORDER BY created_at, id LIMIT ?6";

const HAS_ID: &str = "SELECT EXISTS (SELECT 1 FROM archived_payments WHERE id = ?1)";
const HAS_TOKEN: &str = "SELECT EXISTS (SELECT 1 FROM archived_payments WHERE used_token = ?1)";

const MADE_BY: &str =
    "SELECT sql FROM sqlite_schema WHERE tbl_name = 'payments' AND sql IS NOT NULL ORDER BY type = 'index'";

/// Returns the same statement for the archive. The word occurs only in the names of the table and its parts.
pub(super) fn of_archive(sql: &str) -> String {
    sql.replace("payments", "archived_payments")
}

/// Creates a table and indexes like those of the payments. Existing ones stay.
pub(super) fn make(connection: &Connection) -> rusqlite::Result<()> {
    let made: Vec<String> = {
        let mut statement = connection.prepare(MADE_BY)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    for sql in made {
        let sql = of_archive(&sql);
        let sql = ["TABLE", "UNIQUE INDEX", "INDEX"].into_iter().find_map(|kind| {
            let rest = sql.strip_prefix("CREATE ")?.strip_prefix(kind)?;
            Some(format!("CREATE {kind} IF NOT EXISTS{rest}"))
        });
        connection.execute_batch(&sql.unwrap_or_default())?;
    }
    Ok(())
}

/// Returns true if an archived payment has this id.
pub(super) fn has_id(transaction: &Transaction<'_>, id: Uuid) -> rusqlite::Result<bool> {
    transaction.prepare_cached(HAS_ID)?.query_row([id.as_bytes()], |row| row.get(0))
}

/// Returns true if an archived payment has used this token.
pub(super) fn has_token(transaction: &Transaction<'_>, token: &str) -> rusqlite::Result<bool> {
    transaction.prepare_cached(HAS_TOKEN)?.query_row([token], |row| row.get(0))
}

/// Reads the rows of a query from both tables of payments. Each part has the order and the limit of the query.
pub(super) fn read_both<T>(
    transaction: &Transaction<'_>,
    sql: &str,
    bounds: impl Params + Clone,
    read: impl FnMut(&Row<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let read = RefCell::new(read);
    let mut found = Vec::new();
    for sql in [sql, &of_archive(sql)] {
        let mut statement = transaction.prepare_cached(sql)?;
        let mut rows = statement.query(bounds.clone())?;
        while let Some(row) = rows.next()? {
            found.push((read.borrow_mut())(row)?);
        }
    }
    Ok(found)
}

#[async_trait]
impl ArchiveStore for EmbeddedStore {
    async fn unarchived(
        &self,
        payee: &(MerchantId, Mode),
        until: Timestamp,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let (merchant, mode) = payee.clone();
        self.list(Lister::Operators, move |transaction| {
            let (at, id) = after.map_or((i64::MIN, Vec::new()), |place| {
                (place.created_at.millis(), place.id.uuid().as_bytes().to_vec())
            });
            let bounds = (merchant.as_str(), mode.as_str(), until.millis(), at, id, signed_limit(limit));
            let mut statement = transaction.prepare_cached(UNARCHIVED)?;
            let rows = statement.query_map(bounds, |row| {
                let stored = StoredPayment { id: Uuid::from_bytes(row.get(0)?), document: row.get(2)? };
                Ok((stored, row.get(1)?))
            })?;
            rows.map(|row| {
                let (stored, created_at) = row?;
                let place = Cursor {
                    created_at: Timestamp::from_millis(created_at),
                    id: TransactionId::new(stored.id),
                };
                Ok(listed(read_payment(&stored), place))
            })
            .collect()
        })
        .await
    }

    async fn archive(&self, payments: &[Payment]) -> Result<u64, StoreError> {
        let as_given: Vec<_> =
            payments.iter().map(|payment| (payment.id.uuid(), signed(payment.revision))).collect();
        self.write(move |transaction| {
            let copy = format!(
                "INSERT INTO archived_payments ({COLUMNS}) SELECT {COLUMNS} FROM payments WHERE id = ?1 AND revision = ?2"
            );
            let mut moved = 0_u64;
            for (id, revision) in as_given {
                if transaction.prepare_cached(&copy)?.execute((id.as_bytes(), revision))? == 1 {
                    // Deleted only if the copy was made, which requires the revision that was found finished.
                    transaction.prepare_cached(LEAVE)?.execute([id.as_bytes()])?;
                    moved = moved.saturating_add(1);
                }
            }
            Ok(moved)
        })
        .await
    }

    /// Does nothing: no move is ever left half done.
    async fn complete_archiving(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn count_archived(&self) -> Result<u64, StoreError> {
        // Nothing leaves the archive, so its rowids have no gaps.
        let sql = "SELECT coalesce(max(rowid), 0) FROM archived_payments";
        self.read(move |transaction| Ok(unsigned(transaction.query_row(sql, [], |row| row.get(0))?))).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::plan;
    use super::*;

    #[test]
    fn what_is_not_archived_is_found_along_an_index_and_nothing_is_sorted() {
        let bounds = ("loja", "test", 9, 1, vec![0_u8; 16], 10);
        plan::check(UNARCHIVED, bounds, "payments_newest (merchant=? AND mode=?");
    }

    #[test]
    fn the_archive_has_the_columns_and_indexes_of_the_payments() {
        let folder = tempfile::tempdir().unwrap();
        let file = super::super::open::writer(&folder.path().join("quita.db")).unwrap().connection;
        let names = |sql: &str| -> Vec<String> {
            let mut statement = file.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let columns = names("SELECT name FROM pragma_table_info('payments') ORDER BY name");
        assert_eq!(names("SELECT name FROM pragma_table_info('archived_payments') ORDER BY name"), columns);
        let mut listed: Vec<_> = COLUMNS.split(',').map(|name| name.trim().to_owned()).collect();
        listed.sort_unstable();
        assert_eq!(listed, columns, "a move leaves no column behind");
        let indexes = names("SELECT name FROM pragma_index_list('payments') ORDER BY name");
        let archived = names("SELECT name FROM pragma_index_list('archived_payments') ORDER BY name");
        assert_eq!(archived, indexes.iter().map(|name| of_archive(name)).collect::<Vec<_>>());
        make(&file).unwrap();
    }
}
