//! Unknown addresses, and suggestions for them.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::nearest::{is_same, nearest};

use super::auth;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, docs_url, wordings};
use super::unknown_guide;

/// Addresses that the caller may have meant. The parts in braces match anything.
const ADDRESSES: [&str; 21] = [
    "/pay/payments",
    "/pay/payments/{transactionId}",
    "/pay/payments/{transactionId}/events",
    "/pay/payments/{transactionId}/cancel",
    "/pay/payments/{transactionId}/capture",
    "/pay/payments/{transactionId}/refunds",
    "/pay/links",
    "/pay/links/{id}",
    "/pay/links/{id}/close",
    "/pay/refunds",
    "/pay/disputes",
    "/pay/requests",
    "/pay/routing/evaluate",
    "/pay/tokens",
    "/pay/webhooks/deliveries",
    "/pay/webhooks/deliveries/{id}/redeliver",
    "/sandbox/payments/{transactionId}/{action}",
    "/console",
    "/docs",
    "/docs/errors",
    "/openapi.json",
];

/// First parts that addresses of other services often have.
const BEGINNINGS: [&str; 7] = ["api", "rest", "pay", "v1", "v2", "v3", "webhooks"];

/// First parts under which other services have their API description, with the address here.
const DESCRIPTIONS: [(&str, &str); 6] = [
    ("swagger", "/docs"),
    ("redoc", "/docs"),
    ("api-docs", "/docs"),
    ("swagger.json", "/openapi.json"),
    ("openapi", "/openapi.json"),
    ("openapi.yaml", "/openapi.json"),
];

/// Maximum number of parts of an address for which a suggestion is made.
const MOST_PARTS: usize = 8;

/// Answers every unknown address.
pub(crate) async fn not_found(request: HttpRequest, edge: Data<Edge>) -> Result<HttpResponse, ApiError> {
    auth::note_known_caller(&request).await;
    let docs = docs_url("");
    let is_of_docs = request.path().starts_with("/docs/");
    let message = match meant(request.path()) {
        Some(address) => {
            let whole = format!("{}{address}", edge.mount);
            if has_slash_too_many(request.path(), address) {
                wordings::nothing_here_but_without_slash(&whole, &docs)
            } else {
                wordings::nothing_here_but(&whole, &docs)
            }
        }
        None if is_of_docs => return Err(unknown_guide::error(request.path())),
        None => wordings::nothing_here_see(&docs),
    };
    Err(ApiError::new(ErrorCode::NotFound, message))
}

/// Returns the words of all addresses, and those with which other services' addresses begin.
pub(super) fn known_words() -> impl Iterator<Item = &'static str> {
    let parts = ADDRESSES.iter().flat_map(|address| address.split('/'));
    let words = parts.filter(|part| !part.is_empty() && !part.starts_with('{'));
    words.chain(BEGINNINGS).chain(DESCRIPTIONS.map(|(name, _)| name))
}

/// Returns the address that was probably meant, as the documentation writes it. It repeats nothing of the request.
fn meant(path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).take(MOST_PARTS + 1).collect();
    if parts.len() > MOST_PARTS {
        return None;
    }
    let described =
        DESCRIPTIONS.iter().find(|(name, _)| parts.first().is_some_and(|part| is_same(part, name)));
    if let Some((_, address)) = described {
        return Some(address);
    }
    let costs = ADDRESSES.iter().filter_map(|address| Some((cost(&parts, address)?, *address)));
    costs.min_by_key(|(cost, _)| *cost).map(|(_, address)| address)
}

/// Returns true if the requested address is this one with a slash at its end.
fn has_slash_too_many(path: &str, address: &str) -> bool {
    let Some(asked) = path.strip_suffix('/') else { return false };
    let (asked, known) = (asked.split('/'), address.split('/'));
    let is_same_part =
        |(asked, known): (&str, &str)| asked == known || (known.starts_with('{') && !asked.is_empty());
    asked.clone().count() == known.clone().count() && asked.zip(known).all(is_same_part)
}

/// Returns the distance between the requested address and a known one, or `None` if they are unrelated.
fn cost(asked: &[&str], address: &str) -> Option<u32> {
    let known: Vec<&str> = address.split('/').filter(|part| !part.is_empty()).collect();
    (0..=asked.len()).filter_map(|from| cost_of_rest(asked, from, &known)).min()
}

/// Returns the distance if the first `from` requested parts are foreign prefixes. Foreign prefixes of the known
/// address are skipped too, until the lengths match.
fn cost_of_rest(asked: &[&str], from: usize, known: &[&str]) -> Option<u32> {
    let (before, rest) = asked.split_at_checked(from)?;
    let is_beginning = |part: &&str| BEGINNINGS.iter().any(|beginning| is_same(part, beginning));
    let left_out = known.len().checked_sub(rest.len())?;
    let (skipped, compared) = known.split_at_checked(left_out)?;
    if compared.is_empty() || !before.iter().all(is_beginning) || !skipped.iter().all(is_beginning) {
        return None;
    }
    let different: Option<u32> =
        rest.iter().zip(compared).map(|(asked, known)| cost_of_part(asked, known)).sum();
    different?.checked_add(u32::try_from(before.len().max(skipped.len())).ok()?)
}

fn cost_of_part(asked: &str, known: &str) -> Option<u32> {
    match known {
        // Ids have digits; a word in the place of one is more likely a misspelt word.
        _ if known.starts_with('{') => {
            Some(if asked.bytes().any(|byte| byte.is_ascii_digit()) { 0 } else { 3 })
        }
        _ if asked == known => Some(0),
        _ => nearest(asked, [known]).map(|_| 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0193b2c4-0000-7000-8000-000000000000";

    #[test]
    fn what_is_nearly_an_address_is_told_as_that() {
        for (asked, address) in [
            ("/pay/payments/", "/pay/payments"),
            ("//pay//payments", "/pay/payments"),
            ("/v1/payments", "/pay/payments"),
            ("/api/v1/payments", "/pay/payments"),
            ("/payments", "/pay/payments"),
            ("/pay/payment", "/pay/payments"),
            ("/Pay/Payments", "/pay/payments"),
            ("/webhooks/deliveries", "/pay/webhooks/deliveries"),
            ("/pay/deliveries", "/pay/webhooks/deliveries"),
            ("/v1/refunds", "/pay/refunds"),
            ("/pay/dispute", "/pay/disputes"),
            ("/v1/routing/evaluate", "/pay/routing/evaluate"),
            ("/docs/", "/docs"),
            ("/swagger", "/docs"),
            ("/swagger/index.html", "/docs"),
            ("/openapi", "/openapi.json"),
        ] {
            assert_eq!(meant(asked), Some(address), "{asked}");
        }
        for (asked, address) in [
            (format!("/v1/payments/{ID}"), "/pay/payments/{transactionId}"),
            (format!("/pay/payments/{ID}/"), "/pay/payments/{transactionId}"),
            (format!("/payments/{ID}/refund"), "/pay/payments/{transactionId}/refunds"),
            (format!("/pay/payment/{ID}/cancel"), "/pay/payments/{transactionId}/cancel"),
        ] {
            assert_eq!(meant(&asked), Some(address), "{asked}");
        }
    }

    #[test]
    fn an_address_with_a_slash_too_many_is_recognized() {
        let payment = format!("/pay/payments/{ID}");
        for (path, address, expected) in [
            (format!("{payment}/"), "/pay/payments/{transactionId}", true),
            ("/pay/payments/".into(), "/pay/payments", true),
            ("/docs/".into(), "/docs", true),
            (payment, "/pay/payments/{transactionId}", false),
            ("/pay/payment/".into(), "/pay/payments", false),
            ("/v1/payments/".into(), "/pay/payments", false),
            ("/pay/payments//".into(), "/pay/payments/{transactionId}", false),
        ] {
            assert_eq!(has_slash_too_many(&path, address), expected, "{path}");
        }
    }

    #[test]
    fn what_is_like_no_address_is_not_guessed() {
        for asked in ["/", "/pay", "/wp-login.php", "/pay/payments/x/y/z", "/%00", "/.env", &"/a".repeat(100)]
        {
            assert_eq!(meant(asked), None, "{asked}");
        }
    }

    #[test]
    fn addresses_for_merchants_that_are_documented_can_be_meant() {
        let document: serde_json::Value = serde_json::from_str(include_str!("docs/openapi.json")).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let for_merchants =
            paths.keys().filter(|path| path.starts_with("/pay/") || path.starts_with("/sandbox/"));
        for path in for_merchants {
            assert!(ADDRESSES.contains(&path.as_str()), "{path}");
        }
    }
}
