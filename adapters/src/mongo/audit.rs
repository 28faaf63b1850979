//! What people changed.

use async_trait::async_trait;
use bson::{Document, doc};
use mongodb::options::FindOptions;
use quita_domain::audit::{AuditCursor, AuditEntry, AuditScope};
use quita_ports::{AuditStore, StoreError};
use serde::Serialize;

use super::failure::within_time;
use super::indexes::{AUDIT, NEWEST, OF_MERCHANT, named};
use super::reading::{binary, find_all, value_in};
use super::{MongoStore, batch};
use crate::store_rules::entry_exists;
use crate::stored_form::signed_limit;

/// An entry as it is stored.
#[derive(Serialize)]
struct StoredEntry<'a> {
    #[serde(rename = "_id")]
    id: bson::Uuid,
    at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<&'a str>,
    entry: &'a AuditEntry,
}

#[async_trait]
impl AuditStore for MongoStore {
    async fn append_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let merchant = entry.merchant.as_ref().map(|merchant| merchant.as_str());
        let stored = StoredEntry { id: binary(entry.id), at: entry.at.millis(), merchant, entry };
        if batch::insert_one(&self.database, AUDIT, &stored).await? {
            return Ok(());
        }
        // There is one with this id: the same one, if somebody asks again because the answer was lost.
        let found = within_time(self.collection(AUDIT).find_one(doc! { "_id": stored.id })).await?;
        let found = found.map(|found| value_in::<AuditEntry>(&found, "entry")).transpose()?;
        if found.as_ref() == Some(entry) { Ok(()) } else { Err(entry_exists(entry.id)) }
    }

    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (mut filter, index) = match scope {
            AuditScope::Merchant(merchant) => (doc! { "merchant": merchant.as_str() }, OF_MERCHANT),
            AuditScope::Everything => (doc! {}, NEWEST),
        };
        filter.extend(after.map(place_after).unwrap_or_default());
        let options = FindOptions::builder()
            .sort(doc! { "at": -1, "_id": -1 })
            .limit(signed_limit(limit))
            .hint(named(index));
        find_all(&self.collection(AUDIT), filter, options.build(), |found| value_in(found, "entry")).await
    }
}

/// Bounds the time; the equal time of the cursor is settled by the id.
fn place_after(AuditCursor { at, id }: AuditCursor) -> Document {
    let at = at.millis();
    doc! { "at": { "$lte": at }, "$or": [{ "at": { "$lt": at } }, { "_id": { "$lt": binary(id) } }] }
}
