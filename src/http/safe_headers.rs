//! Headers that every answer of every listener carries, unless a handler says otherwise.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::middleware::Next;

use super::mount::Mount;

/// Names and values (ASVS 5, 3.4).
pub(crate) const SAFE_HEADERS: [(HeaderName, &str); 3] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Pages have stricter ones of their own.
    (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    (REFERRER_POLICY, "no-referrer"),
];

/// Browsers come back over TLS alone. Over plain HTTP they ignore it (RFC 6797, section 8.1). Below a path the host belongs to
/// others too, whose subdomains are none of our business.
const fn transport_security(mount: Mount) -> (HeaderName, &'static str) {
    let value =
        if mount.is_below_a_path() { "max-age=31536000" } else { "max-age=31536000; includeSubDomains" };
    (STRICT_TRANSPORT_SECURITY, value)
}

/// Adds those headers that an answer does not have yet.
pub(crate) async fn with_safe_headers<B: MessageBody>(
    mount: Mount,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let mut response = next.call(request).await?;
    let headers = response.headers_mut();
    for (name, value) in SAFE_HEADERS.into_iter().chain([transport_security(mount)]) {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    Ok(response)
}
