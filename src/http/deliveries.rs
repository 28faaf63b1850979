//! Webhook deliveries: listing them, and delivering again.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::Denied;
use quita_domain::delivery::{Delivery, DeliveryId, DeliveryState, webhook_id};
use quita_domain::listing::query::DeliveryQuery;
use quita_domain::listing::{Cursor, DeliveryFilter};
use quita_domain::numbering::{DeliveryIndex, EventSequence};
use quita_domain::payment::{Payment, Refusal};
use quita_ports::Listed;
use serde::Serialize;

use super::auth::WebhookOperator;
use super::edge::Edge;
use super::entries::{self, EntryList, matching};
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
    sequence: EventSequence,
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
    let list = DeliveryEntries { edge: &edge, filter: &query.filter };
    entries::page(&edge, &caller.0.owner, &list, query.cursor, query.limit.get()).await
}

struct DeliveryEntries<'a> {
    edge: &'a Edge,
    filter: &'a DeliveryFilter,
}

impl EntryList for DeliveryEntries<'_> {
    type View = DeliveryView;

    async fn read(&self, after: Option<Cursor>, limit: usize) -> Result<Vec<Listed>, Denied> {
        self.edge.payments.list_with_deliveries(self.filter, after, limit).await
    }

    fn entries(&self, payment: &Payment) -> Vec<(u32, DeliveryView)> {
        let matches = |delivery: &Delivery| self.filter.state.is_none_or(|state| delivery.state == state);
        let deliveries = matching(&payment.outbox, matches);
        deliveries
            .map(|(index, delivery)| (index, view(payment, DeliveryIndex::new(index), delivery)))
            .collect()
    }
}

fn view(payment: &Payment, index: DeliveryIndex, delivery: &Delivery) -> DeliveryView {
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
        // The caller named a delivery, so an unknown payment reads as an unknown delivery.
        let is_unknown = denied == Denied::NotFound;
        if is_unknown { Refusal::NoSuchDelivery.into() } else { ApiError::from(denied) }
    })?;
    let delivery = payment.delivery(index).ok_or_else(|| ApiError::defect("a redelivery is stored"))?;
    debug_assert_eq!(delivery.state, DeliveryState::Pending, "a redelivery begins as pending");
    Ok(HttpResponse::Accepted().json(view(&payment, index, delivery)))
}
