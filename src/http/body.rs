//! Reading of bodies: JSON only, bounded in size and in time. A body may hold a card, so it is zeroed when it is
//! dropped.

use std::time::Duration;

use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING,
};
use actix_web::web::Payload;
use actix_web::{HttpMessage, HttpRequest};
use futures_util::StreamExt;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::errors::{ApiError, ErrorCode, wordings};

/// The largest body (contract §1.1).
const MAX_BYTES: usize = 256 * 1024;
/// The largest form of a payer.
const MAX_FORM_BYTES: usize = 64 * 1024;
/// The largest body with a card: its number, its holder's name and two short texts.
const MAX_CARD_BYTES: usize = 8 * 1024;
/// Initial capacity of a body, unless a smaller length is announced.
const FIRST_ROOM: usize = 8 * 1024;
/// Time within which a caller must send the body.
pub(crate) const BODY_TIME_OUT: Duration = Duration::from_secs(10);

/// Bytes of a whole body. No copy of them is left behind in memory here.
pub(crate) type RequestBody = Zeroizing<Vec<u8>>;

/// Reads a JSON body.
pub(crate) async fn read_json(request: &HttpRequest, payload: Payload) -> Result<RequestBody, ApiError> {
    read_json_within(request, payload, MAX_BYTES).await
}

/// Reads a form that a payer's page sends as JSON.
pub(crate) async fn read_json_form(request: &HttpRequest, payload: Payload) -> Result<RequestBody, ApiError> {
    read_json_within(request, payload, MAX_FORM_BYTES).await
}

/// Reads a JSON body with only a card. Anyone may send one with the publishable key of a page.
pub(crate) async fn read_json_card(request: &HttpRequest, payload: Payload) -> Result<RequestBody, ApiError> {
    read_json_within(request, payload, MAX_CARD_BYTES).await
}

async fn read_json_within(
    request: &HttpRequest,
    payload: Payload,
    most: usize,
) -> Result<RequestBody, ApiError> {
    refuse_encoded(request)?;
    let is_json = request.content_type().eq_ignore_ascii_case("application/json");
    if is_json { read_within(request, payload, most).await } else { Err(no_json()) }
}

/// Reads an optional JSON body. Without a body the content type may be missing too.
pub(crate) async fn read_optional_json(
    request: &HttpRequest,
    payload: Payload,
) -> Result<RequestBody, ApiError> {
    let says_json = request.headers().contains_key(CONTENT_TYPE);
    if says_json {
        return read_json(request, payload).await;
    }
    refuse_encoded(request)?;
    let bytes = read(request, payload).await?;
    if bytes.is_empty() { Ok(bytes) } else { Err(no_json()) }
}

/// Refuses a body that would have to be decompressed.
fn refuse_encoded(request: &HttpRequest) -> Result<(), ApiError> {
    let headers = request.headers();
    let has_body =
        announced_length(request).is_some_and(|length| length > 0) || headers.contains_key(TRANSFER_ENCODING);
    if !has_body || headers.get_all(CONTENT_ENCODING).all(is_identity) {
        return Ok(());
    }
    // A small compressed body could become a large one.
    Err(ApiError::new(ErrorCode::UnsupportedContentEncoding, wordings::encoded_body()))
}

/// Returns true if this `Content-Encoding` leaves the body as it is.
fn is_identity(encodings: &HeaderValue) -> bool {
    let mut encodings = encodings.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    encodings.all(|encoding| encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity"))
}

fn announced_length(request: &HttpRequest) -> Option<usize> {
    request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.trim().parse().ok())
}

fn no_json() -> ApiError {
    ApiError::new(ErrorCode::UnsupportedMediaType, wordings::no_json())
}

/// Reads a body of any kind.
pub(crate) async fn read(request: &HttpRequest, payload: Payload) -> Result<RequestBody, ApiError> {
    read_within(request, payload, MAX_BYTES).await
}

/// Reads a form of a payer.
pub(crate) async fn read_form(request: &HttpRequest, payload: Payload) -> Result<RequestBody, ApiError> {
    read_within(request, payload, MAX_FORM_BYTES).await
}

async fn read_within(request: &HttpRequest, payload: Payload, most: usize) -> Result<RequestBody, ApiError> {
    let announced = announced_length(request);
    // Refused by its announced length, so that no part of a body that is too large is read.
    if announced.is_some_and(|length| length > most) {
        return Err(too_large(most));
    }
    let room = announced.map_or(FIRST_ROOM, |announced| announced.min(FIRST_ROOM));
    match timeout(BODY_TIME_OUT, collect(payload, room, most)).await {
        Ok(body) => body,
        Err(_) => {
            let message = wordings::late_body(BODY_TIME_OUT.as_secs());
            Err(ApiError::new(ErrorCode::RequestTimeout, message))
        }
    }
}

async fn collect(mut payload: Payload, room: usize, most: usize) -> Result<RequestBody, ApiError> {
    let mut body = RequestBody::new(Vec::with_capacity(room));
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| ApiError::new(ErrorCode::UnreadableBody, wordings::broken_body()))?;
        // Checked again while reading: a chunked body announces no length, and an announced length may be wrong.
        if body.len().saturating_add(chunk.len()) > most {
            return Err(too_large(most));
        }
        append(&mut body, &chunk);
    }
    Ok(body)
}

/// Appends a chunk, and zeroes the old buffer if a larger one is needed.
fn append(body: &mut RequestBody, chunk: &[u8]) {
    let length = body.len().saturating_add(chunk.len());
    if length > body.capacity() {
        let room = length.max(body.capacity().saturating_mul(2));
        // A vector that grew by itself would leave its old contents in freed memory.
        let mut larger = RequestBody::new(Vec::with_capacity(room));
        larger.extend_from_slice(body);
        *body = larger;
    }
    body.extend_from_slice(chunk);
}

fn too_large(most: usize) -> ApiError {
    ApiError::new(ErrorCode::PayloadTooLarge, wordings::large_body(most / 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_whole_however_it_comes() {
        let sent: Vec<u8> = (0..=u8::MAX).cycle().take(3 * FIRST_ROOM).collect();
        for size in [1, 7, 4_096, sent.len()] {
            let mut body = RequestBody::new(Vec::with_capacity(10));
            for chunk in sent.chunks(size) {
                append(&mut body, chunk);
            }
            assert_eq!(*body, sent);
        }
    }
}
