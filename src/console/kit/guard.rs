//! Middleware of every console page: its context, its headers, and protection against requests from other sites.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpRequest, ResponseError};
use quita_ports::trace;

use super::console_kind::ConsoleKind;
use super::page_context::PageContext;
use super::page_error::PageError;
use crate::http::{Mount, request_id};
use quita_services::refused_requests::{RefusedRequest, RefusedRequests};

/// Content security policy: scripts and styles only from our own files, forms only to us, no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Header in which browsers state which site sent a request (Fetch Metadata).
const SENT_FROM: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Handles a request of the merchants' console, which browsers see at this mount path.
pub(crate) async fn merchants<B: MessageBody + 'static>(
    mount: Mount,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    guard(ConsoleKind::Merchant, mount, request, next).await
}

/// Handles a request of the operator's console.
pub(crate) async fn operators<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    guard(ConsoleKind::Operator, Mount::ROOT, request, next).await
}

async fn guard<B: MessageBody + 'static>(
    console: ConsoleKind,
    mount: Mount,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let context = PageContext::of(console, mount, request.request());
    let handled = context.scope(async move {
        if is_from_elsewhere(request.request()) {
            count_refused(console, request.request(), RefusedRequest::ForeignForm);
            let refused = request.into_response(PageError::ForeignForm.error_response());
            return Ok(protect(refused).map_into_right_body());
        }
        let only_reads = is_reading(request.method());
        let answered = match only_reads {
            true => next.call(request).await?,
            // A handler ends with its connection, which could leave a change without its audit entry.
            false => to_its_end(context, request, next).await?,
        };
        if let Some(why) = refusal(answered.response().error()) {
            count_refused(console, answered.request(), why);
        }
        Ok(protect(answered).map_into_left_body())
    });
    handled.await
}

/// Returns the reason why a response refused the visitor, if it did. A request for a proof of identity is not a
/// refusal.
fn refusal(error: Option<&Error>) -> Option<RefusedRequest> {
    match error?.as_error::<PageError>()? {
        PageError::Forbidden => Some(RefusedRequest::Role),
        PageError::ForeignForm => Some(RefusedRequest::ForeignForm),
        PageError::SignedOut(_)
        | PageError::First(_)
        | PageError::Unconfirmed(_)
        | PageError::TooLarge
        | PageError::TooSlow
        | PageError::NotFound
        | PageError::WrongMethod(_)
        | PageError::Refused(_)
        | PageError::Unreadable(_)
        | PageError::Refusal(_)
        | PageError::TooMany(_)
        | PageError::Crowded
        | PageError::Unavailable(_)
        | PageError::Closed
        | PageError::Defect(_) => None,
    }
}

fn count_refused(console: ConsoleKind, request: &HttpRequest, why: RefusedRequest) {
    if let Some(refused) = request.app_data::<Data<RefusedRequests>>() {
        refused.count_page(why, console.door().as_str());
    }
}

/// Completes a change and its audit log entry, even if the client disconnects.
async fn to_its_end<B: MessageBody + 'static>(
    context: PageContext,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let work = context.scope(next.call(request));
    let work = actix_web::rt::spawn(trace::carry(request_id::carry(work)));
    work.await.unwrap_or_else(|error| Err(PageError::Defect(error.to_string()).into()))
}

fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Returns true if another site made the visitor's browser change something. The form token would refuse that too.
fn is_from_elsewhere(request: &HttpRequest) -> bool {
    let only_reads = is_reading(request.method());
    let sent_from = request.headers().get(SENT_FROM);
    // Old browsers and programs do not send this header; for them, the form token alone decides.
    !only_reads && sent_from.is_some_and(|from| from != "same-origin")
}

/// Sets the headers of every page, unless the page has set them itself.
fn protect<B>(mut response: ServiceResponse<B>) -> ServiceResponse<B> {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    };
    set(CACHE_CONTROL, "no-store");
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_FRAME_OPTIONS, "DENY");
    set(REFERRER_POLICY, "same-origin");
    response
}
