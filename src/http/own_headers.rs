//! Headers in memory of their own.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderValue;
use actix_web::middleware::Next;

/// Copies the values of the headers out of what was received.
///
/// The library keeps the heads of requests that are over, to use them again, and each value there keeps the whole block
/// alive that it was read into: with the body behind it, in which a card number may be.
pub(crate) async fn with_own_headers<B: MessageBody>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    request.headers_mut().retain(|_, value| {
        if let Ok(own) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = own;
        }
        true
    });
    next.call(request).await
}
