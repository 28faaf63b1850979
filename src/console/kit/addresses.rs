//! Addresses of our own pages: the referring page, the next page, and a check that rejects foreign ones.

use actix_web::HttpRequest;
use actix_web::http::header::REFERER;
use url::{Url, form_urlencoded};

/// Returns the page that a request came from, according to its `Referer`.
pub(super) fn referring_page(request: &HttpRequest) -> Option<Url> {
    let referer = request.headers().get(REFERER)?.to_str().ok()?;
    Url::parse(referer).ok()
}

/// Returns the address of a page that continues to another one.
pub(crate) fn with_next(page: &str, next: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    format!("{page}?{query}")
}

/// Returns the requested address if it belongs to this console, else its start page; never an address of another site.
pub(crate) fn own_address(root: &str, wanted: &str) -> String {
    let is_plain = wanted.chars().all(|character| character.is_ascii_graphic() && character != '\\');
    let is_ours = wanted.strip_prefix(root).is_some_and(|rest| {
        rest.starts_with('/') && !rest.starts_with("//") || (rest.starts_with('?') && !root.is_empty())
    });
    if is_plain && is_ours { wanted.to_owned() } else { format!("{root}/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_site() {
        for (root, wanted) in [
            ("/console", "/console/test/payments?status=paid&q=a%20b"),
            ("/console", "/console/"),
            ("", "/acquirers"),
            ("", "/"),
        ] {
            assert_eq!(own_address(root, wanted), wanted);
        }
        for (root, wanted) in [
            ("/console", ""),
            ("/console", "/"),
            ("/console", "https://evil.example/console/"),
            ("/console", "//evil.example/console/"),
            ("/console", "/console.evil.example/"),
            ("/console", "/console//evil.example"),
            ("/console", "/console/\r\nSet-Cookie: a=b"),
            ("/console", "/pay/payments"),
            ("", "//evil.example"),
            ("", "/\\evil.example"),
            ("", "https://evil.example"),
            ("", "?x"),
        ] {
            assert_eq!(own_address(root, wanted), format!("{root}/"), "{wanted}");
        }
    }
}
