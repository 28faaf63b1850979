//! The `Idempotency-Key` header.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use quita_domain::card::holds_card_number;
use quita_domain::request::Rejection;

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
    let text = value.to_str().ok().filter(|text| {
        (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    });
    match (text, sent.next()) {
        // Keys are stored with the payment, which must not contain a card number (PCI DSS 4.0.1, 3.5.1).
        (Some(text), None) if holds_card_number(text) => {
            Err(Rejection::card_number_in("Idempotency-Key").into())
        }
        (Some(text), None) => Ok(Some(text.to_owned())),
        // With two keys, it would be ambiguous which payment is repeated.
        _ => Err(ApiError::new(ErrorCode::InvalidIdempotencyKey, wordings::no_idempotency_key())),
    }
}
