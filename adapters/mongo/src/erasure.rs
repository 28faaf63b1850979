//! Erasure of payers, found by the time for which their payments have been at rest.

use async_trait::async_trait;
use bson::{RawDocument, doc};
use mongodb::options::FindOptions;
use quita_domain::identity::TransactionId;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{ErasureStore, RestingPlace, StoreError};

use super::MongoStore;
use super::failure::LIST_TIME_OUT;
use super::indexes::{RESTING, named};
use super::payments::read_id;
use super::reading::binary;
use quita_stored_form::{merged, signed_limit};

#[async_trait]
impl ErasureStore for MongoStore {
    async fn resting(
        &self,
        status: Status,
        until: Timestamp,
        after: Option<RestingPlace>,
        limit: usize,
    ) -> Result<Vec<RestingPlace>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let options = FindOptions::builder()
            .projection(doc! { "restsSince": 1 })
            .sort(doc! { "restsSince": 1, "_id": 1 })
            .limit(signed_limit(limit))
            .max_time(LIST_TIME_OUT)
            .hint(named(RESTING))
            .build();
        let mut filter = doc! { "status": status.as_str(), "restsSince": { "$lte": until.millis() } };
        if let Some(RestingPlace { since, id }) = after {
            let at_once = doc! { "restsSince": since.millis(), "_id": { "$gt": binary(id.uuid()) } };
            let later = doc! { "restsSince": { "$gt": since.millis() } };
            filter.insert("restsSince", doc! { "$gte": since.millis(), "$lte": until.millis() });
            filter.insert("$or", vec![at_once, later]);
        }
        let store = self.clone();
        let work = async move { store.find_in_both(filter, options, read).await };
        // Both collections are read up to the limit, so merging and truncating leaves no gap before the last place.
        Ok(merged(self.threads.run(work).await??, |place| *place, limit))
    }

    /// Returns nothing: nodes compare what they have in memory with the store.
    async fn erased_after(&self, _: u64, _: usize) -> Result<Vec<(u64, TransactionId)>, StoreError> {
        Ok(Vec::new())
    }

    async fn last_erasure(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}

fn read(found: &RawDocument) -> Result<RestingPlace, StoreError> {
    let id = read_id(found)?;
    let unreadable = |_| StoreError::Unreadable(format!("the restsSince of payment {id}"));
    let since = Timestamp::from_millis(found.get_i64("restsSince").map_err(unreadable)?);
    Ok(RestingPlace { since, id })
}
