//! Lists as queries: always along an index that yields the newest first.

use bson::{Bson, Document, doc};
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};

use super::indexes::{
    BY_DELIVERY_STATE, BY_DOCUMENT, BY_EMAIL, BY_EXTERNAL_REFERENCE, BY_ID, BY_STATUS, NEWEST,
};
use super::payments::binary;

/// What to look for, and along which index.
#[derive(Debug, PartialEq)]
pub(super) struct Listing {
    pub(super) filter: Document,
    pub(super) index: &'static str,
}

/// Payments that match.
pub(super) fn of_payments(filter: &PaymentFilter, after: Option<Cursor>) -> Listing {
    let mut query = of_merchant(&filter.merchant, filter.mode);
    // The first one of these is the narrowest.
    let narrow = [
        ("document", filter.document.as_ref(), BY_DOCUMENT),
        ("email", filter.email.as_ref(), BY_EMAIL),
        ("externalReference", filter.external_reference.as_ref(), BY_EXTERNAL_REFERENCE),
    ];
    let given = narrow.into_iter().filter_map(|(field, value, index)| Some((field, value?, index)));
    let mut index = None;
    for (field, value, by_field) in given {
        query.insert(field, value);
        index = index.or(Some(by_field));
    }
    if let Some(method) = filter.method {
        query.insert("method", method.as_str());
    }
    if !filter.statuses.is_empty() {
        let statuses: Vec<_> = filter.statuses.iter().map(|status| status.as_str()).collect();
        query.insert("status", doc! { "$in": statuses });
        index = index.or(Some(BY_STATUS));
    }
    let mut created = Document::new();
    created.extend(filter.created_from.map(|at| (String::from("$gte"), Bson::from(at.millis()))));
    created.extend(filter.created_to.map(|at| (String::from("$lt"), Bson::from(at.millis()))));
    go_on_after(&mut query, created, after);
    Listing { filter: query, index: index.unwrap_or(NEWEST) }
}

/// Payments that hold a delivery that matches.
pub(super) fn of_deliveries(filter: &DeliveryFilter, after: Option<Cursor>) -> Listing {
    let mut query = of_merchant(&filter.merchant, filter.mode);
    let state =
        filter.state.map_or_else(|| doc! { "$exists": true }.into(), |state| Bson::from(state.as_str()));
    query.insert("deliveryStates", state);
    let mut index = if filter.state.is_some() { BY_DELIVERY_STATE } else { NEWEST };
    if let Some(id) = filter.transaction_id {
        query.insert("_id", binary(id.uuid()));
        index = BY_ID;
    }
    go_on_after(&mut query, Document::new(), after);
    Listing { filter: query, index }
}

fn of_merchant(merchant: &MerchantId, mode: Mode) -> Document {
    doc! { "merchant": merchant.as_str(), "mode": mode.as_str() }
}

/// Bounds the times; the equal time of the cursor is settled by the id.
fn go_on_after(query: &mut Document, mut created: Document, after: Option<Cursor>) {
    if let Some(Cursor { created_at, id }) = after {
        let (at, id) = (created_at.millis(), binary(id.uuid()));
        created.insert("$lte", at);
        query.insert("$or", vec![doc! { "createdAt": { "$lt": at } }, doc! { "_id": { "$lt": id } }]);
    }
    if !created.is_empty() {
        query.insert("createdAt", created);
    }
}
