//! Applications and keys as their merchant manages them.

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::{KeyringStore, StoreError};

use super::EmbeddedStore;
use super::access::{find_key, put_key};
use super::reading::find_all;

#[async_trait]
impl KeyringStore for EmbeddedStore {
    async fn applications(&self, merchant: &MerchantId) -> Result<Vec<Application>, StoreError> {
        let merchant = merchant.clone();
        self.read(move |transaction| {
            let sql = "SELECT name, application FROM applications WHERE merchant = ?1 ORDER BY name";
            find_all(transaction, sql, [merchant.as_str()], "application")
        })
        .await
    }

    async fn keys_of(&self, merchant: &MerchantId) -> Result<Vec<ApiKey>, StoreError> {
        let merchant = merchant.clone();
        self.read(move |transaction| {
            let sql = "SELECT id, api_key FROM api_keys WHERE merchant = ?1 ORDER BY created_at, id";
            find_all(transaction, sql, [merchant.as_str()], "API key")
        })
        .await
    }

    async fn limit_key(&self, id: &str, until: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let Some(mut key) = find_key(transaction, &id)? else { return Ok(false) };
            // The limit can only shorten a key's life: a key that expires earlier stays as it is.
            if key.expires_at.is_none_or(|at| at > until) {
                key.expires_at = Some(until);
                put_key(transaction, &key)?;
            }
            Ok(true)
        })
        .await
    }

    async fn expose_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let known = find_key(transaction, &id)?.filter(|key| key.exposed_at.is_none());
            let Some(mut key) = known else { return Ok(false) };
            key.exposed_at = Some(at);
            put_key(transaction, &key)?;
            Ok(true)
        })
        .await
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        let uses = uses.to_vec();
        self.write(move |transaction| {
            for (id, at) in uses {
                let Some(mut key) = find_key(transaction, &id)? else { continue };
                // Uses are stored late and in any order, and the time of last use must not move back.
                if key.last_used_at.is_none_or(|last| last < at) {
                    key.last_used_at = Some(at);
                    put_key(transaction, &key)?;
                }
            }
            Ok(())
        })
        .await
    }
}
