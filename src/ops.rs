//! The operators' listener: health, metrics, exceptions, and the operator's console. Bound to loopback by default.

mod health;
mod known_hosts;
#[cfg(target_os = "linux")]
pub(crate) mod process_metrics;

use std::io;

use actix_web::body::BoxBody;
use actix_web::dev::{Server, ServiceRequest};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Data};
use actix_web::{App, HttpRequest, HttpResponse};
use prometheus::{Encoder, Registry, TextEncoder};
use quita_actors::Payments;
use quita_domain::exception::Exception;
use serde::Serialize;

use crate::console::operator::{self, OperatorConsole, PresentStates};
use crate::http::{
    Answer, ApiError, Mount, check_host, identified, reading, refuse_query, refused_or, with_head_as_get,
};
use crate::listener::Listener;
pub(crate) use health::ReadyMetric;
pub(crate) use known_hosts::KnownHosts;

/// Maximum number of exceptions in one response.
const EXCEPTIONS: usize = 500;

/// Serves the operators' listener.
///
/// # Errors
/// Fails if the socket can't be used.
pub(crate) fn listen(
    listener: Listener,
    payments: Payments,
    registry: Registry,
    console: Data<OperatorConsole>,
    hosts: KnownHosts,
) -> io::Result<Server> {
    let store_state = Data::from(payments.store_state());
    let payments = Data::new(payments);
    let registry = Data::new(registry);
    listener.serve(move || {
        let hosts = hosts.clone();
        App::new()
            .wrap(from_fn(move |request, next| answer(hosts.clone(), request, next)))
            .app_data(payments.clone())
            .app_data(registry.clone())
            .app_data(store_state.clone())
            .app_data(console.refused_requests())
            .app_data(console.clone())
            .service(reading("/health/live", web::get().to(health::live)))
            .service(reading("/health/ready", web::get().to(health::ready)))
            .service(reading("/metrics", web::get().to(metrics)))
            .service(reading("/ops/exceptions", web::get().to(exceptions)))
            .configure(operator::configure)
    })
}

/// Answers a request to the operators' listener.
async fn answer(hosts: KnownHosts, request: ServiceRequest, next: Next<BoxBody>) -> Answer {
    identified(Mount::ROOT, request, async |check, request| {
        let check = check.and_then(|()| check_host(&request)).and_then(|()| hosts.check(&request));
        refused_or(check, request, async |request| with_head_as_get(request, next).await).await
    })
    .await
}

/// Handles `GET /metrics`, in the Prometheus text format.
async fn metrics(registry: Data<Registry>) -> Result<HttpResponse, ApiError> {
    let encoder = TextEncoder::new();
    let mut text = Vec::new();
    encoder.encode(&registry.gather(), &mut text).map_err(|error| ApiError::defect(&error.to_string()))?;
    Ok(HttpResponse::Ok().content_type(encoder.format_type()).body(text))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionView<'a> {
    id: &'a str,
    kind: &'a str,
    transaction_id: Option<String>,
    acquirer: Option<&'a str>,
    detail: &'a str,
    advice: &'a str,
    reported_at: String,
    /// Present status of the payment, for an unknown outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_status: Option<&'static str>,
    /// True if no outcome of the payment is unknown any more, for an unknown outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    settled_by_itself: Option<bool>,
}

impl<'a> From<&'a Exception> for ExceptionView<'a> {
    fn from(exception: &'a Exception) -> Self {
        Self {
            id: &exception.id,
            kind: &exception.kind,
            transaction_id: exception.transaction_id.map(|id| id.to_string()),
            acquirer: exception.acquirer.as_ref().map(|name| name.as_str()),
            detail: &exception.detail,
            advice: &exception.advice,
            reported_at: exception.reported_at.to_string(),
            payment_status: None,
            settled_by_itself: None,
        }
    }
}

impl<'a> ExceptionView<'a> {
    /// Creates the view, with the present state of a payment whose outcome was reported as unknown.
    fn at_present(exception: &'a Exception, present: &PresentStates) -> Self {
        let state = present.of(exception);
        Self {
            payment_status: state.map(|state| state.status.as_str()),
            settled_by_itself: state.map(|state| state.is_settled),
            ..Self::from(exception)
        }
    }
}

/// Handles `GET /ops/exceptions`: returns the exceptions that need a person, newest first.
async fn exceptions(console: Data<OperatorConsole>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    #[derive(Serialize)]
    struct Exceptions<'a> {
        data: Vec<ExceptionView<'a>>,
    }
    refuse_query(&request)?;
    let found = console.operators.exceptions(EXCEPTIONS).await?;
    let present = console.present(&found).await;
    let view = |exception| ExceptionView::at_present(exception, &present);
    Ok(HttpResponse::Ok().json(Exceptions { data: found.iter().map(view).collect() }))
}
