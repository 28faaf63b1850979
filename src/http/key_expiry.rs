//! Warning to a caller that its key ends soon, in a header of every response.

use actix_web::dev::ServiceResponse;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest};
use quita_domain::time::Timestamp;

/// Time at which the request's key ends. It is sent only during the last 30 days.
const HEADER: HeaderName = HeaderName::from_static("quita-key-expires-at");

/// Time at which the key of a request ends.
#[derive(Clone, Copy)]
struct EndsAt(Timestamp);

/// Records that the key of this request ends at this time.
pub(super) fn note(request: &HttpRequest, ends_at: Timestamp) {
    request.extensions_mut().insert(EndsAt(ends_at));
}

/// Adds the header, if an end was recorded.
pub(super) fn add_header(response: &mut ServiceResponse) {
    let noted = response.request().extensions().get::<EndsAt>().copied();
    if let Some(value) = noted.and_then(|EndsAt(at)| HeaderValue::from_str(&at.to_string()).ok()) {
        response.headers_mut().insert(HEADER, value);
    }
}
