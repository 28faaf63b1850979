//! Id of a request: the caller's own if it is valid, otherwise a fresh one. It is in every response and in the log.
//!
//! The language in which the caller wants error messages is kept with it.

use actix_web::HttpRequest;
use actix_web::http::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use quita_domain::card::free_text;
use quita_domain::request::Rejection;
use uuid::Uuid;

use super::errors::ApiError;
use crate::console::Language;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id that is taken from a caller.
const MAX_LENGTH: usize = 128;

/// Request that is being handled.
#[derive(Clone)]
struct Current {
    id: String,
    language: Language,
}

impl Current {
    /// Returns a request that is known by its id alone, or none at all.
    const fn of(id: String) -> Self {
        Self { id, language: Language::English }
    }
}

tokio::task_local! {
    static CURRENT: Current;
}

/// Returns the id of the request being handled, or an empty text outside a request.
pub(crate) fn current() -> String {
    CURRENT.try_with(|current| current.id.clone()).unwrap_or_default()
}

/// Returns the language that its caller asks for: English unless `Accept-Language` names another.
pub(super) fn language() -> Language {
    CURRENT.try_with(|current| current.language).unwrap_or(Language::English)
}

/// Runs work for a request that has no id of its own.
pub(crate) fn in_fresh_request<T>(work: impl FnOnce(&str) -> T) -> T {
    let id = Uuid::now_v7().to_string();
    CURRENT.sync_scope(Current::of(id.clone()), || work(&id))
}

/// Keeps the request's id for work that continues in a separate task.
pub(crate) fn carry<W: Future>(work: W) -> impl Future<Output = W::Output> {
    let current = CURRENT.try_with(Clone::clone).unwrap_or_else(|_| Current::of(String::new()));
    CURRENT.scope(current, work)
}

/// Id of a request that is being answered.
pub(super) struct RequestId {
    current: Current,
    header: Option<HeaderValue>,
}

impl RequestId {
    /// Returns the caller's id, or a fresh one.
    ///
    /// Also returns a refusal if the caller's id contained a card number. That id is never passed on.
    pub(super) fn of(request: &HttpRequest) -> (Self, Result<(), ApiError>) {
        let SentId { id, holds_card_number } = sent_id(request);
        let header = HeaderValue::from_str(&id).ok();
        let refusal = holds_card_number.then(|| ApiError::from(Rejection::card_number_in("X-Request-Id")));
        let current = Current { id, language: language_of(request) };
        (Self { current, header }, refusal.map_or(Ok(()), Err))
    }

    /// Runs the work of the request under its id.
    pub(super) async fn scope<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.current.clone(), work).await
    }

    /// Adds the id to the headers of the response, and keeps the response out of caches.
    pub(super) fn add_headers(self, headers: &mut HeaderMap) {
        if let Some(header) = self.header {
            headers.insert(HEADER, header);
        }
        // Intermediate caches must not store a response, unless it says otherwise itself.
        if !headers.contains_key(CACHE_CONTROL) {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
    }
}

/// Returns the language of the request: English if there is no `Accept-Language`.
fn language_of(request: &HttpRequest) -> Language {
    // Programs rarely send the header, and most developers read English.
    let says_so = request.headers().contains_key(ACCEPT_LANGUAGE);
    let asked_for = if says_so { Language::asked_for(request) } else { None };
    asked_for.unwrap_or(Language::English)
}

/// Id that a request came with.
struct SentId {
    /// The caller's id, or a fresh one.
    id: String,
    holds_card_number: bool,
}

fn sent_id(request: &HttpRequest) -> SentId {
    let all = || request.headers().get_all(HEADER);
    // A longer value is discarded anyway, so it need not be searched.
    let mut short = all().filter(|value| value.len() <= MAX_LENGTH);
    // Bytes that are not text may still surround a card number.
    let holds_card_number =
        short.any(|value| free_text::holds_card_number(&String::from_utf8_lossy(value.as_bytes())));
    let sent = all().next().and_then(|value| value.to_str().ok());
    let is_sane = |id: &&str| {
        let fits = (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
        fits && !holds_card_number
    };
    let id = sent.filter(is_sane).map_or_else(|| Uuid::now_v7().to_string(), String::from);
    SentId { id, holds_card_number }
}
