//! Media types that a client asks for.

use actix_web::HttpRequest;
use actix_web::http::header::{Accept, Header as _, Quality};

/// Returns true if the client asks for a page, as browsers do when they open an address. A client that accepts anything
/// gets the answer for programs.
pub(super) fn asks_for_page(request: &HttpRequest) -> bool {
    let page = quality_of(request, "text/html");
    page > Quality::ZERO && page >= quality_of(request, "application/json")
}

/// Returns true if the client names JSON, and does not prefer a page.
pub(super) fn asks_for_json(request: &HttpRequest) -> bool {
    quality_of(request, "application/json") > Quality::ZERO && !asks_for_page(request)
}

/// Returns the quality of a media type in the client's `Accept`; zero if it is not named.
fn quality_of(request: &HttpRequest, media_type: &str) -> Quality {
    let Ok(accepted) = Accept::parse(request) else { return Quality::ZERO };
    let named = accepted.iter().filter(|range| range.item.essence_str() == media_type);
    named.map(|range| range.quality).max().unwrap_or(Quality::ZERO)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn a_page_is_for_clients_that_name_it_before_json() {
        for (accept, is_page, is_json) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true, false),
            ("text/html", true, false),
            ("application/json;q=0.5, text/html;q=0.6", true, false),
            ("application/json", false, true),
            ("application/json, text/html;q=0.9", false, true),
            ("application/json, text/html;q=0", false, true),
            ("text/html;q=0", false, false),
            ("image/avif,image/webp,*/*;q=0.8", false, false),
            ("*/*", false, false),
            ("nonsense", false, false),
            ("", false, false),
        ] {
            let request = TestRequest::default().insert_header((ACCEPT, accept)).to_http_request();
            assert_eq!((asks_for_page(&request), asks_for_json(&request)), (is_page, is_json), "{accept}");
        }
        let request = TestRequest::default().to_http_request();
        assert_eq!((asks_for_page(&request), asks_for_json(&request)), (false, false));
    }
}
