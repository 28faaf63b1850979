//! The secret key that the store works with, and all sealed values.

use async_trait::async_trait;
use bson::{Document, doc};
use mongodb::options::FindOptions;
use quita_domain::access::Application;
use quita_domain::secret_key::{KeyRecord, SealedSecret};
use quita_ports::{ApplicationPlace, ArchiveStore, SecretKeyStore, StoreError};
use serde::Serialize;

use super::MongoStore;
use super::access::application_id;
use super::failure::within_time;
use super::indexes::{APPLICATIONS, BY_ID, SECRET_KEYS, named};
use super::reading::{find_all, value_in};
use quita_stored_form::{AsDocument, signed_limit};

/// The id of the only record.
const ID: &str = "record";

/// The id of the key of the audit log.
const AUDIT_KEY: &str = "audit";

/// Key of the audit log, as it is stored.
#[derive(Serialize)]
struct StoredAuditKey<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    sealed: AsDocument<'a, SealedSecret>,
}

/// The record as it is stored.
#[derive(Serialize)]
struct StoredRecord<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    revision: i64,
    record: AsDocument<'a, KeyRecord>,
}

#[async_trait]
impl SecretKeyStore for MongoStore {
    async fn key_record(&self) -> Result<Option<KeyRecord>, StoreError> {
        Ok(self.find_record().await?.map(|(record, _)| record))
    }

    async fn replace_key_record(
        &self,
        before: Option<&KeyRecord>,
        after: &KeyRecord,
    ) -> Result<bool, StoreError> {
        let Some(before) = before else {
            let first = StoredRecord { id: ID, revision: 1, record: AsDocument(after) };
            return self.insert_one(SECRET_KEYS, &first).await;
        };
        let found = self.find_record().await?;
        let Some((_, revision)) = found.filter(|(record, _)| record == before) else { return Ok(false) };
        let next = StoredRecord { id: ID, revision: revision.saturating_add(1), record: AsDocument(after) };
        let guard = doc! { "_id": ID, "revision": revision };
        self.replace_guarded(SECRET_KEYS, guard, &next).await
    }

    async fn audit_key(&self) -> Result<Option<SealedSecret>, StoreError> {
        let found = within_time(self.collection(SECRET_KEYS).find_one(doc! { "_id": AUDIT_KEY })).await?;
        found.map(|found| value_in(&found, "sealed")).transpose()
    }

    async fn replace_audit_key(
        &self,
        before: Option<&SealedSecret>,
        after: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let next = StoredAuditKey { id: AUDIT_KEY, sealed: AsDocument(after) };
        let Some(before) = before else {
            return self.insert_one(SECRET_KEYS, &next).await;
        };
        // Sealing never gives the same text twice: each sealing has its own nonce.
        let guard =
            doc! { "_id": AUDIT_KEY, "sealed.text": &before.text, "sealed.key": before.key.to_string() };
        self.replace_guarded(SECRET_KEYS, guard, &next).await
    }

    async fn applications_after(
        &self,
        after: Option<&ApplicationPlace>,
        limit: usize,
    ) -> Result<Vec<Application>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let after = after.map(|(merchant, name)| doc! { "_id": { "$gt": application_id(merchant, name) } });
        let options = FindOptions::builder().sort(doc! { "_id": 1 }).limit(signed_limit(limit));
        let options = options.hint(named(BY_ID)).build();
        let read = |found: &_| value_in(found, "application");
        find_all(&self.collection(APPLICATIONS), after.unwrap_or_default(), options, read).await
    }

    /// Empties copies of payments that interrupted moves to the archive have left. Apart from this, the server
    /// overwrites data when it chooses. Its oplog and journal keep earlier data for a while.
    async fn forget_replaced(&self) -> Result<(), StoreError> {
        self.complete_archiving().await
    }
}

impl MongoStore {
    /// Returns the record and the guard of its next write.
    async fn find_record(&self) -> Result<Option<(KeyRecord, i64)>, StoreError> {
        let id: Document = doc! { "_id": ID };
        let Some(found) = within_time(self.collection(SECRET_KEYS).find_one(id)).await? else {
            return Ok(None);
        };
        let unguarded = |_| StoreError::Unreadable("the record of secret keys has no revision".into());
        let revision = found.get_i64("revision").map_err(unguarded)?;
        Ok(Some((value_in(&found, "record")?, revision)))
    }
}
