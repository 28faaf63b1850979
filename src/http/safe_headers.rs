//! Security headers of every response of every listener, unless a handler sets its own.

use actix_web::http::header::{
    CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};

use super::mount::Mount;

/// Names and values (ASVS 5, 3.4).
pub(crate) const SAFE_HEADERS: [(HeaderName, &str); 3] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Pages have stricter ones of their own.
    (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    (REFERRER_POLICY, "no-referrer"),
];

/// Returns the header that makes browsers return only over TLS. Over plain HTTP they ignore it (RFC 6797, section 8.1).
const fn transport_security(mount: Mount) -> (HeaderName, &'static str) {
    // Below a path the host serves other applications too, whose subdomains are not ours to restrict.
    let value =
        if mount.is_below_a_path() { "max-age=31536000" } else { "max-age=31536000; includeSubDomains" };
    (STRICT_TRANSPORT_SECURITY, value)
}

/// Adds the headers that a response does not have yet.
pub(super) fn add_safe_headers(mount: Mount, headers: &mut HeaderMap) {
    for (name, value) in SAFE_HEADERS.into_iter().chain([transport_security(mount)]) {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}
