//! Request headers copied into separate memory.

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderValue;

/// Copies the header values out of the receive buffer.
///
/// The library pools the heads of finished requests. Each header value there keeps alive the whole block into which it
/// was read, including the body after it. That body may contain a card.
pub(super) fn own_headers(request: &mut ServiceRequest) {
    request.headers_mut().retain(|_, value| {
        if let Ok(own) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = own;
        }
        true
    });
}
