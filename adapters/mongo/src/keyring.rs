//! Applications and keys as their merchant manages them.

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use mongodb::options::FindOptions;
use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::{KeyringStore, StoreError};

use super::access::read_key;
use super::failure::within_time;
use super::indexes::{API_KEYS, APPLICATIONS, BY_ID, KEY_MERCHANT, OF_MERCHANT, named};
use super::reading::{find_all, value_in};
use super::{MongoStore, batch};

/// Uses that one command records.
const USES_AT_ONCE: usize = 1_000;

#[async_trait]
impl KeyringStore for MongoStore {
    async fn applications(&self, merchant: &MerchantId) -> Result<Vec<Application>, StoreError> {
        let named_so = |name: Bson| doc! { "merchant": merchant.as_str(), "name": name };
        let filter = doc! { "_id": { "$gt": named_so(Bson::MinKey), "$lt": named_so(Bson::MaxKey) } };
        let options = FindOptions::builder().sort(doc! { "_id": 1 }).hint(named(BY_ID)).build();
        let read = |found: &_| value_in(found, "application");
        find_all(&self.collection(APPLICATIONS), filter, options, read).await
    }

    async fn keys_of(&self, merchant: &MerchantId) -> Result<Vec<ApiKey>, StoreError> {
        let oldest_first = doc! { "createdAt": 1, "_id": 1 };
        let options = FindOptions::builder().sort(oldest_first).hint(named(OF_MERCHANT)).build();
        let filter = doc! { KEY_MERCHANT: merchant.as_str() };
        find_all(&self.collection(API_KEYS), filter, options, read_key).await
    }

    async fn limit_key(&self, id: &str, until: Timestamp) -> Result<bool, StoreError> {
        let change =
            vec![doc! { "$set": { "apiKey.expiresAt": { "$min": ["$apiKey.expiresAt", until.millis()] } } }];
        let limited =
            within_time(self.collection(API_KEYS).update_one(doc! { "_id": id }, self.form.with(change)))
                .await?;
        Ok(limited.matched_count == 1)
    }

    async fn expose_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        // Only the first exposure is recorded: a browser that repeats the request must not fill the audit log.
        let filter = doc! { "_id": id, "apiKey.exposedAt": null };
        let change = doc! { "$set": { "apiKey.exposedAt": at.millis() } };
        let exposed =
            within_time(self.collection(API_KEYS).update_one(filter, self.form.with(change))).await?;
        Ok(exposed.matched_count == 1)
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        let note = |(id, at): &(String, Timestamp)| self.note_use(id, *at);
        let command = |part: &[_]| batch::update(API_KEYS, part.iter().map(note).collect());
        for part in uses.chunks(USES_AT_ONCE) {
            batch::run_loose(&self.database, part, command).await?;
        }
        Ok(())
    }
}

impl MongoStore {
    fn note_use(&self, id: &str, at: Timestamp) -> Document {
        // Nodes report uses late and in any order, and a time of last use must not move back.
        let last = doc! { "$max": ["$apiKey.lastUsedAt", at.millis()] };
        let change = vec![doc! { "$set": { "apiKey.lastUsedAt": last } }];
        doc! { "q": { "_id": id }, "u": self.form.with(change) }
    }
}
