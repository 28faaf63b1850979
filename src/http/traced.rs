//! The span of a request: the first of a trace, or a child of its caller's.
//!
//! It records method, route and status. It records no addresses, since they contain ids and tokens, and nothing from
//! the bodies.

use std::sync::Arc;

use actix_web::dev::ServiceRequest;
use actix_web::http::StatusCode;
use quita_ports::trace::{Span, SpanKind, Tracer, within};

use super::pipeline::Answer;
use super::{request_id, traceparent};

/// Methods that are recorded by name; any other word may be anything.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Replacement for any other method (OpenTelemetry, semantic conventions for HTTP).
const OTHER_METHOD: &str = "_OTHER";

/// Answers a request within a span, if there is a tracer. Everything that it causes is recorded, if its trace is.
pub(super) async fn traced<F: Future<Output = Answer>>(
    tracer: Option<&Arc<dyn Tracer>>,
    request: ServiceRequest,
    answer: impl FnOnce(ServiceRequest) -> F,
) -> Answer {
    let Some(tracer) = tracer else { return answer(request).await };
    let mut span = begin(tracer, &request);
    let result = within(span.context().cloned(), answer(request)).await;
    span.record_with(|span| {
        let status = match &result {
            Ok(response) => response.status(),
            Err(error) => error.as_response_error().status_code(),
        };
        record_status(span, status);
    });
    result
}

/// Begins the span of a request, as a child of the caller's if there is one.
fn begin(tracer: &Arc<dyn Tracer>, request: &ServiceRequest) -> Span {
    let name = || match request.match_pattern() {
        Some(route) => format!("{} {route}", known_method(request)).into(),
        None => known_method(request).into(),
    };
    // A caller may opt out of recording. If it opts in, the tracer still decides.
    let span = match traceparent::of(request.headers()) {
        Some(caller) if caller.is_recorded => Span::go_on(tracer, caller.position, name),
        Some(_) => Span::none(),
        None => Span::begin(Some(tracer), name),
    };
    let mut span = span.of_kind(SpanKind::Server);
    span.record_with(|span| {
        span.record("http.request.method", known_method(request));
        if let Some(route) = request.match_pattern() {
            span.record("http.route", route);
        }
        span.record("request.id", request_id::current());
    });
    span
}

/// Returns the name of the method, or `_OTHER` for an unusual one.
pub(super) fn known_method(request: &ServiceRequest) -> &'static str {
    METHODS.into_iter().find(|known| *known == request.method().as_str()).unwrap_or(OTHER_METHOD)
}

fn record_status(span: &mut Span, status: StatusCode) {
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.fail("the answer is an error of this service");
    }
}
