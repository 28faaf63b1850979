//! Erasure of payers, found by the time for which their payments have been at rest, and overwritten everywhere in the
//! file.

use async_trait::async_trait;
use quita_domain::identity::TransactionId;
use quita_domain::reconciliation::SlipNumber;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{ErasureStore, RestingPlace, StoreError};
use rusqlite::{Transaction, named_params};
use uuid::Uuid;

use super::EmbeddedStore;
use super::archive::{of_archive, read_both};
use quita_stored_form::PaymentRow;
use quita_stored_form::{merged, signed, signed_limit, unsigned};

const RESTING: &str = "SELECT rests_since, id FROM payments INDEXED BY payments_resting \
    WHERE status = ?1 AND rests_since IS NOT NULL AND rests_since <= ?2 AND (rests_since, id) > (?3, ?4) \
    ORDER BY rests_since, id LIMIT ?5";

const ERASED: &str = "SELECT number, payment FROM erasures WHERE number > ?1 ORDER BY number LIMIT ?2";

/// Removes the payer from the indexed columns, and records the erasure for processes that have the payment in memory.
/// This happens once, because its guard is that of the write that removes the payer from the document.
const UNLIST: &str = "UPDATE payments SET document = NULL, email = NULL, external_reference = :external_reference, \
    document_number = :document_number \
    WHERE id = :id AND revision = :expected AND document IS NOT NULL";

const NUMBER: &str = "INSERT INTO erasures (payment) VALUES (?1)";

/// Index samples of the query planner contain indexed values. There are none unless somebody ran `ANALYZE`.
const HAS_SAMPLES: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat4')";
const FORGET_SAMPLES: &str = "DELETE FROM sqlite_stat4 WHERE tbl IN ('payments', 'archived_payments')";

#[async_trait]
impl ErasureStore for EmbeddedStore {
    async fn resting(
        &self,
        status: Status,
        until: Timestamp,
        after: Option<RestingPlace>,
        limit: usize,
    ) -> Result<Vec<RestingPlace>, StoreError> {
        self.read(move |transaction| {
            let (since, id) =
                after.map_or((i64::MIN, Uuid::nil()), |place| (place.since.millis(), place.id.uuid()));
            let bounds = (status.as_str(), until.millis(), since, id.into_bytes(), signed_limit(limit));
            let found = read_both(transaction, RESTING, bounds, |row| {
                let since = Timestamp::from_millis(row.get(0)?);
                let id = Uuid::from_bytes(row.get(1)?);
                Ok(RestingPlace { since, id: TransactionId::new(id) })
            })?;
            Ok(merged(found, |place| *place, limit))
        })
        .await
    }

    async fn erased_after(&self, number: u64, limit: usize) -> Result<Vec<(u64, TransactionId)>, StoreError> {
        self.read(move |transaction| {
            let mut statement = transaction.prepare_cached(ERASED)?;
            let rows = statement.query_map((signed(number), signed_limit(limit)), |row| {
                Ok((unsigned(row.get(0)?), TransactionId::new(Uuid::from_bytes(row.get(1)?))))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn last_erasure(&self) -> Result<u64, StoreError> {
        self.read(|transaction| {
            let sql = "SELECT coalesce(max(number), 0) FROM erasures";
            Ok(unsigned(transaction.query_row(sql, [], |row| row.get(0))?))
        })
        .await
    }
}

/// Does the additional work of the first write of a payment after its payer was erased.
pub(super) fn note(
    transaction: &Transaction<'_>,
    row: &PaymentRow<'_>,
    expected_revision: u64,
) -> rusqlite::Result<()> {
    let unlist = |sql: &str| {
        transaction.prepare_cached(sql)?.execute(named_params! {
            ":id": row.id.as_bytes(), ":expected": signed(expected_revision),
            ":external_reference": row.external_reference,
            ":document_number": row.document_number.as_ref().map(SlipNumber::as_str),
        })
    };
    if unlist(UNLIST)? == 0 && unlist(&of_archive(UNLIST))? == 0 {
        return Ok(());
    }
    // The number is written together with the erasure: the service asks for new numbers and drops these payments from
    // its memory.
    transaction.prepare_cached(NUMBER)?.execute([row.id.as_bytes()])?;
    if transaction.prepare_cached(HAS_SAMPLES)?.query_row([], |row| row.get(0))? {
        // They are keys of indexes, among them documents and e-mail addresses of payers.
        transaction.execute(FORGET_SAMPLES, [])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::reading::plan;
    use super::*;

    #[test]
    fn payments_that_rest_are_found_along_an_index_of_those_alone() {
        let bounds = ("paid", 9, i64::MIN, vec![0_u8; 16], 10);
        plan::check(RESTING, bounds, "COVERING INDEX payments_resting (status=?");
    }
}
