//! Numbers of slips: one counter for each range.

use async_trait::async_trait;
use bson::doc;
use mongodb::options::ReturnDocument;
use quita_ports::{NumberBlock, NumberRange, NumberStore, StoreError};
use serde::Serialize;

use super::MongoStore;
use super::failure::within_time;
use super::indexes::NUMBER_COUNTERS;
use quita_stored_form::unsigned;

/// A counter as it is stored.
#[derive(Serialize)]
struct Counter<'a> {
    #[serde(rename = "_id")]
    range: &'a str,
    next: i64,
}

#[async_trait]
impl NumberStore for MongoStore {
    async fn take_numbers(&self, range: &NumberRange, count: u32) -> Result<Option<NumberBlock>, StoreError> {
        if let Some(counter) = self.advance(range, count).await? {
            return Ok(block_before(range, counter, count));
        }
        // Several nodes may create the counter at once: one succeeds, and all of them advance it.
        let first = Counter { range: &range.key, next: range.first.into() };
        self.insert_one(NUMBER_COUNTERS, &first).await?;
        let counter = self.advance(range, count).await?;
        let gone = || StoreError::Unreadable("a counter of numbers is gone as soon as it is made".into());
        Ok(block_before(range, counter.ok_or_else(gone)?, count))
    }
}

impl MongoStore {
    /// Advances a counter by up to `count`, and returns its previous value; `None` if there is no counter.
    async fn advance(&self, range: &NumberRange, count: u32) -> Result<Option<i64>, StoreError> {
        let after_last = i64::from(range.last).saturating_add(1);
        let step = doc! { "$add": ["$next", i64::from(count)] };
        // A counter beyond the end of a narrowed range keeps its value.
        let next = doc! { "$max": ["$next", { "$min": [after_last, step] }] };
        let counters = self.collection(NUMBER_COUNTERS);
        let advanced = counters
            .find_one_and_update(
                doc! { "_id": &range.key },
                self.form.with(vec![doc! { "$set": { "next": next } }]),
            )
            // The block starts at the counter's previous value, and the increment is one atomic step: no two nodes get
            // the same number.
            .return_document(ReturnDocument::Before);
        let Some(before) = within_time(advanced).await? else { return Ok(None) };
        let uncounted = |_| StoreError::Unreadable("a counter of numbers has no number".into());
        before.get_i64("next").map(Some).map_err(uncounted)
    }
}

fn block_before(range: &NumberRange, counter: i64, count: u32) -> Option<NumberBlock> {
    range.block_at(Some(unsigned(counter)), count).map(|(block, _)| block)
}
