//! Webhook deliveries: listing them, and delivering again.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::Denied;
use quita_domain::delivery::{Delivery, DeliveryId, DeliveryState, webhook_id};
use quita_domain::identity::Owner;
use quita_domain::listing::query::DeliveryQuery;
use quita_domain::listing::{Cursor, DeliveryCursor};
use quita_domain::payment::{Payment, Refusal};
use quita_ports::{Listed, StoreError, Unreadable, place_of};
use serde::Serialize;

use super::answer::Page;
use super::auth::WebhookOperator;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::query;

/// Maximum number of characters of a receiver's answer that are shown.
const EXCERPT: usize = 256;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryView {
    id: String,
    transaction_id: String,
    webhook_id: String,
    event: String,
    sequence: u32,
    url: String,
    state: &'static str,
    attempts: Vec<AttemptView>,
    next_attempt_at: Option<String>,
    delivered_at: Option<String>,
    is_redelivery: bool,
    original_delivery_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttemptView {
    at: String,
    duration_ms: u64,
    status: Option<u16>,
    error: Option<String>,
    answer: Option<String>,
}

/// `GET /pay/webhooks/deliveries`
pub(crate) async fn list(
    caller: WebhookOperator,
    edge: Data<Edge>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = DeliveryQuery::parse(&caller.0.owner, &query::read(&request)?)?;
    let limit = query.limit.get();
    let mut found = rest_of_cursor(&edge, &caller.0.owner, &query).await?;
    let mut after = query.cursor.map(|after| after.payment);
    while found.len() <= limit {
        let listed = edge.payments.list_with_deliveries(&query.filter, after, limit).await?;
        let Some(last) = listed.last() else { break };
        after = Some(place_of(last));
        found.extend(listed.iter().flat_map(|listed| entries(listed, &query)));
        if query.filter.transaction_id.is_some() {
            break;
        }
    }
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next_cursor = found.last().filter(|_| has_more).map(|(cursor, _)| cursor.to_string());
    let (mut data, mut unreadable) = (Vec::new(), Vec::new());
    for (cursor, view) in found {
        match view {
            Some(view) => data.push(view),
            None => unreadable.push(cursor.payment.id.to_string()),
        }
    }
    Ok(HttpResponse::Ok().json(Page { data, has_more, next_cursor, unreadable }))
}

/// Entry of the list: a delivery, or only the cursor of a payment that can't be read.
type Entry = (DeliveryCursor, Option<DeliveryView>);

/// Returns the remaining deliveries of the cursor's payment, which is read again if it may have more.
async fn rest_of_cursor(edge: &Edge, owner: &Owner, query: &DeliveryQuery) -> Result<Vec<Entry>, ApiError> {
    let Some(after) = query.cursor.filter(|after| after.index > 0) else { return Ok(Vec::new()) };
    let listed = match edge.payments.read_own(after.payment.id, owner).await {
        Ok(payment) => Ok(Payment::clone(&payment)),
        Err(Denied::StoreUnavailable(StoreError::Unreadable(_))) => Err(Unreadable(after.payment)),
        Err(denied) => return Err(denied.into()),
    };
    Ok(entries(&listed, query).into_iter().filter(|(cursor, _)| cursor.index < after.index).collect())
}

/// Returns the entries of one payment.
fn entries(listed: &Listed, query: &DeliveryQuery) -> Vec<Entry> {
    match listed {
        Ok(payment) => views(payment, query).map(|(cursor, view)| (cursor, Some(view))).collect(),
        // Index 0 is the last one of a payment, so the next page begins with the next payment.
        Err(Unreadable(payment)) => vec![(DeliveryCursor { payment: *payment, index: 0 }, None)],
    }
}

/// Returns the matching deliveries of a payment, newest first.
fn views<'a>(
    payment: &'a Payment,
    query: &'a DeliveryQuery,
) -> impl Iterator<Item = (DeliveryCursor, DeliveryView)> + 'a {
    let state = query.filter.state;
    let matches = move |delivery: &Delivery| state.is_none_or(|state| delivery.state == state);
    payment.outbox.iter().enumerate().rev().filter(move |(_, delivery)| matches(delivery)).filter_map(
        |(place, delivery)| {
            let index = u32::try_from(place).ok()?;
            let cursor = Cursor { created_at: payment.created_at, id: payment.id };
            Some((DeliveryCursor { payment: cursor, index }, view(payment, index, delivery)))
        },
    )
}

fn view(payment: &Payment, index: u32, delivery: &Delivery) -> DeliveryView {
    let id = |index| DeliveryId { transaction_id: payment.id, index }.to_string();
    let event = payment.event(delivery.sequence);
    DeliveryView {
        id: id(index),
        transaction_id: payment.id.to_string(),
        webhook_id: webhook_id(payment.id, delivery.sequence),
        event: event.map(quita_domain::event::Event::name).unwrap_or_default(),
        sequence: delivery.sequence,
        url: payment.order.postback_url.clone().unwrap_or_default(),
        state: delivery.state.as_str(),
        attempts: delivery
            .attempts
            .iter()
            .map(|attempt| AttemptView {
                at: attempt.at.to_string(),
                duration_ms: attempt.duration_ms,
                status: attempt.status,
                error: attempt.error.clone(),
                answer: attempt.answer.as_ref().map(|answer| answer.chars().take(EXCERPT).collect()),
            })
            .collect(),
        next_attempt_at: delivery.next_attempt_at.map(|at| at.to_string()),
        delivered_at: delivery.delivered_at.map(|at| at.to_string()),
        is_redelivery: delivery.repeats.is_some(),
        original_delivery_id: delivery.repeats.map(id),
    }
}

/// `POST /pay/webhooks/deliveries/{id}/redeliver`
pub(crate) async fn redeliver(
    caller: WebhookOperator,
    edge: Data<Edge>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let unreadable = || ApiError::new(ErrorCode::UnreadableId, wordings::no_delivery_id());
    let id = DeliveryId::parse(&id).ok_or_else(unreadable)?;
    let redelivered = edge.payments.redeliver(id.transaction_id, caller.0.owner, id.index).await;
    let (payment, index) = redelivered.map_err(|denied| {
        let is_unknown = denied == Denied::NotFound;
        if is_unknown { Refusal::NoSuchDelivery.into() } else { ApiError::from(denied) }
    })?;
    let place = usize::try_from(index).unwrap_or(usize::MAX);
    let delivery = payment.outbox.get(place).ok_or_else(|| ApiError::defect("a redelivery is stored"))?;
    debug_assert_eq!(delivery.state, DeliveryState::Pending, "a redelivery begins as pending");
    Ok(HttpResponse::Accepted().json(view(&payment, index, delivery)))
}
