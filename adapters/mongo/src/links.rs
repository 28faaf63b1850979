//! Payment links, and what is counted at their pages.

use async_trait::async_trait;
use bson::{Bson, DateTime, Document, RawDocument, doc};
use mongodb::options::{FindOptions, ReturnDocument};
use quita_domain::document::Document as PayerDocument;
use quita_domain::identity::LinkId;
use quita_domain::link::{Link, LinkFilter, LinkUses};
use quita_domain::listing::Cursor;
use quita_domain::method::Method;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{EventLimit, LinkStore, StoreError};
use serde::Serialize;

use super::MongoStore;
use super::archive::binaries;
use super::failure::within_time;
use super::indexes::{
    ARCHIVE, BY_DOCUMENT, BY_EXTERNAL_REFERENCE, BY_LINK, LINKS, NEWEST, PAGE_EVENTS, PAID_AT, PAYMENTS,
    RESTING, named,
};
use super::reading::{aggregate, binary, find_all, value_in};
use quita_stored_form::rules::unknown_word;
use quita_stored_form::turns::Lister;
use quita_stored_form::{AsDocument, signed, signed_limit, unsigned};

/// A link as it is stored.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredLink<'a> {
    #[serde(rename = "_id")]
    id: bson::Uuid,
    revision: i64,
    merchant: &'a str,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_reference: Option<&'a str>,
    created_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_until: Option<i64>,
    link: AsDocument<'a, Link>,
}

impl<'a> StoredLink<'a> {
    fn of(link: &'a Link) -> Self {
        Self {
            id: binary(link.id.uuid()),
            revision: signed(link.revision),
            merchant: link.owner.merchant.as_str(),
            mode: link.owner.mode.as_str(),
            external_reference: link.offer.external_reference.as_deref(),
            created_at: link.created_at.millis(),
            document: link.customer_document().map(|document| document.as_str()),
            customer_until: link.customer_until().map(|until| until.millis()),
            link: AsDocument(link),
        }
    }
}

#[async_trait]
impl LinkStore for MongoStore {
    async fn insert_link(&self, link: &Link) -> Result<bool, StoreError> {
        self.insert_one(LINKS, &StoredLink::of(link)).await
    }

    async fn link(&self, id: LinkId) -> Result<Option<Link>, StoreError> {
        let found = within_time(self.collection(LINKS).find_one(doc! { "_id": binary(id.uuid()) })).await?;
        found.map(|found| read_link(&found)).transpose()
    }

    async fn replace_link(&self, link: &Link) -> Result<bool, StoreError> {
        let next = StoredLink::of(link);
        // Each change raises the revision by one. If two changes were decided from the same state, one of them fails
        // the guard.
        let before = signed(link.revision).saturating_sub(1);
        let guard = doc! { "_id": binary(link.id.uuid()), "revision": before };
        self.replace_guarded(LINKS, guard, &next).await
    }

    async fn links(
        &self,
        filter: &LinkFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut query = doc! { "merchant": filter.merchant.as_str(), "mode": filter.mode.as_str() };
        let mut index = NEWEST;
        if let Some(reference) = &filter.external_reference {
            query.insert("externalReference", reference);
            index = BY_EXTERNAL_REFERENCE;
        }
        if let Some(Cursor { created_at, id }) = after {
            let at = created_at.millis();
            let id = binary(id.uuid());
            query.insert("createdAt", doc! { "$lte": at });
            query.insert("$or", vec![doc! { "createdAt": { "$lt": at } }, doc! { "_id": { "$lt": id } }]);
        }
        let sorted = FindOptions::builder().sort(doc! { "createdAt": -1, "_id": -1 }).hint(named(index));
        let options = sorted.limit(signed_limit(limit)).build();
        find_all(&self.collection(LINKS), query, options, read_link).await
    }

    async fn links_with_customer(
        &self,
        document: Option<&PayerDocument>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut query = doc! { "customerUntil": { "$lte": until.millis() } };
        let mut index = RESTING;
        if let Some(document) = document {
            query.insert("document", document.as_str());
            index = BY_DOCUMENT;
        }
        let sorted = FindOptions::builder().sort(doc! { "customerUntil": 1 }).hint(named(index));
        let options = sorted.limit(signed_limit(limit)).build();
        find_all(&self.collection(LINKS), query, options, read_link).await
    }

    async fn link_uses(&self, link: &Link) -> Result<LinkUses, StoreError> {
        let owner = &link.owner;
        let _turn = self.turn_of(Lister::Payers(owner.merchant.as_str().into())).await?;
        let id = binary(link.id.uuid());
        let of_link = doc! { "merchant": owner.merchant.as_str(), "mode": owner.mode.as_str(), "link": id };
        let was_paid = doc! { "$gt": [format!("${PAID_AT}"), Bson::Null] };
        let kind = doc! { "method": "$method", "status": "$status", "wasPaid": was_paid };
        let counted = doc! { "_id": kind, "count": { "$sum": 1_i64 } };
        let mut uses = LinkUses::default();
        // A payment that is archived meanwhile may be counted twice: for a moment, too many uses are better than too
        // few.
        for collection in [PAYMENTS, ARCHIVE] {
            let mut of_link = of_link.clone();
            if collection == ARCHIVE {
                let uncounted = self.uncounted(&owner.merchant, owner.mode).await?;
                if !uncounted.is_empty() {
                    of_link.insert("_id", doc! { "$nin": binaries(uncounted.iter()) });
                }
            }
            let pipeline = vec![doc! { "$match": of_link }, doc! { "$group": &counted }];
            for found in aggregate(&self.collection(collection), pipeline, BY_LINK).await? {
                count(&mut uses, &found)?;
            }
        }
        Ok(uses)
    }

    async fn count_event(&self, limit: &EventLimit, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let events = self.collection(PAGE_EVENTS);
        let counted = || {
            events
                .find_one_and_update(doc! { "_id": &limit.name }, self.form.with(counting(limit, now)))
                .upsert(true)
                .return_document(ReturnDocument::After)
        };
        let found = match within_time(counted()).await {
            Ok(found) => found,
            // Another node created the first event of this name at the same moment.
            Err(_) => within_time(counted()).await?,
        };
        let wrong = |_| StoreError::Unreadable("counted events are not as they were written".into());
        let found = found.map(|found| Document::try_from(found.as_ref())).transpose();
        let found = found.map_err(|_| StoreError::Unreadable("counted events can't be read".into()))?;
        let found = found.ok_or_else(|| StoreError::Unavailable("no event was counted".into()))?;
        if found.get_bool("isCounted").map_err(wrong)? {
            return Ok(None);
        }
        let times = found.get_array("times").map_err(wrong)?;
        let place = times.len().saturating_sub(usize::try_from(limit.most).unwrap_or(usize::MAX));
        let at = times.get(place).and_then(Bson::as_i64).unwrap_or_else(|| now.millis());
        Ok(Some(Timestamp::from_millis(at).plus_ms(limit.within_ms)))
    }

    async fn counted_events(&self, name: &str, since: Timestamp) -> Result<u64, StoreError> {
        let found = within_time(self.collection(PAGE_EVENTS).find_one(doc! { "_id": name })).await?;
        let unreadable = || StoreError::Unreadable("counted events can't be read".into());
        let Some(found) = found else { return Ok(0) };
        let times = found.get_array("times").map_err(|_| unreadable())?;
        let mut counted = 0_u64;
        for time in times {
            let at = time.map_err(|_| unreadable())?.as_i64().ok_or_else(unreadable)?;
            counted = counted.saturating_add((at > since.millis()).into());
        }
        Ok(counted)
    }

    async fn uncount_event(&self, name: &str, at: Timestamp) -> Result<(), StoreError> {
        let events = self.collection(PAGE_EVENTS);
        let with_event = doc! { "_id": name, "times": at.millis() };
        within_time(events.update_one(with_event, self.form.with(vec![uncounting(at)]))).await?;
        Ok(())
    }
}

/// Returns the update that takes back one event in one step. Other events of the same time stay.
fn uncounting(at: Timestamp) -> Document {
    let first = doc! { "$indexOfArray": ["$times", at.millis()] };
    let places = doc! { "$range": [0, { "$size": "$times" }] };
    let others = doc! { "$filter": { "input": places, "cond": { "$ne": ["$$this", first] } } };
    let kept = doc! { "$map": { "input": others, "in": { "$arrayElemAt": ["$times", "$$this"] } } };
    doc! { "$set": { "times": kept } }
}

/// Returns the update that counts an event in one step, if the limit allows it.
fn counting(limit: &EventLimit, now: Timestamp) -> Vec<Document> {
    let since = now.minus_ms(limit.within_ms).millis();
    let known = doc! { "$ifNull": ["$times", []] };
    let recent = doc! { "$filter": { "input": known, "cond": { "$gt": ["$$this", since] } } };
    let is_counted = doc! { "$lt": [{ "$size": "$times" }, i64::from(limit.most)] };
    let with_this = doc! { "$concatArrays": ["$times", [now.millis()]] };
    let times = doc! { "$cond": ["$isCounted", with_this, "$times"] };
    vec![
        doc! { "$set": { "times": recent } },
        doc! { "$set": { "isCounted": is_counted } },
        doc! { "$set": { "times": times, "seenAt": DateTime::from_millis(now.millis()) } },
    ]
}

fn count(uses: &mut LinkUses, found: &Document) -> Result<(), StoreError> {
    let wrong = |_| StoreError::Unreadable("uses of a link are not as they were asked for".into());
    let kind = found.get_document("_id").map_err(wrong)?;
    let method = kind.get_str("method").ok().and_then(Method::parse);
    let status = kind.get_str("status").ok().and_then(Status::parse);
    let method = method.ok_or_else(|| unknown_word("method"))?;
    let status = status.ok_or_else(|| unknown_word("status"))?;
    let was_paid = kind.get_bool("wasPaid").map_err(wrong)?;
    uses.count(method, status, was_paid, unsigned(found.get_i64("count").map_err(wrong)?));
    Ok(())
}

fn read_link(found: &RawDocument) -> Result<Link, StoreError> {
    value_in(found, "link")
}
