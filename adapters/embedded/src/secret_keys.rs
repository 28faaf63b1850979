//! The secret key that the store works with, and all sealed values.

use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::access::Application;
use quita_domain::secret_key::{KeyRecord, SealedSecret};
use quita_ports::{ApplicationPlace, SecretKeyStore, StoreError};
use rusqlite::{Connection, Transaction};

use super::EmbeddedStore;
use super::failure::Failure;
use super::reading::{find_all, find_one};
use quita_stored_form::{encode, signed_limit};

#[async_trait]
impl SecretKeyStore for EmbeddedStore {
    async fn key_record(&self) -> Result<Option<KeyRecord>, StoreError> {
        self.read(find_record).await
    }

    async fn replace_key_record(
        &self,
        before: Option<&KeyRecord>,
        after: &KeyRecord,
    ) -> Result<bool, StoreError> {
        let before = before.cloned();
        let document = encode(after)?;
        self.write(move |transaction| {
            if find_record(transaction)? != before {
                return Ok(false);
            }
            let sql = "INSERT INTO secret_keys (id, record) VALUES (1, ?1) \
                ON CONFLICT (id) DO UPDATE SET record = excluded.record";
            Ok(transaction.prepare_cached(sql)?.execute([document])? == 1)
        })
        .await
    }

    async fn audit_key(&self) -> Result<Option<SealedSecret>, StoreError> {
        self.read(find_audit_key).await
    }

    async fn replace_audit_key(
        &self,
        before: Option<&SealedSecret>,
        after: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let before = before.cloned();
        let document = encode(after)?;
        self.write(move |transaction| {
            if find_audit_key(transaction)? != before {
                return Ok(false);
            }
            let sql = "INSERT INTO audit_key (id, sealed) VALUES (1, ?1) \
                ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed";
            Ok(transaction.prepare_cached(sql)?.execute([document])? == 1)
        })
        .await
    }

    async fn applications_after(
        &self,
        after: Option<&ApplicationPlace>,
        limit: usize,
    ) -> Result<Vec<Application>, StoreError> {
        // Empty names belong to nobody, so this is before all of them.
        let (merchant, name) = after.map_or((String::new(), String::new()), |(merchant, name)| {
            (merchant.as_str().to_owned(), name.as_str().to_owned())
        });
        self.read(move |transaction| {
            let sql = "SELECT name || ' of ' || merchant, application FROM applications \
                WHERE (merchant, name) > (?1, ?2) ORDER BY merchant, name LIMIT ?3";
            find_all(transaction, sql, (merchant, name, signed_limit(limit)), "application")
        })
        .await
    }

    /// Empties the log. Each write overwrites what it replaces (`open.rs`), so only the log may still contain earlier
    /// data.
    async fn forget_replaced(&self) -> Result<(), StoreError> {
        let trust = Arc::clone(&self.trust);
        let empty = move |connection: &mut Connection| -> Result<bool, Failure> {
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            Ok(trust.alter_log(connection, |connection| connection.query_row(sql, [], |row| row.get(0)))?)
        };
        match self.writer.run(empty).await?? {
            false => Ok(()),
            true => Err(StoreError::Unavailable("others read the store, so its log is not emptied".into())),
        }
    }
}

fn find_record(transaction: &Transaction<'_>) -> Result<Option<KeyRecord>, Failure> {
    let sql = "SELECT 'of secret keys', record FROM secret_keys WHERE id = 1";
    find_one(transaction, sql, [], "the record")
}

fn find_audit_key(transaction: &Transaction<'_>) -> Result<Option<SealedSecret>, Failure> {
    let sql = "SELECT 'of the audit log', sealed FROM audit_key WHERE id = 1";
    find_one(transaction, sql, [], "the key")
}
