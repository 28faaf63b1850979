//! Applications and API keys.

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::time::Timestamp;
use quita_ports::{AccessStore, KeyringStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{first_by, insert_new, replace_same, taken};

#[async_trait]
impl<C: Connection> AccessStore for MemoryStore<C> {
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError> {
        let place = (merchant.clone(), name.clone());
        self.0.read("application", |records| Ok(records.applications.get(&place).cloned())).await
    }

    async fn insert_application(&self, application: &Application) -> Result<bool, StoreError> {
        let place = place(application);
        let new = application.clone();
        self.0
            .change("insert_application", |records| Ok(insert_new(&mut records.applications, place, new)))
            .await
    }

    async fn replace_application(
        &self,
        before: &Application,
        after: &Application,
    ) -> Result<bool, StoreError> {
        let place = place(before);
        self.0
            .change("replace_application", |records| {
                Ok(replace_same(&mut records.applications, &place, before, after))
            })
            .await
    }

    async fn insert_key(&self, key: &ApiKey) -> Result<(), StoreError> {
        self.0
            .change("insert_key", |records| {
                match insert_new(&mut records.keys, key.id.clone(), key.clone()) {
                    true => Ok(()),
                    false => Err(taken(&key.id)),
                }
            })
            .await
    }

    async fn key(&self, id: &str) -> Result<Option<ApiKey>, StoreError> {
        self.0.read("key", |records| Ok(records.keys.get(id).cloned())).await
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        self.0.read("keys", |records| Ok(oldest_first(records.keys.values()))).await
    }

    async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.0
            .change("revoke_key", |records| {
                let known = records.keys.get_mut(id);
                Ok(known.map(|known| known.revoked_at.get_or_insert(now)).is_some())
            })
            .await
    }
}

#[async_trait]
impl<C: Connection> KeyringStore for MemoryStore<C> {
    async fn applications(&self, merchant: &MerchantId) -> Result<Vec<Application>, StoreError> {
        self.0
            .read("applications", |records| {
                let of_merchant = records.applications.values().filter(|one| one.merchant == *merchant);
                Ok(of_merchant.cloned().collect())
            })
            .await
    }

    async fn keys_of(&self, merchant: &MerchantId) -> Result<Vec<ApiKey>, StoreError> {
        self.0
            .read("keys_of", |records| {
                Ok(oldest_first(records.keys.values().filter(|key| key.owner.merchant == *merchant)))
            })
            .await
    }

    async fn limit_key(&self, id: &str, until: Timestamp) -> Result<bool, StoreError> {
        self.0
            .change("limit_key", |records| {
                let Some(known) = records.keys.get_mut(id) else { return Ok(false) };
                known.expires_at = Some(known.expires_at.map_or(until, |at| at.min(until)));
                Ok(true)
            })
            .await
    }

    async fn expose_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.0
            .change("expose_key", |records| {
                let known = records.keys.get_mut(id).filter(|key| key.exposed_at.is_none());
                let Some(known) = known else { return Ok(false) };
                known.exposed_at = Some(at);
                Ok(true)
            })
            .await
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        self.0
            .change("note_key_uses", |records| {
                for (id, at) in uses {
                    if let Some(known) = records.keys.get_mut(id) {
                        known.last_used_at = known.last_used_at.max(Some(*at));
                    }
                }
                Ok(())
            })
            .await
    }
}

fn place(application: &Application) -> (MerchantId, ApplicationName) {
    (application.merchant.clone(), application.name.clone())
}

fn oldest_first<'a>(keys: impl Iterator<Item = &'a ApiKey>) -> Vec<ApiKey> {
    first_by(keys, |key| (key.created_at, key.id.clone()), usize::MAX)
}
