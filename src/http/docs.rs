//! The API's own documentation: `/openapi.json` and a page that shows it.

use actix_web::HttpResponse;
use actix_web::body::MessageBody;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use actix_web::web::Data;

use super::edge::Edge;

const OPENAPI: &str = include_str!("docs/openapi.json");
const PAGE: &str = include_str!("docs/docs.html");
const SCRIPT: &str = include_str!("docs/docs.js");
const STYLE: &str = include_str!("docs/docs.css");
const FOR_PROGRAMS: &str = include_str!("docs/llms.txt");

/// The server of the description while it is at the root of its host.
const AT_ROOT: &str = "\"url\": \"/\"";

/// `GET /openapi.json`
pub(crate) async fn openapi(edge: Data<Edge>) -> HttpResponse {
    if !edge.mount.is_below_a_path() {
        return answer("application/json", OPENAPI);
    }
    let server = format!("\"url\": \"{}\"", edge.mount);
    answer("application/json", OPENAPI.replacen(AT_ROOT, &server, 1))
}

/// `GET /docs`
pub(crate) async fn page() -> HttpResponse {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                  form-action 'none'; frame-ancestors 'none'";
    let mut response = answer("text/html; charset=utf-8", PAGE);
    let value = actix_web::http::header::HeaderValue::from_static(policy);
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, value);
    response
}

/// `GET /docs.js`
pub(crate) async fn script() -> HttpResponse {
    answer("text/javascript; charset=utf-8", SCRIPT)
}

/// `GET /llms.txt`: the same for programs that write programs (llmstxt.org).
pub(crate) async fn for_programs() -> HttpResponse {
    answer("text/plain; charset=utf-8", FOR_PROGRAMS)
}

/// `GET /docs.css`
pub(crate) async fn style() -> HttpResponse {
    answer("text/css; charset=utf-8", STYLE)
}

fn answer(kind: &'static str, content: impl MessageBody + 'static) -> HttpResponse {
    HttpResponse::Ok().content_type(kind).insert_header((CACHE_CONTROL, "max-age=300")).body(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_names_its_server_once() {
        assert_eq!(OPENAPI.matches(AT_ROOT).count(), 1);
    }
}
