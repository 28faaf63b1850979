//! Exceptions, which need a person.

use async_trait::async_trait;
use quita_domain::exception::Exception;
use quita_ports::{ExceptionStore, StoreError};

use super::EmbeddedStore;
use super::reading::find_all;
use quita_stored_form::{encode, signed_limit};

#[async_trait]
impl ExceptionStore for EmbeddedStore {
    async fn put_exception(&self, exception: &Exception) -> Result<bool, StoreError> {
        let row = (exception.id.clone(), exception.reported_at.millis(), encode(exception)?);
        self.write(move |transaction| {
            let sql = "INSERT INTO exceptions (id, reported_at, exception) VALUES (?1, ?2, ?3) \
                ON CONFLICT (id) DO NOTHING";
            let id = row.0.clone();
            if transaction.prepare_cached(sql)?.execute(row)? > 0 {
                return Ok(true);
            }
            let sql = "SELECT resolved_at IS NULL FROM exceptions WHERE id = ?1";
            Ok(transaction.prepare_cached(sql)?.query_row([id], |found| found.get(0))?)
        })
        .await
    }

    async fn exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        self.read(move |transaction| {
            let sql = "SELECT id, exception FROM exceptions WHERE resolved_at IS NULL \
                ORDER BY reported_at DESC, id DESC LIMIT ?1";
            find_all(transaction, sql, [signed_limit(limit)], "exception")
        })
        .await
    }
}
