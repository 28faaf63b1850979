//! Applications and API keys.

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::time::Timestamp;
use quita_ports::{AccessStore, StoreError};
use rusqlite::{OptionalExtension, Transaction};

use super::EmbeddedStore;
use super::failure::Failure;
use crate::stored_form::{decode, encode};

#[async_trait]
impl AccessStore for EmbeddedStore {
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError> {
        let (merchant, name) = (merchant.clone(), name.clone());
        self.read(move |transaction| find_application(transaction, &merchant, &name)).await
    }

    async fn insert_application(&self, application: &Application) -> Result<bool, StoreError> {
        let document = encode(application)?;
        let (merchant, name) = (application.merchant.clone(), application.name.clone());
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
        let (before, document) = (before.clone(), encode(after)?);
        self.write(move |transaction| {
            let (merchant, name) = (&before.merchant, &before.name);
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
        let (id, row) = (key.id.clone(), (key.id.clone(), key.created_at.millis(), encode(key)?));
        self.write(move |transaction| {
            let sql = "INSERT INTO api_keys (id, created_at, api_key) VALUES (?1, ?2, ?3) \
                ON CONFLICT (id) DO NOTHING";
            match transaction.prepare_cached(sql)?.execute(row)? {
                0 => Err(crate::store_rules::key_exists(&id).into()),
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
            let mut statement = transaction.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut keys = Vec::new();
            while let Some(row) = rows.next()? {
                let (id, key): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
                keys.push(decode(&key, &format!("API key {id}"))?);
            }
            Ok(keys)
        })
        .await
    }

    async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let Some(mut key) = find_key(transaction, &id)? else { return Ok(false) };
            if key.revoked_at.is_none() {
                key.revoked_at = Some(now);
                let sql = "UPDATE api_keys SET api_key = ?2 WHERE id = ?1";
                transaction.prepare_cached(sql)?.execute((id, encode(&key)?))?;
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
    let sql = "SELECT application FROM applications WHERE merchant = ?1 AND name = ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    let names = (merchant.as_str(), name.as_str());
    let document: Option<Vec<u8>> = statement.query_row(names, |row| row.get(0)).optional()?;
    let what = || format!("application {name} of {merchant}");
    Ok(document.map(|document| decode(&document, &what())).transpose()?)
}

fn find_key(transaction: &Transaction<'_>, id: &str) -> Result<Option<ApiKey>, Failure> {
    let mut statement = transaction.prepare_cached("SELECT api_key FROM api_keys WHERE id = ?1")?;
    let document: Option<Vec<u8>> = statement.query_row([id], |row| row.get(0)).optional()?;
    Ok(document.map(|document| decode(&document, &format!("API key {id}"))).transpose()?)
}
