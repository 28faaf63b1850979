//! Path of a request to an unknown address, as shown in the log of refusals.
//!
//! A path may contain anything: an id, a document, an e-mail address. So only words from addresses of this and other
//! services are shown, including misspelt ones. Every other part becomes `…`, and the query is left out.

use std::ops::RangeInclusive;

use quita_domain::nearest::{is_same, nearest};

use super::unknown_address::known_words;

/// Words in addresses of other services, for which a program may have been written.
const FOREIGN_WORDS: [&str; 27] = [
    "accounts",
    "authorize",
    "balance",
    "boleto",
    "boletos",
    "cards",
    "charge",
    "charges",
    "checkouts",
    "customers",
    "graphql",
    "health",
    "invoices",
    "oauth",
    "orders",
    "payers",
    "payouts",
    "pix",
    "refund",
    "sessions",
    "status",
    "subscriptions",
    "token",
    "transactions",
    "transfers",
    "users",
    "webhook",
];

/// Replacement for a path of which no part can be shown.
const NOTHING_TO_SHOW: &str = "unknown path";

/// Replacement of a part that may hold a value.
const HIDDEN: &str = "…";

/// Maximum number of parts of a path that are shown.
const MOST_PARTS: usize = 9;

/// Lengths in bytes of a misspelt word. A shorter one may be a name: Daniel is two letters away from `cancel`.
const MISSPELT_WORDS: RangeInclusive<usize> = 7..=20;

/// Returns a path without anything that may be a value.
pub(super) fn shown_path(path: &str) -> String {
    let mut shown: Vec<_> = path.split('/').take(MOST_PARTS).map(shown_part).collect();
    if path.split('/').nth(MOST_PARTS).is_some() {
        shown.push(HIDDEN);
    }
    let hides_all = shown.iter().all(|part| part.is_empty() || *part == HIDDEN);
    if hides_all && shown.contains(&HIDDEN) { NOTHING_TO_SHOW.into() } else { shown.join("/") }
}

fn shown_part(part: &str) -> &str {
    let words = || known_words().chain(FOREIGN_WORDS);
    let is_word = || words().any(|word| is_same(part, word));
    let is_text = MISSPELT_WORDS.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_misspelt = || is_text && nearest(part, words()).is_some();
    if part.is_empty() || is_word() || is_misspelt() { part } else { HIDDEN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_as_it_was_asked_for() {
        for path in [
            "/v1/payments",
            "/api/v1/payments",
            "/pay/paymets",
            "/Pay/Payments",
            "/pay/payments/",
            "//pay//payments",
            "/pay/webhooks/deliverys",
            "/v1/charges",
            "/v1/checkout/sessions",
            "/swagger/index.html",
            "/openapi.yaml",
        ] {
            let expected = path.replace("index.html", HIDDEN);
            assert_eq!(shown_path(path), expected, "{path}");
        }
    }

    #[test]
    fn what_may_be_a_value_is_hidden() {
        for (path, shown) in [
            ("/pay/payments/0193b2c4-0000-7000-8000-000000000000/receipt", "/pay/payments/…/…"),
            ("/pay/payments/52998224725/refund", "/pay/payments/…/refund"),
            ("/pay/payments/529.982.247-25/refund", "/pay/payments/…/refund"),
            ("/customers/ana@example.com", "/customers/…"),
            ("/customers/Daniel", "/customers/…"),
            ("/pay/Lins", "/pay/…"),
            ("/customers/Ana%20Maria", "/customers/…"),
            ("/customers/AnaMaria/pix/+5511987654321", "/customers/…/pix/…"),
            ("/cards/4242424242424242", "/cards/…"),
            ("/v4242424242424242/payments", "/…/payments"),
            ("/payments4242424242424242", "unknown path"),
            ("/payments52", "unknown path"),
            ("/pay/qk_test_0123456789abcdef_secret", "/pay/…"),
            ("/ana-silva", "unknown path"),
            ("/%00", "unknown path"),
            ("/a/a/a/a/a/a/a/pay/a/a/a/a", "/…/…/…/…/…/…/…/pay/…"),
        ] {
            assert_eq!(shown_path(path), shown, "{path}");
        }
        assert_eq!(shown_path("/"), "/");
        assert_eq!(shown_path(&"/x".repeat(10_000)), "unknown path");
    }
}
