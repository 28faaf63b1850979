//! The audit log.

mod appending;
mod erasing;
mod stored;

use async_trait::async_trait;
use bson::{Document, RawDocument, doc};
use mongodb::options::FindOptions;
use quita_domain::audit::chain::{ChainHead, ChainKey, ChainPlace, ChainedEntry, NewAuditEntry};
use quita_domain::audit::{AuditCursor, AuditErasure, AuditScope};
use quita_ports::{AuditRead, AuditStore, StoreError};
use tokio::sync::MutexGuard;

use super::MongoStore;
use super::failure::{answer_within_time, no_answer, store_error, within_time};
use super::indexes::{AUDIT, AUDIT_HEAD, NEWEST, OF_MERCHANT, SEQUENCE, named};
use super::reading::{binary, find_all};
use quita_stored_form::{signed, signed_limit, unsigned};
use stored::{StoredHead, entry_in, head_in};

/// The id of the one document that is the head.
const HEAD: &str = "head";

#[async_trait]
impl AuditStore for MongoStore {
    async fn begin_audit(&self, head: &ChainHead) -> Result<(), StoreError> {
        self.insert_one(AUDIT_HEAD, &StoredHead::of(head)).await.map(drop)
    }

    async fn append_audit(&self, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, StoreError> {
        let _turn = self.audit_turn().await?;
        self.append(new, key).await
    }

    async fn audit_head(&self) -> Result<Option<ChainHead>, StoreError> {
        let found = within_time(self.collection(AUDIT_HEAD).find_one(doc! { "_id": HEAD })).await?;
        found.map(|found| head_in(&found)).transpose()
    }

    async fn chained_audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRead>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let options = FindOptions::builder()
            .sort(doc! { "sequence": 1 })
            .limit(signed_limit(limit))
            .hint(named(SEQUENCE))
            .build();
        let filter = doc! { "sequence": { "$gt": signed(after) } };
        let read = |found: &RawDocument| Ok((sequence_of(found)?, entry_in(found)));
        find_all(&self.collection(AUDIT), filter, options, read).await
    }

    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<ChainedEntry>, StoreError> {
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
        find_all(&self.collection(AUDIT), filter, options.build(), entry_in).await
    }

    async fn erase_audit(
        &self,
        what: &AuditErasure,
        limit: usize,
        account: &NewAuditEntry,
        key: &ChainKey,
    ) -> Result<u64, StoreError> {
        if limit == 0 {
            return Ok(0);
        }
        let _turn = self.audit_turn().await?;
        self.erase(what, limit, account, key).await
    }
}

impl MongoStore {
    /// Waits for this change's turn: concurrent changes of one node would only get in each other's way.
    async fn audit_turn(&self) -> Result<MutexGuard<'_, ()>, StoreError> {
        match answer_within_time(async { Ok(self.audit_turn.lock().await) }).await {
            Some(turn) => turn.map_err(|error| store_error(&error)),
            None => Err(no_answer()),
        }
    }
}

/// Returns the place of a stored document in the chain, even if the rest of it can't be read.
fn sequence_of(found: &RawDocument) -> Result<u64, StoreError> {
    let nowhere = |_| StoreError::Unreadable("an entry of the audit log has no place".into());
    found.get_i64("sequence").map(unsigned).map_err(nowhere)
}

/// Limits the time to the cursor's. Among entries of the same time, the id decides.
fn place_after(AuditCursor { at, id }: AuditCursor) -> Document {
    let at = at.millis();
    doc! { "at": { "$lte": at }, "$or": [{ "at": { "$lt": at } }, { "_id": { "$lt": binary(id) } }] }
}
