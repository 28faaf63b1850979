//! Headers of the page: those of this version, and no others that affect a browser.

use awc::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, STRICT_TRANSPORT_SECURITY};

use crate::http::PAGE_HEADERS;

/// Content type of the page.
const HTML: &str = "text/html; charset=utf-8";

/// Headers that are allowed, because they do not change what the page shows, loads, sends or stores.
const HARMLESS: [&str; 18] = [
    "accept-ranges",
    "age",
    "alt-svc",
    "connection",
    "content-language",
    "content-length",
    "date",
    "etag",
    "expires",
    "keep-alive",
    "last-modified",
    "pragma",
    "server",
    "server-timing",
    "strict-transport-security",
    "transfer-encoding",
    "vary",
    "via",
];

/// Prefixes of header names that only proxies and this service use.
const OF_PROXIES: [&str; 2] = ["x-", "cf-"];

/// Headers with one of these prefixes that affect browsers nevertheless.
const ACTING: [&str; 6] = [
    "x-content-security-policy",
    "x-dns-prefetch-control",
    "x-frame-options",
    "x-sourcemap",
    "x-ua-compatible",
    "x-webkit-csp",
];

/// Returns the differences in headers.
pub(super) fn differences(headers: &HeaderMap) -> Vec<String> {
    let html = (CONTENT_TYPE, HTML);
    let expected: Vec<_> = PAGE_HEADERS.into_iter().chain([html]).collect();
    let mut differences = Vec::new();
    for (name, expected) in &expected {
        let values: Vec<_> = headers.get_all(name).map(|value| value.to_str().unwrap_or("?")).collect();
        match values.join(", ") {
            found if found == *expected => {}
            found if found.is_empty() => differences.push(format!("header {name} is missing")),
            found => differences.push(format!("header {name} is {found:?} instead of {expected:?}")),
        }
    }
    for value in headers.get_all(STRICT_TRANSPORT_SECURITY).filter(|value| makes_browsers_forget(value)) {
        differences.push(format!("header strict-transport-security is {value:?}: browsers forget https"));
    }
    let is_expected = |name: &str| expected.iter().any(|(known, _)| known == name);
    for name in headers.keys().map(|name| name.as_str()).filter(|name| !is_expected(name)) {
        let is_of_proxy = OF_PROXIES.iter().any(|beginning| name.starts_with(beginning));
        if !HARMLESS.contains(&name) && (!is_of_proxy || ACTING.contains(&name)) {
            differences.push(format!("header {name} is not sent by this version"));
        }
    }
    differences
}

/// Returns true if this value of `Strict-Transport-Security` makes browsers accept http again (RFC 6797, 6.1.1).
fn makes_browsers_forget(value: &HeaderValue) -> bool {
    let directives = value.to_str().unwrap_or_default().split(';');
    let mut ages = directives.filter_map(|directive| directive.trim().strip_prefix("max-age="));
    !ages.any(|age| age.trim_matches('"').parse::<u64>().is_ok_and(|seconds| seconds > 0))
}

#[cfg(test)]
mod tests {
    use awc::http::header::HeaderName;

    use super::*;

    fn headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in PAGE_HEADERS.into_iter().chain([(CONTENT_TYPE, HTML)]) {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_header_that_is_missing_changed_or_there_twice_is_told() {
        assert_eq!(differences(&headers()), Vec::<String>::new());
        let name = HeaderName::from_static("x-frame-options");
        let mut other = headers();
        other.remove(&name);
        assert_eq!(differences(&other), ["header x-frame-options is missing"]);
        other.insert(name.clone(), HeaderValue::from_static("SAMEORIGIN"));
        assert_eq!(differences(&other), ["header x-frame-options is \"SAMEORIGIN\" instead of \"DENY\""]);
        let mut twice = headers();
        twice.append(name, HeaderValue::from_static("DENY"));
        assert_eq!(differences(&twice).len(), 1);
    }

    #[test]
    fn a_header_on_which_browsers_act_is_told_and_one_of_a_proxy_is_not() {
        let with = |name: &'static str| {
            let mut headers = headers();
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_static("0; url=https://evil.example/"),
            );
            differences(&headers).len()
        };
        for name in [
            "refresh",
            "link",
            "set-cookie",
            "location",
            "content-security-policy",
            "clear-site-data",
            "sourcemap",
            "content-security-policy-report-only",
            "x-ua-compatible",
            "report-to",
            "access-control-allow-origin",
            "content-type",
            "speculation-rules",
            "content-disposition",
            "content-encoding",
        ] {
            assert_eq!(with(name), 1, "{name}");
        }
        for name in ["date", "server", "via", "x-request-id", "cf-ray", "vary"] {
            assert_eq!(with(name), 0, "{name}");
        }
    }

    #[test]
    fn a_time_for_https_that_is_over_at_once_is_told() {
        for (value, expected) in [("max-age=31536000; includeSubDomains", 0), ("max-age=0", 1), ("", 1)] {
            let mut headers = headers();
            headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(value));
            assert_eq!(differences(&headers).len(), expected, "{value}");
        }
    }
}
