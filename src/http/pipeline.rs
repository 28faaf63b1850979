//! Steps around the handler of a request, in order. Only the consoles and `/pay/tokens` have steps of their own within.
//!
//! They are plain functions. As middlewares of the library, each would cost every request two allocations and a move of
//! its response.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::Error;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use quita_ports::trace::Tracer;

use super::errors::ApiError;
use super::head::with_head_as_get;
use super::host::check_host;
use super::ignored_names;
use super::key_expiry;
use super::mount::Mount;
use super::observed::Observer;
use super::own_headers::own_headers;
use super::pieces::in_pieces;
use super::refusal_pages::with_refusal_page;
use super::request_id::RequestId;
use super::safe_headers::add_safe_headers;
use super::traced::traced;

/// Response of a step, or an error that the library answers.
pub(crate) type Answer = Result<ServiceResponse, Error>;

/// Settings of the steps of the public listener.
pub(crate) struct Steps {
    pub(crate) mount: Mount,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) observer: Observer,
}

/// Answers a request to the public listener.
pub(crate) async fn answer(steps: Rc<Steps>, request: ServiceRequest, next: Next<BoxBody>) -> Answer {
    identified(steps.mount, request, async |check, request| {
        let observed = steps.observer.observed(request, async |request| {
            refused_or(check.and_then(|()| check_host(&request)), request, async |request| {
                let traced =
                    traced(steps.tracer.as_ref(), request, |request| with_head_as_get(request, next));
                let mut response = traced.await?;
                ignored_names::add_header(&mut response);
                key_expiry::add_header(&mut response);
                Ok(response)
            })
            .await
        });
        observed.await.map(with_refusal_page)
    })
    .await
}

/// Gives a request its id, and its response the headers of every response. A long response goes out in pieces.
///
/// The id exists before anything that logs or refuses. `answer` gets an error if the request's own id is refused.
pub(crate) async fn identified(
    mount: Mount,
    mut request: ServiceRequest,
    answer: impl AsyncFnOnce(Result<(), ApiError>, ServiceRequest) -> Answer,
) -> Answer {
    own_headers(&mut request);
    let (id, check) = RequestId::of(request.request());
    let mut response = id.scope(answer(check, request)).await?;
    id.add_headers(response.headers_mut());
    add_safe_headers(mount, response.headers_mut());
    Ok(response.map_body(|_, body| in_pieces(body)))
}

/// Answers a request, or refuses it.
pub(crate) async fn refused_or(
    check: Result<(), ApiError>,
    request: ServiceRequest,
    answer: impl AsyncFnOnce(ServiceRequest) -> Answer,
) -> Answer {
    match check {
        Ok(()) => answer(request).await,
        Err(refusal) => Ok(request.error_response(refusal)),
    }
}
