//! Bodies of successful answers.

use actix_web::{HttpResponse, HttpResponseBuilder};
use quita_actors::Operated;
use quita_domain::event::Event;
use quita_domain::numbering::EventSequence;
use quita_domain::payment::Payment;
use quita_domain::record::{PaymentRecord, RefundRecord};
use quita_ports::{Listed, Unreadable, place_of};
use serde::Serialize;

use super::edge::Edge;
use super::errors::ApiError;

/// A page of a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListPage<T> {
    pub(crate) data: Vec<T>,
    pub(crate) has_more: bool,
    pub(crate) next_cursor: Option<String>,
    /// Ids of payments of this page that can't be read; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unreadable: Vec<String>,
}

/// Returns the payment record.
pub(crate) fn record(response: &mut HttpResponseBuilder, edge: &Edge, payment: &Payment) -> HttpResponse {
    response.json(PaymentRecord::now(payment, &edge.public_url))
}

/// Returns a page of records. One payment more than `limit` was read if there is a further page.
pub(crate) fn page_of_records(edge: &Edge, mut listed: Vec<Listed>, limit: usize) -> HttpResponse {
    let has_more = listed.len() > limit;
    listed.truncate(limit);
    let next_cursor = listed.last().filter(|_| has_more).map(|last| place_of(last).to_string());
    let unreadable = ids_of_unreadable(&listed);
    let payments = listed.iter().flatten();
    let data: Vec<_> = payments.map(|payment| PaymentRecord::now(payment, &edge.public_url)).collect();
    HttpResponse::Ok().json(ListPage { data, has_more, next_cursor, unreadable })
}

/// Returns the ids of the payments that can't be read.
fn ids_of_unreadable(listed: &[Listed]) -> Vec<String> {
    let unreadable = listed.iter().filter_map(|listed| listed.as_ref().err());
    unreadable.map(|Unreadable(place)| place.id.to_string()).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventView<'a> {
    sequence: EventSequence,
    event: String,
    status: &'a str,
    previous_status: &'a str,
    occurred_at: String,
    reason: Option<&'a str>,
    actor: &'a str,
}

impl<'a> From<&'a Event> for EventView<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            sequence: event.sequence,
            event: event.name(),
            status: event.status.as_str(),
            previous_status: event.previous_status.as_str(),
            occurred_at: event.occurred_at.to_string(),
            reason: event.reason.as_deref(),
            actor: event.actor.as_str(),
        }
    }
}

/// Returns the events of a payment, oldest first.
pub(crate) fn events(payment: &Payment) -> HttpResponse {
    #[derive(Serialize)]
    struct EventsBody<'a> {
        data: Vec<EventView<'a>>,
    }
    HttpResponse::Ok().json(EventsBody { data: payment.history.iter().map(EventView::from).collect() })
}

/// Returns one refund.
pub(crate) fn refund(
    response: &mut HttpResponseBuilder,
    operated: &Operated,
) -> Result<HttpResponse, ApiError> {
    let id = operated.operation.id.to_string();
    let mut refunds = operated.payment.state.refunds.iter();
    let refund =
        refunds.find(|refund| refund.id == id).ok_or_else(|| ApiError::defect("a refund is stored"))?;
    Ok(response.json(RefundRecord::of(refund)))
}
