//! Observation of requests: metrics, and a log line for each refused one.

use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage, HttpRequest};
use quita_domain::identity::Owner;

use super::edge::Edge;
use super::errors::ApiError;
use super::request_id;
use super::request_metrics::{NO_ROUTE, RequestMetrics};
use super::shown_path::shown_path;
use super::traced::known_method;
use quita_services::refusal_log::Refusal;

/// Maximum number of fields that a log line names.
const MAX_FIELDS: usize = 10;

/// Observer that counts requests, and logs the refused ones.
#[derive(Clone)]
pub(crate) struct Observer {
    metrics: RequestMetrics,
    edge: Data<Edge>,
    /// True if every refused request is logged at `info`. Otherwise that happens only while debug logging is on.
    is_told: bool,
}

/// Caller of a request.
#[derive(Clone)]
struct CameWith {
    owner: Owner,
    key_id: String,
}

/// Notes the owner and the key of a request, for its log line.
pub(super) fn note_caller(request: &HttpRequest, owner: &Owner, key_id: &str) {
    request.extensions_mut().insert(CameWith { owner: owner.clone(), key_id: key_id.to_owned() });
}

impl Observer {
    /// Observes the requests to this edge. Refused ones are logged if `is_told`.
    pub(crate) fn new(metrics: RequestMetrics, edge: Data<Edge>, is_told: bool) -> Self {
        Self { metrics, edge, is_told }
    }

    fn tell(&self, (route, method): (&str, &'static str), refused: Refused<'_>) {
        let Refused { status, error, caller } = refused;
        let refusal = Refusal {
            at: self.edge.clock.now(),
            request_id: request_id::current(),
            method,
            route: route.to_owned(),
            status: status.as_u16(),
            code: error.map_or("", ApiError::code),
            fields: error.map(|error| error.fields().take(MAX_FIELDS).collect()).unwrap_or_default(),
            message: error.map(ToString::to_string).unwrap_or_default(),
            key_id: caller.as_ref().map(|caller| caller.key_id.clone()).unwrap_or_default(),
        };
        if self.is_told || tracing::enabled!(tracing::Level::DEBUG) {
            tracing::info!(
                request.id = refusal.request_id,
                method,
                route,
                status = refusal.status,
                code = refusal.code,
                fields = refusal.fields.join(", "),
                key.id = refusal.key_id,
                "a request was refused"
            );
        }
        if let Some(CameWith { owner, .. }) = caller {
            self.edge.refusals.keep(&owner, refusal);
        }
    }
}

/// Refusal of a request.
struct Refused<'a> {
    status: StatusCode,
    /// Absent if a page was sent.
    error: Option<&'a ApiError>,
    /// Absent if the caller was not authenticated.
    caller: Option<CameWith>,
}

/// Counts a request and its time, and logs it if it was refused.
pub(crate) async fn observed<B: MessageBody + 'static>(
    observer: Observer,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let (began, method) = (Instant::now(), known_method(&request));
    let (route, path) = (request.match_pattern(), request.path().to_owned());
    let result = next.call(request).await;
    let (status, error, caller) = match &result {
        Ok(response) => {
            let caller = response.request().extensions().get::<CameWith>().cloned();
            (response.status(), response.response().error(), caller)
        }
        Err(error) => (error.as_response_error().status_code(), Some(error), None),
    };
    // Everybody chooses paths, and each label of a metric is kept.
    observer.metrics.count(route.as_deref().unwrap_or(NO_ROUTE), method, status.as_u16(), began.elapsed());
    if status.is_client_error() || status.is_server_error() {
        let error = error.and_then(|error| error.as_error::<ApiError>());
        let route = route.unwrap_or_else(|| shown_path(&path));
        observer.tell((&route, method), Refused { status, error, caller });
    }
    result
}
