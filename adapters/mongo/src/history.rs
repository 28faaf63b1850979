//! Every payment, reduced to the fields that a replay needs: the server sends nothing else.

use async_trait::async_trait;
use bson::{Document, RawDocument, doc};
use mongodb::options::FindOptions;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::Cursor;
use quita_ports::{HistoryStore, PastFilter, PastPage, StoreError};

use super::MongoStore;
use super::failure::LIST_TIME_OUT;
use super::indexes::{NEWEST, named};
use super::payments::place_in;
use super::reading::{binary, value_in};
use quita_stored_form::rules::unknown_word;
use quita_stored_form::{PastRead, merged, past_page, signed_limit};

/// Fields from which a [`quita_domain::routing::PastPayment`] and its place are read.
const NEEDED: [&str; 11] = [
    "createdAt",
    "payment.owner",
    "payment.order.method",
    "payment.order.amount",
    "payment.order.payer.document",
    "payment.order.metadata",
    "payment.order.terms",
    "payment.createdAt",
    "payment.considered",
    "payment.routed",
    "payment.dice",
];

type Payee = (MerchantId, Mode);

#[async_trait]
impl HistoryStore for MongoStore {
    async fn next_payee(&self, after: Option<&Payee>) -> Result<Option<Payee>, StoreError> {
        // The stubs of archived payments have no merchant.
        let Some((merchant, mode)) = after else {
            return self.first_payee(doc! { "merchant": { "$gt": "" } }).await;
        };
        // Each of these queries enters the index at one point. A combined query would scan all index entries before it.
        let same = doc! { "merchant": merchant.as_str(), "mode": { "$gt": mode.as_str() } };
        match self.first_payee(same).await? {
            Some(found) => Ok(Some(found)),
            None => self.first_payee(doc! { "merchant": { "$gt": merchant.as_str() } }).await,
        }
    }

    async fn past_payments(
        &self,
        filter: &PastFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<PastPage, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(PastPage::default());
        }
        let needed: Document = NEEDED.into_iter().map(|field| (field.to_owned(), 1.into())).collect();
        let options = FindOptions::builder()
            .projection(needed)
            .sort(doc! { "createdAt": 1, "_id": 1 })
            .limit(signed_limit(limit))
            // The whole page in the first reply, if it fits.
            .batch_size(u32::try_from(limit).unwrap_or(u32::MAX))
            .max_time(LIST_TIME_OUT)
            .hint(named(NEWEST))
            .build();
        let store = self.clone();
        let query = query(filter, after);
        let work = async move { store.find_in_both(query, options, read).await };
        let found = self.threads.run(work).await??;
        Ok(past_page(merged(found, |(place, _)| (place.created_at, place.id), limit), limit))
    }
}

impl MongoStore {
    /// Returns the first match by merchant and mode, found along the index.
    async fn first_payee(&self, query: Document) -> Result<Option<Payee>, StoreError> {
        let options = FindOptions::builder()
            .projection(doc! { "_id": 0, "merchant": 1, "mode": 1 })
            .sort(doc! { "merchant": 1, "mode": 1 })
            .limit(1)
            .max_time(LIST_TIME_OUT)
            .hint(named(NEWEST))
            .build();
        let found = self.find_in_both(query, options, read_payee).await?;
        Ok(found.into_iter().min_by_key(|(merchant, mode)| (merchant.as_str().to_owned(), mode.as_str())))
    }
}

fn query(filter: &PastFilter, after: Option<Cursor>) -> Document {
    let mut query = doc! { "merchant": filter.merchant.as_str(), "mode": filter.mode.as_str() };
    let mut since = filter.since;
    if let Some(Cursor { created_at, id }) = after {
        // The later bound wins, so that a page begins at its cursor instead of walking the index from the start again.
        since = since.max(created_at);
        let at_once = doc! { "createdAt": created_at.millis(), "_id": { "$gt": binary(id.uuid()) } };
        query.insert("$or", vec![at_once, doc! { "createdAt": { "$gt": created_at.millis() } }]);
    }
    query.insert("createdAt", doc! { "$gte": since.millis() });
    query
}

fn read(found: &RawDocument) -> Result<PastRead, StoreError> {
    Ok((place_in(found)?, value_in(found, "payment")))
}

fn read_payee(found: &RawDocument) -> Result<Payee, StoreError> {
    let text = |field| found.get_str(field).map_err(|_| unknown_word("payee"));
    let mode = Mode::parse(text("mode")?).ok_or_else(|| unknown_word("mode"))?;
    Ok((MerchantId::new(text("merchant")?), mode))
}
