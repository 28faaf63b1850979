//! Applications and API keys.

use async_trait::async_trait;
use bson::{Document, RawDocument, doc};
use mongodb::options::FindOptions;
use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::time::Timestamp;
use quita_ports::{AccessStore, StoreError};
use serde::Serialize;

use super::MongoStore;
use super::failure::within_time;
use super::indexes::{API_KEYS, APPLICATIONS, OLDEST, named};
use super::reading::{find_all, value_in};
use quita_stored_form::AsDocument;
use quita_stored_form::rules::key_exists;

/// An application as it is stored.
#[derive(Serialize)]
struct StoredApplication<'a> {
    #[serde(rename = "_id")]
    id: Document,
    revision: i64,
    application: AsDocument<'a, Application>,
}

/// A key as it is stored.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredKey<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    created_at: i64,
    api_key: AsDocument<'a, ApiKey>,
}

#[async_trait]
impl AccessStore for MongoStore {
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError> {
        Ok(self.find_application(merchant, name).await?.map(|(application, _)| application))
    }

    async fn insert_application(&self, application: &Application) -> Result<bool, StoreError> {
        let id = application_id(&application.merchant, &application.name);
        let stored = StoredApplication { id, revision: 1, application: AsDocument(application) };
        self.insert_one(APPLICATIONS, &stored).await
    }

    async fn replace_application(
        &self,
        before: &Application,
        after: &Application,
    ) -> Result<bool, StoreError> {
        let found = self.find_application(&before.merchant, &before.name).await?;
        let Some((_, revision)) = found.filter(|(application, _)| application == before) else {
            return Ok(false);
        };
        let id = application_id(&before.merchant, &before.name);
        let next =
            StoredApplication { id, revision: revision.saturating_add(1), application: AsDocument(after) };
        let guard = doc! { "_id": application_id(&before.merchant, &before.name), "revision": revision };
        self.replace_guarded(APPLICATIONS, guard, &next).await
    }

    async fn insert_key(&self, key: &ApiKey) -> Result<(), StoreError> {
        let stored = StoredKey { id: &key.id, created_at: key.created_at.millis(), api_key: AsDocument(key) };
        if self.insert_one(API_KEYS, &stored).await? { Ok(()) } else { Err(key_exists(&key.id)) }
    }

    async fn key(&self, id: &str) -> Result<Option<ApiKey>, StoreError> {
        let found = within_time(self.collection(API_KEYS).find_one(doc! { "_id": id })).await?;
        found.map(|found| read_key(&found)).transpose()
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        let oldest_first = doc! { "createdAt": 1, "_id": 1 };
        let options = FindOptions::builder().sort(oldest_first).hint(named(OLDEST)).build();
        find_all(&self.collection(API_KEYS), doc! {}, options, read_key).await
    }

    async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        // A repeated revocation keeps the first time, which the audit log has.
        let first = doc! { "$ifNull": ["$apiKey.revokedAt", now.millis()] };
        let change = vec![doc! { "$set": { "apiKey.revokedAt": first } }];
        let revoked =
            within_time(self.collection(API_KEYS).update_one(doc! { "_id": id }, self.form.with(change)))
                .await?;
        Ok(revoked.matched_count == 1)
    }
}

impl MongoStore {
    /// Returns the application and the guard of its next write.
    async fn find_application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<(Application, i64)>, StoreError> {
        let id = doc! { "_id": application_id(merchant, name) };
        let Some(found) = within_time(self.collection(APPLICATIONS).find_one(id)).await? else {
            return Ok(None);
        };
        let unguarded =
            |_| StoreError::Unreadable(format!("application {name} of {merchant} has no revision"));
        let revision = found.get_i64("revision").map_err(unguarded)?;
        Ok(Some((value_in(&found, "application")?, revision)))
    }
}

pub(super) fn application_id(merchant: &MerchantId, name: &ApplicationName) -> Document {
    doc! { "merchant": merchant.as_str(), "name": name.as_str() }
}

pub(super) fn read_key(found: &RawDocument) -> Result<ApiKey, StoreError> {
    value_in(found, "apiKey")
}
