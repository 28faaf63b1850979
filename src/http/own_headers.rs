//! Request headers in memory of their own.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderValue;
use actix_web::middleware::Next;

/// Copies the header values out of the receive buffer.
///
/// The library pools the heads of finished requests. Each header value there keeps the whole block alive that it was
/// read into, including the body behind it. That body may hold a card.
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
