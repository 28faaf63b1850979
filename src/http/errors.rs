//! The error body (contract §1.3), and the mapping of actors' and domain's refusals to it.

mod code;
mod doc_url;
mod not_taken;
pub(crate) mod wordings;

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CONTENT_LANGUAGE, HeaderValue, RETRY_AFTER, VARY, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, ResponseError};
use quita_actors::Denied;
use quita_domain::payment::Refusal;
use quita_domain::request::{Rejection, RejectionKind, Violation, code as violation_code};
use quita_domain::wording::Wording;
use quita_ports::StoreError;
use serde::Serialize;

use super::request_id;
use crate::console::Language;

pub(crate) use code::ErrorCode;
pub(crate) use doc_url::{announce_public_url, docs_url};
pub(crate) use not_taken::NotTaken;

/// `Retry-After` of a 503, in seconds.
const RETRY_AFTER_S: u64 = 1;

/// An error as a caller sees it.
#[derive(Debug)]
pub(crate) struct ApiError {
    code: ErrorCode,
    message: Wording,
    details: Vec<Violation>,
    retry_after_s: Option<u64>,
    allow: Option<&'static str>,
    /// True if an API key would help. The response then carries `WWW-Authenticate`.
    wants_key: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorBody<'a> {
    error: &'a str,
    message: &'a str,
    status_code: u16,
    code: &'a str,
    details: Vec<ErrorDetail<'a>>,
    request_id: String,
    doc_url: String,
}

#[derive(Serialize)]
struct ErrorDetail<'a> {
    field: &'a str,
    code: &'a str,
    message: &'a str,
}

impl ApiError {
    pub(crate) const fn new(code: ErrorCode, message: Wording) -> Self {
        Self { code, message, details: Vec::new(), retry_after_s: None, allow: None, wants_key: false }
    }

    /// Returns the error for an id that no payment could have.
    pub(crate) fn unreadable_id() -> Self {
        Self::new(ErrorCode::UnreadableId, wordings::no_transaction_id())
    }

    pub(crate) fn link_not_found() -> Self {
        Self::new(ErrorCode::NotFound, wordings::link_not_found())
    }

    /// Returns the error for a missing or invalid key. The message depends on the form of the header alone.
    pub(crate) fn unauthorized(message: Wording) -> Self {
        Self { wants_key: true, ..Self::new(ErrorCode::Unauthorized, message) }
    }

    pub(crate) fn forbidden(message: Wording) -> Self {
        Self::new(ErrorCode::Forbidden, message)
    }

    pub(crate) fn transaction_not_found() -> Self {
        Self::new(ErrorCode::NotFound, wordings::transaction_not_found())
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        Self { allow: Some(allow), ..Self::new(ErrorCode::MethodNotAllowed, wordings::wrong_method(allow)) }
    }

    /// Returns the error of a key that sent more requests than this number a second.
    pub(crate) fn too_many_requests(retry_after_s: u64, per_second: u32) -> Self {
        Self::rate_limited(retry_after_s, wordings::too_many_requests(per_second))
    }

    pub(crate) fn too_many_unknown_keys(retry_after_s: u64) -> Self {
        Self::rate_limited(retry_after_s, wordings::too_many_unknown_keys())
    }

    /// Returns the error for too many cards from one network.
    pub(crate) fn too_many_card_tries(retry_after_s: u64) -> Self {
        let error = Self::new(ErrorCode::TooManyCardTries, wordings::too_many_card_tries());
        Self { retry_after_s: Some(retry_after_s.max(1)), ..error }
    }

    fn rate_limited(retry_after_s: u64, message: Wording) -> Self {
        Self { retry_after_s: Some(retry_after_s.max(1)), ..Self::new(ErrorCode::RateLimited, message) }
    }

    pub(crate) fn unavailable(code: ErrorCode, message: Wording) -> Self {
        Self { retry_after_s: Some(RETRY_AFTER_S), ..Self::new(code, message) }
    }

    /// Returns the error of a node that lacks the store's current secret key. The log names that key.
    pub(crate) fn secret_key_missing() -> Self {
        Self::unavailable(ErrorCode::SecretKeyMissing, wordings::secret_key_missing())
    }

    /// Returns the error for an address that does not exist.
    pub(crate) fn nothing_here() -> Self {
        Self::new(ErrorCode::NotFound, wordings::nothing_here())
    }

    /// Logs a defect, and returns an error without its details.
    pub(crate) fn defect(what: &str) -> Self {
        tracing::error!(request.id = request_id::current(), what, "a request failed because of a defect");
        Self::new(ErrorCode::InternalError, wordings::internal_error())
    }

    /// Returns the code.
    pub(crate) const fn error_code(&self) -> ErrorCode {
        self.code
    }

    /// Returns true if nothing was stored, and nothing will be. After any other failure of a creation, the payment may
    /// be stored.
    pub(crate) const fn changed_nothing(&self) -> bool {
        !matches!(
            self.code,
            ErrorCode::StoreUnavailable
                | ErrorCode::Interrupted
                | ErrorCode::InternalError
                | ErrorCode::OutcomeUnknown
        )
    }

    /// Returns the sentence about the whole request.
    pub(crate) const fn message(&self) -> &Wording {
        &self.message
    }

    /// Returns the broken rules, in order.
    pub(crate) fn details(&self) -> &[Violation] {
        &self.details
    }

    /// Returns the code of the response.
    pub(crate) const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Returns the body as JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&self.body(request_id::language())).unwrap_or_default()
    }

    fn body(&self, language: Language) -> ErrorBody<'_> {
        let details = self.details.iter().map(|violation| ErrorDetail {
            field: &violation.field,
            code: violation.code,
            message: language.of_wording(&violation.message),
        });
        let status = self.code.status();
        ErrorBody {
            error: status.canonical_reason().unwrap_or("Error"),
            message: language.of_wording(&self.message),
            status_code: status.as_u16(),
            code: self.code.as_str(),
            details: details.collect(),
            request_id: request_id::current(),
            doc_url: docs_url(&format!("errors/{}", self.code.as_str())),
        }
    }

    fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Full(_) | StoreError::Broken(_) => {
                // An outage is logged once, where it is noticed: `actors/src/store/state.rs`.
                tracing::debug!(request.id = request_id::current(), %error, "a request failed because the store is unavailable");
                Self::unavailable(ErrorCode::StoreUnavailable, wordings::of_store(error))
            }
            // Repeating the request helps with an outage. Damaged data stays damaged until a person restores it.
            StoreError::Unreadable(why) => Self::defect(why),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    fn error_response(&self) -> HttpResponse {
        let language = request_id::language();
        let mut response = HttpResponse::build(self.code.status());
        response.insert_header((CONTENT_LANGUAGE, language.tag()));
        response.insert_header((VARY, HeaderValue::from_static("Accept-Language")));
        if let Some(seconds) = self.retry_after_s {
            response.insert_header((RETRY_AFTER, seconds));
        }
        if let Some(allow) = self.allow {
            response.insert_header((ALLOW, allow));
        }
        if self.wants_key {
            response.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        response.json(self.body(language))
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let are = |code: &str| rejection.violations.iter().all(|wrong| wrong.code == code);
        let code = match rejection.kind {
            RejectionKind::Malformed if are(violation_code::UNKNOWN_PARAMETER) => ErrorCode::UnknownParameter,
            RejectionKind::Malformed => ErrorCode::MalformedRequest,
            RejectionKind::Unprocessable if are(violation_code::TOKEN_UNKNOWN) => ErrorCode::TokenUnknown,
            RejectionKind::Unprocessable if are(violation_code::TOKEN_EXPIRED) => ErrorCode::TokenExpired,
            RejectionKind::Unprocessable => ErrorCode::ValidationFailed,
        };
        let message = rejection.message();
        Self { details: rejection.violations, ..Self::new(code, message) }
    }
}

impl From<Denied> for ApiError {
    fn from(denied: Denied) -> Self {
        let message = wordings::of_denied(&denied);
        match denied {
            Denied::NotFound => Self::transaction_not_found(),
            Denied::Refused(refusal) => refusal.into(),
            Denied::KeyReused => Self::new(ErrorCode::IdempotencyKeyReused, message),
            Denied::TokenUsed => {
                let field = "creditCard.token".to_owned();
                let used = Violation { field, code: violation_code::TOKEN_USED, message: message.clone() };
                Self { details: vec![used], ..Self::new(ErrorCode::TokenUsed, message) }
            }
            Denied::AmountNotAccepted => Self::new(ErrorCode::AmountNotAccepted, message),
            Denied::ExpiryNotAccepted => Self::new(ErrorCode::ExpiryNotAccepted, message),
            Denied::MethodUnavailable => Self::new(ErrorCode::MethodUnavailable, message),
            Denied::NoRoute => Self::unavailable(ErrorCode::NoAcquirerAvailable, message),
            Denied::Overloaded => Self::unavailable(ErrorCode::Overloaded, message),
            Denied::Interrupted => Self::unavailable(ErrorCode::Interrupted, message),
            Denied::Stopping => Self::unavailable(ErrorCode::Stopping, message),
            Denied::StoreUnavailable(error) => Self::of_store(&error),
            Denied::Defect(what) => Self::defect(what),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let message = wordings::of_refusal(&refusal);
        let code = match refusal {
            Refusal::NotAllowed { .. } => ErrorCode::StatusConflict,
            Refusal::NotCapturable(_) => ErrorCode::NotCapturable,
            Refusal::CaptureOutOfBounds(_) => ErrorCode::CaptureExceedsAuthorized,
            Refusal::RefundExceedsPaid(_) => ErrorCode::RefundExceedsPaid,
            Refusal::RefundUnsupported => ErrorCode::RefundUnsupported,
            Refusal::KeyReused => ErrorCode::IdempotencyKeyReused,
            Refusal::Busy(_) => ErrorCode::OperationInProgress,
            Refusal::NoSuchDelivery => ErrorCode::NotFound,
            Refusal::TooManyOperations(_) => ErrorCode::TooManyOperations,
            Refusal::RefusedTooOften { .. } => ErrorCode::RefusedTooOften,
            Refusal::NotStuck => ErrorCode::NotStuck,
            Refusal::OutcomeUnknown => return Self::unavailable(ErrorCode::OutcomeUnknown, message),
        };
        Self::new(code, message)
    }
}
