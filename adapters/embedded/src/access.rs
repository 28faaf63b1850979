//! Applications and API keys.

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::time::Timestamp;
use quita_ports::{AccessStore, StoreError};
use rusqlite::Transaction;

use super::EmbeddedStore;
use super::failure::Failure;
use super::reading::{find_all, find_one};
use quita_stored_form::encode;

#[async_trait]
impl AccessStore for EmbeddedStore {
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError> {
        let merchant = merchant.clone();
        let name = name.clone();
        self.read(move |transaction| find_application(transaction, &merchant, &name)).await
    }

    async fn insert_application(&self, application: &Application) -> Result<bool, StoreError> {
        let document = encode(application)?;
        let merchant = application.merchant.clone();
        let name = application.name.clone();
        self.write(move |transaction| {
            let sql = "INSERT INTO applications (merchant, name, application) VALUES (?1, ?2, ?3) \
                ON CONFLICT (merchant, name) DO NOTHING";
            let mut insert = transaction.prepare_cached(sql)?;
            Ok(insert.execute((merchant.as_str(), name.as_str(), document))? == 1)
        })
        .await
    }

    async fn replace_application(
        &self,
        before: &Application,
        after: &Application,
    ) -> Result<bool, StoreError> {
        let before = before.clone();
        let document = encode(after)?;
        self.write(move |transaction| {
            let merchant = &before.merchant;
            let name = &before.name;
            // Compared in the transaction that writes, because the command line may change the application at the same
            // time.
            if find_application(transaction, merchant, name)?.as_ref() != Some(&before) {
                return Ok(false);
            }
            let sql = "UPDATE applications SET application = ?3 WHERE merchant = ?1 AND name = ?2";
            let mut update = transaction.prepare_cached(sql)?;
            Ok(update.execute((merchant.as_str(), name.as_str(), document))? == 1)
        })
        .await
    }

    async fn insert_key(&self, key: &ApiKey) -> Result<(), StoreError> {
        let (key, document) = (key.clone(), encode(key)?);
        self.write(move |transaction| {
            let sql = "INSERT INTO api_keys (id, merchant, created_at, api_key) VALUES (?1, ?2, ?3, ?4) \
                ON CONFLICT (id) DO NOTHING";
            let row = (&key.id, key.owner.merchant.as_str(), key.created_at.millis(), document);
            match transaction.prepare_cached(sql)?.execute(row)? {
                0 => Err(quita_stored_form::rules::key_exists(&key.id).into()),
                _ => Ok(()),
            }
        })
        .await
    }

    async fn key(&self, id: &str) -> Result<Option<ApiKey>, StoreError> {
        let id = id.to_owned();
        self.read(move |transaction| find_key(transaction, &id)).await
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        self.read(|transaction| {
            let sql = "SELECT id, api_key FROM api_keys ORDER BY created_at, id";
            find_all(transaction, sql, [], "API key")
        })
        .await
    }

    async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let Some(mut key) = find_key(transaction, &id)? else { return Ok(false) };
            // A repeated revocation keeps the first time, which the audit log has.
            if key.revoked_at.is_none() {
                key.revoked_at = Some(now);
                put_key(transaction, &key)?;
            }
            Ok(true)
        })
        .await
    }
}

fn find_application(
    transaction: &Transaction<'_>,
    merchant: &MerchantId,
    name: &ApplicationName,
) -> Result<Option<Application>, Failure> {
    let sql = "SELECT name || ' of ' || merchant, application FROM applications \
        WHERE merchant = ?1 AND name = ?2";
    find_one(transaction, sql, (merchant.as_str(), name.as_str()), "application")
}

pub(super) fn find_key(transaction: &Transaction<'_>, id: &str) -> Result<Option<ApiKey>, Failure> {
    find_one(transaction, "SELECT id, api_key FROM api_keys WHERE id = ?1", [id], "API key")
}

/// Stores a key, replacing the one with its id.
pub(super) fn put_key(transaction: &Transaction<'_>, key: &ApiKey) -> Result<(), Failure> {
    let mut update = transaction.prepare_cached("UPDATE api_keys SET api_key = ?2 WHERE id = ?1")?;
    update.execute((&key.id, encode(key)?))?;
    Ok(())
}
