//! Collections and their indexes. A query names its index, so that the planner can't choose a worse one.

use bson::{Document, doc};
use mongodb::options::{Hint, IndexOptions};
use mongodb::{Database, IndexModel};
use quita_ports::StoreError;
use std::time::Duration;

use super::failure::store_error;
use crate::store_rules::KEEP_FINISHED_MS;

pub(super) const PAYMENTS: &str = "payments";
pub(super) const INBOX: &str = "inbox";
pub(super) const EXCEPTIONS: &str = "exceptions";
pub(super) const APPLICATIONS: &str = "applications";
pub(super) const API_KEYS: &str = "api_keys";

/// Newest first, of one merchant in one mode.
pub(super) const NEWEST: &str = "newest";
pub(super) const BY_STATUS: &str = "by_status";
pub(super) const BY_DOCUMENT: &str = "by_document";
pub(super) const BY_EMAIL: &str = "by_email";
pub(super) const BY_EXTERNAL_REFERENCE: &str = "by_external_reference";
pub(super) const BY_DELIVERY_STATE: &str = "by_delivery_state";
/// What the timer looks for; notices that wait.
pub(super) const DUE: &str = "due";
pub(super) const OUTBOX: &str = "outbox";
/// Keys by age.
pub(super) const OLDEST: &str = "oldest";
/// Every collection's own.
pub(super) const BY_ID: &str = "_id_";
const FINISHED: &str = "finished";

/// Tells the server to take this index.
pub(super) fn named(index: &str) -> Hint {
    Hint::Name(index.to_owned())
}

/// Makes the indexes that are missing. Takes long only on a collection that is large already.
pub(super) async fn make(database: &Database) -> Result<(), StoreError> {
    let newest = || doc! { "createdAt": -1, "_id": -1 };
    let of_merchant = |middle: Document| {
        let mut keys = doc! { "merchant": 1, "mode": 1 };
        keys.extend(middle);
        keys.extend(newest());
        keys
    };
    let payments = [
        index(NEWEST, of_merchant(doc! {})),
        index(BY_STATUS, of_merchant(doc! { "status": 1 })),
        index(BY_DOCUMENT, of_merchant(doc! { "document": 1 })),
        index(BY_EMAIL, of_merchant(doc! { "email": 1 })),
        only_with("externalReference", BY_EXTERNAL_REFERENCE, of_merchant(doc! { "externalReference": 1 })),
        only_with("deliveryStates", BY_DELIVERY_STATE, of_merchant(doc! { "deliveryStates": 1 })),
        only_with("dueAt", DUE, doc! { "dueAt": 1, "_id": 1 }),
        only_with("outboxAt", OUTBOX, doc! { "outboxAt": 1, "_id": 1 }),
    ];
    let inbox = [only_with("dueAt", DUE, doc! { "dueAt": 1, "_id": 1 }), expiring(FINISHED, "finishedAt")];
    let exceptions = [index(NEWEST, doc! { "reportedAt": -1, "_id": -1 })];
    let keys = [index(OLDEST, doc! { "createdAt": 1, "_id": 1 })];
    make_in(database, PAYMENTS, payments).await?;
    make_in(database, INBOX, inbox).await?;
    make_in(database, EXCEPTIONS, exceptions).await?;
    make_in(database, API_KEYS, keys).await
}

async fn make_in(
    database: &Database,
    collection: &str,
    indexes: impl IntoIterator<Item = IndexModel>,
) -> Result<(), StoreError> {
    let made = database.collection::<Document>(collection).create_indexes(indexes).await;
    made.map(drop).map_err(|error| {
        let StoreError::Unavailable(why) = store_error(&error) else { return store_error(&error) };
        StoreError::Unavailable(format!("the indexes of {collection} can't be made: {why}"))
    })
}

fn index(name: &str, keys: Document) -> IndexModel {
    with_options(keys, IndexOptions::builder().name(name.to_owned()).build())
}

/// An index of the documents that have this field, which are few.
fn only_with(field: &str, name: &str, keys: Document) -> IndexModel {
    let present = doc! { field: { "$exists": true } };
    let options = IndexOptions::builder().name(name.to_owned()).partial_filter_expression(present);
    with_options(keys, options.build())
}

/// Deletes a document a while after the date in this field.
fn expiring(name: &str, field: &str) -> IndexModel {
    let after = Duration::from_millis(KEEP_FINISHED_MS);
    let options = IndexOptions::builder().name(name.to_owned()).expire_after(after);
    with_options(doc! { field: 1 }, options.build())
}

fn with_options(keys: Document, options: IndexOptions) -> IndexModel {
    IndexModel::builder().keys(keys).options(options).build()
}
