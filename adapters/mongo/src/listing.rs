//! Lists as queries, always along an index whose order is newest first.

use bson::{Bson, Document, doc};
use quita_domain::delivery::DeliveryState;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, Movements, PaymentFilter};
use quita_domain::method::Method;
use quita_domain::payment::DisputeStatus;
use quita_domain::state::RefundStatus;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;

use super::indexes::{
    AMOUNT, BY_AMOUNT, BY_DELIVERY_STATE, BY_DOCUMENT, BY_DUE_DATE, BY_EMAIL, BY_EXTERNAL_REFERENCE, BY_ID,
    BY_KIND, BY_LINK, BY_REFUND_STATUS, CHARGEBACK_ID, DUE_DATE, NEWEST, REFUND_STATUS, WITH_DISPUTE,
};
use super::reading::binary;
use quita_stored_form::PaymentIndex;
use quita_stored_form::signed;

/// Query of a list, with the index that it is read along.
#[derive(Debug, PartialEq)]
pub(super) struct Listing {
    pub(super) filter: Document,
    pub(super) index: &'static str,
}

/// Returns the listing of payments that match, along this index.
pub(super) fn of_payments(filter: &PaymentFilter, after: Option<Cursor>, index: PaymentIndex) -> Listing {
    let mut query = of_merchant(&filter.merchant, filter.mode);
    let equal = [
        ("_id", filter.id.map(|id| binary(id.uuid()).into())),
        ("document", filter.document.clone().map(Bson::from)),
        ("email", filter.email.clone().map(Bson::from)),
        ("externalReference", filter.external_reference.clone().map(Bson::from)),
        ("link", filter.link.map(|link| binary(link.uuid()).into())),
        (AMOUNT, filter.amount.map(|amount| signed(amount.cents()).into())),
    ];
    query.extend(equal.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))));
    // The server merges the parts of such an index by status and method, so each has to be named.
    if index == PaymentIndex::Kind || !filter.statuses.is_empty() {
        query.insert("status", any_status(&filter.statuses));
    }
    if matches!(index, PaymentIndex::Kind | PaymentIndex::Amount) || filter.method.is_some() {
        query.insert("method", any_method(filter.method));
    }
    if filter.has_due_date() {
        let mut between = doc! { "$exists": true };
        between.extend(filter.due_from.map(|day| ("$gte".to_owned(), Bson::from(day.to_string()))));
        between.extend(filter.due_to.map(|day| ("$lte".to_owned(), Bson::from(day.to_string()))));
        query.insert(DUE_DATE, between);
    }
    go_on_after(&mut query, period(filter.created_from, filter.created_to), after);
    Listing { filter: query, index: name_of(index) }
}

/// Returns the filter for all payments of this amount, if the index by status is the better one once there are many.
pub(super) fn of_amount(filter: &PaymentFilter) -> Option<Document> {
    let amount = filter.amount.filter(|_| !filter.statuses.is_empty())?;
    let mut query = of_merchant(&filter.merchant, filter.mode);
    query.insert(AMOUNT, signed(amount.cents()));
    Some(query)
}

const fn name_of(index: PaymentIndex) -> &'static str {
    match index {
        PaymentIndex::Id => BY_ID,
        PaymentIndex::Document => BY_DOCUMENT,
        PaymentIndex::Email => BY_EMAIL,
        PaymentIndex::ExternalReference => BY_EXTERNAL_REFERENCE,
        PaymentIndex::Link => BY_LINK,
        PaymentIndex::Amount => BY_AMOUNT,
        PaymentIndex::DueDate => BY_DUE_DATE,
        PaymentIndex::Kind => BY_KIND,
        PaymentIndex::Newest => NEWEST,
    }
}

/// Matches any of these statuses; every status if there are none.
pub(super) fn any_status(statuses: &[Status]) -> Document {
    let statuses = if statuses.is_empty() { &Status::ALL } else { statuses };
    doc! { "$in": statuses.iter().map(|status| status.as_str()).collect::<Vec<_>>() }
}

/// Matches this method; every method if it is absent.
pub(super) fn any_method(method: Option<Method>) -> Document {
    let methods = method.map_or_else(|| Method::ALL.to_vec(), |method| vec![method]);
    doc! { "$in": methods.iter().map(|method| method.as_str()).collect::<Vec<_>>() }
}

/// Returns the listing of payments that have a matching delivery.
pub(super) fn of_deliveries(filter: &DeliveryFilter, after: Option<Cursor>) -> Listing {
    let mut query = of_merchant(&filter.merchant, filter.mode);
    // The server merges the parts of the index by state, so each has to be named.
    let states = filter.state.map_or_else(|| DeliveryState::ALL.to_vec(), |state| vec![state]);
    let states: Vec<_> = states.iter().map(|state| state.as_str()).collect();
    query.insert("deliveryStates", doc! { "$in": states });
    let mut index = BY_DELIVERY_STATE;
    if let Some(id) = filter.transaction_id {
        query.insert("_id", binary(id.uuid()));
        index = BY_ID;
    }
    go_on_after(&mut query, Document::new(), after);
    Listing { filter: query, index }
}

/// Returns the listing of payments that have a matching refund or dispute.
pub(super) fn of_movements(filter: &MovementFilter, after: Option<Cursor>) -> Listing {
    let mut query = of_merchant(&filter.merchant, filter.mode);
    let index = match &filter.movements {
        Movements::Refunds(statuses) => {
            query.insert(REFUND_STATUS, any_refund_status(statuses));
            BY_REFUND_STATUS
        }
        Movements::Disputes(statuses) => {
            query.insert(CHARGEBACK_ID, doc! { "$exists": true });
            query.extend(dispute_in(statuses));
            WITH_DISPUTE
        }
    };
    go_on_after(&mut query, period(filter.created_from, filter.created_to), after);
    Listing { filter: query, index }
}

/// Matches any of these statuses; every status if there are none. The server merges the parts of the index that are
/// named.
fn any_refund_status(statuses: &[RefundStatus]) -> Document {
    let statuses = if statuses.is_empty() { &RefundStatus::ALL } else { statuses };
    doc! { "$in": statuses.iter().map(|status| status.as_str()).collect::<Vec<_>>() }
}

/// Returns the condition for a dispute in one of these statuses; none if every status matches. Payments with disputes
/// are few, so the index has no status.
fn dispute_in(statuses: &[DisputeStatus]) -> Document {
    let won =
        |is_won: bool| doc! { "payment.chargebacks": { "$elemMatch": { "won": { "$exists": is_won } } } };
    match statuses {
        [DisputeStatus::Open] => won(false),
        [DisputeStatus::Won] => won(true),
        [] | [_, _, ..] => Document::new(),
    }
}

/// Limits the time of creation.
fn period(from: Option<Timestamp>, to: Option<Timestamp>) -> Document {
    let mut created = Document::new();
    created.extend(from.map(|at| (String::from("$gte"), Bson::from(at.millis()))));
    created.extend(to.map(|at| (String::from("$lt"), Bson::from(at.millis()))));
    created
}

fn of_merchant(merchant: &MerchantId, mode: Mode) -> Document {
    doc! { "merchant": merchant.as_str(), "mode": mode.as_str() }
}

/// Limits the times to the cursor's. Among payments of the same time, the id decides.
fn go_on_after(query: &mut Document, mut created: Document, after: Option<Cursor>) {
    if let Some(Cursor { created_at, id }) = after {
        let at = created_at.millis();
        let id = binary(id.uuid());
        created.insert("$lte", at);
        // `createdAt` is also bounded by `$lte`, so the second branch only concerns payments of the cursor's own time.
        query.insert("$or", vec![doc! { "createdAt": { "$lt": at } }, doc! { "_id": { "$lt": id } }]);
    }
    if !created.is_empty() {
        query.insert("createdAt", created);
    }
}
