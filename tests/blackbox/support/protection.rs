//! The headers that keep browsers from doing more with an answer of a console than it is for.

use super::Answer;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// On every answer of either console.
const PROTECTING: [(&str, &str); 5] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("strict-transport-security", "max-age=31536000; includeSubDomains"),
];

/// Checks the headers of an answer, and what its cookies are for.
#[track_caller]
pub(crate) fn check_is_protected(answer: &Answer) {
    for (name, value) in PROTECTING {
        assert_eq!(answer.header(name), Some(value), "{name}: {answer}");
    }
    let is_asset = answer.request.contains("/console/assets/") && answer.status == 200;
    let kept = if is_asset { "public, max-age=300" } else { "no-store" };
    assert_eq!(answer.header("cache-control"), Some(kept), "{answer}");
    assert!(answer.header("x-request-id").is_some(), "{answer}");
    for (_, cookie) in answer.headers.iter().filter(|(name, _)| name == "set-cookie") {
        for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.contains(attribute), "{attribute}: {answer}");
        }
    }
}

/// Checks the head of an answer that has no end, as it was read in small letters.
#[track_caller]
pub(crate) fn check_stream_is_protected(head: &str) {
    for (name, value) in PROTECTING {
        assert!(head.contains(&format!("{name}: {}\n", value.to_lowercase())), "{name}: {head}");
    }
}
