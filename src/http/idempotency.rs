//! The `Idempotency-Key` header.

use actix_web::HttpRequest;
use actix_web::http::header::{HeaderName, HeaderValue};
use quita_domain::card::holds_card_number;
use quita_domain::request::Rejection;
use quita_domain::wording::Wording;

use super::errors::{ApiError, ErrorCode, wordings};

/// Name of the header.
pub(super) const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Header of a response that repeats the result of an earlier request.
pub(crate) const REPLAYED: (&str, &str) = ("Idempotency-Replayed", "true");
/// Longest key.
const MAX_LENGTH: usize = 255;

/// Returns the caller's key, if it sent one.
pub(crate) fn key_of(request: &HttpRequest) -> Result<Option<String>, ApiError> {
    let mut sent = request.headers().get_all(HEADER);
    let Some(value) = sent.next() else { return Ok(None) };
    let refused = |why| ApiError::new(ErrorCode::InvalidIdempotencyKey, why);
    // With two keys, it would be ambiguous which payment is repeated.
    if sent.next().is_some() {
        return Err(refused(wordings::several_idempotency_keys()));
    }
    let text = checked(value).map_err(refused)?;
    // Keys are stored with the payment, which must not contain a card number (PCI DSS 4.0.1, 3.5.1).
    if holds_card_number(text) {
        return Err(Rejection::card_number_in("Idempotency-Key").into());
    }
    Ok(Some(text.to_owned()))
}

/// Returns the key, or the message for one that is not allowed.
fn checked(value: &HeaderValue) -> Result<&str, Wording> {
    let text = value.to_str().map_err(|_| wordings::odd_idempotency_key())?;
    match text.len() {
        0 => Err(wordings::empty_idempotency_key()),
        length if length > MAX_LENGTH => Err(wordings::long_idempotency_key(length)),
        _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => Err(wordings::odd_idempotency_key()),
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_not_allowed_is_refused_with_what_is_wrong_with_it() {
        let told = |text: &str| {
            let value = HeaderValue::from_bytes(text.as_bytes()).unwrap();
            checked(&value).map(str::len).map_err(|why| why.to_string())
        };
        assert_eq!(told(&"k".repeat(255)), Ok(255));
        for (text, expected) in [
            (String::new(), "the Idempotency-Key is empty"),
            ("k".repeat(256), "the Idempotency-Key has 256 characters"),
            ("a b".to_owned(), "a character that is not allowed"),
            ("ç".to_owned(), "a character that is not allowed"),
        ] {
            let why = told(&text).unwrap_err();
            assert!(why.contains(expected) && why.contains("1 to 255"), "{text:?}: {why}");
        }
    }
}
