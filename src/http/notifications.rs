//! Notices that acquirers send over HTTP: authenticated, stored, answered; worked afterwards by the inbox.

use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::acquiring::{Fact, Notice};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::webhook::signature::{WebhookSecret, verify};
use quita_ports::SinkError;
use serde::Deserialize;

use super::body::read_json;
use super::edge::Edge;
use super::errors::ApiError;

/// Longest event id: it becomes the key under which the notice is stored.
const MAX_EVENT_ID: usize = 255;
/// How far the time of a signature may be from ours, in seconds.
const TOLERANCE_S: u64 = 300;

/// A notice as the sandbox sends it over HTTP: its own event id, our payment, and what it states.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SandboxNotice {
    event_id: String,
    transaction_id: TransactionId,
    #[serde(flatten)]
    fact: Fact,
}

/// `POST /acquirers/{name}/notifications`
///
/// The sandbox signs as Standard Webhooks says, with the acquirer's notification secret, which
/// `quita secrets notification NAME` prints.
pub(crate) async fn receive(
    edge: Data<Edge>,
    name: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let body = read_json(&request, payload).await?;
    let secret = edge.notification_secret(&name).ok_or_else(unauthenticated)?;
    authenticate(&edge, &request, &secret, &body)?;
    let notice: SandboxNotice = serde_json::from_slice(&body).map_err(|error| {
        ApiError::bad_request("malformed_request", format!("the notice can't be read: {error}"))
    })?;
    if !(1..=MAX_EVENT_ID).contains(&notice.event_id.len()) {
        let message = format!("the notice's eventId must have 1 to {MAX_EVENT_ID} bytes");
        return Err(ApiError::bad_request("malformed_request", message));
    }
    let acquirer = AcquirerName::new(name.as_str());
    let notice = Notice {
        id: format!("{acquirer}:{}", notice.event_id),
        acquirer,
        transaction_id: notice.transaction_id,
        fact: notice.fact,
        received_at: edge.clock.now(),
    };
    edge.payments.submit(notice).await.map_err(|error| match error {
        SinkError::Busy => ApiError::unavailable("overloaded", "too many notices are waiting; send it again"),
        SinkError::Store(error) => quita_actors::Denied::StoreUnavailable(error).into(),
    })?;
    Ok(HttpResponse::Ok().finish())
}

fn authenticate(
    edge: &Edge,
    request: &HttpRequest,
    secret: &WebhookSecret,
    body: &[u8],
) -> Result<(), ApiError> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let parts = header("webhook-id").zip(header("webhook-timestamp")).zip(header("webhook-signature"));
    let ((id, timestamp), signature) = parts.ok_or_else(unauthenticated)?;
    let timestamp_s: i64 = timestamp.parse().map_err(|_| unauthenticated())?;
    let now_s = edge.clock.now().millis().div_euclid(1_000);
    let is_fresh = timestamp_s.abs_diff(now_s) <= TOLERANCE_S;
    if is_fresh && verify(secret, id, timestamp_s, body, signature) { Ok(()) } else { Err(unauthenticated()) }
}

fn unauthenticated() -> ApiError {
    let message = "the notice is not signed with the acquirer's notification secret";
    ApiError::new(actix_web::http::StatusCode::UNAUTHORIZED, "unauthorized", message)
}
