//! Cross-origin requests (Fetch, section 3.2): answered for `/pay/tokens` alone, to the origins of an application.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse};

use super::edge::Edge;

/// Time for which a browser caches the answer to a preflight, in seconds.
const MAX_AGE: &str = "600";

/// Maximum length of an origin: a scheme, a name of 253 characters (RFC 1035, section 2.3.4) and a port.
const MAX_LENGTH: usize = "https://".len() + 253 + ":65535".len();

/// Decision about the origin of a request whose key is known.
#[derive(Clone, Copy)]
struct IsAllowed(bool);

/// Returns the origin that a request states. Several origins, one that is not text, or one that is too long count as an
/// origin that nobody has.
pub(super) fn origin_of(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(ORIGIN);
    match (sent.next(), sent.next()) {
        (None, _) => None,
        (Some(only), None) => Some(only.to_str().ok().filter(|only| only.len() <= MAX_LENGTH).unwrap_or("")),
        (Some(_), Some(_)) => Some(""),
    }
}

/// Records that the key's own list decides about the origin of this request.
pub(super) fn note(request: &HttpRequest, is_allowed: bool) {
    request.extensions_mut().insert(IsAllowed(is_allowed));
}

/// Handles a preflight. It carries no key, so any application's origins count.
pub(super) async fn preflight(edge: Data<Edge>, request: HttpRequest) -> HttpResponse {
    let mut response = HttpResponse::NoContent();
    let origin = origin_of(request.headers());
    let is_known = match origin {
        Some(origin) => edge.tokens.origins.contains(origin).await,
        None => false,
    };
    note(&request, is_known);
    if is_known {
        response.insert_header((ACCESS_CONTROL_ALLOW_METHODS, "POST"));
        response.insert_header((ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type"));
        response.insert_header((ACCESS_CONTROL_MAX_AGE, MAX_AGE));
    } else if let Some(origin) = origin {
        // The browser sends nothing after this, and gives its page no reason.
        edge.verifier.refused().count_origin(origin);
    }
    response.finish()
}

/// Adds `Access-Control-Allow-Origin` to responses that the page may read, errors included.
pub(super) async fn with_origin<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let origin = origin_of(request.headers()).map(str::to_owned);
    let edge = request.app_data::<Data<Edge>>().cloned();
    let mut response = next.call(request).await?;
    let noted = response.request().extensions().get::<IsAllowed>().copied();
    // Also without an origin: a cache must not give one page's
    // answer to another (Fetch, CORS protocol and HTTP caches).
    response.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
    let (Some(origin), Some(edge)) = (origin, edge) else { return Ok(response) };
    let is_allowed = match noted {
        Some(IsAllowed(is_allowed)) => is_allowed,
        // No key was accepted. The page may read that if its origin belongs to any application here.
        None => edge.tokens.origins.contains(&origin).await,
    };
    if is_allowed && let Ok(value) = HeaderValue::from_str(&origin) {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, value);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_that_no_page_can_have_is_nobody_s() {
        let stated = |origins: &[&str]| {
            let mut headers = HeaderMap::new();
            for origin in origins {
                headers.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            origin_of(&headers).map(str::to_owned)
        };
        let longest = format!("https://{}.com:65535", "a".repeat(249));
        assert_eq!(stated(&[]), None);
        assert_eq!(stated(&[&longest]), Some(longest.clone()));
        assert_eq!(stated(&[&format!("{longest}0")]), Some(String::new()));
        assert_eq!(stated(&["https://a.example", "https://b.example"]), Some(String::new()));
    }
}
