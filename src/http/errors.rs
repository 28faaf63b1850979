//! The one shape of errors (contract §1.3), and how refusals of the inside map to it.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, ResponseError};
use quita_actors::Denied;
use quita_domain::payment::Refusal;
use quita_domain::request::{Rejection, RejectionKind, Violation, code};
use quita_ports::StoreError;
use serde::Serialize;

use super::request_id;

/// Seconds after which a caller may try again what was refused with 503.
const RETRY_AFTER_S: u64 = 1;

/// An error as a caller sees it.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Vec<Violation>,
    retry_after_s: Option<u64>,
    allow: Option<&'static str>,
    /// Whether an API key would help, which the answer says then.
    wants_key: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    error: &'a str,
    message: &'a str,
    status_code: u16,
    code: &'a str,
    details: Vec<Detail<'a>>,
    request_id: String,
}

#[derive(Serialize)]
struct Detail<'a> {
    field: &'a str,
    code: &'a str,
    message: &'a str,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            details: Vec::new(),
            retry_after_s: None,
            allow: None,
            wants_key: false,
        }
    }

    pub(crate) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// An id that no payment could have.
    pub(crate) fn unreadable_id() -> Self {
        Self::bad_request("unreadable_id", "the transactionId must be a UUID with hyphens")
    }

    pub(crate) fn unauthorized() -> Self {
        let message = "invalid or missing API key";
        Self { wants_key: true, ..Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message) }
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn transaction_not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "transaction not found")
    }

    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub(crate) fn unprocessable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        let message = format!("this address answers {allow}");
        Self {
            allow: Some(allow),
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
        }
    }

    pub(crate) fn too_many_requests(retry_after_s: u64) -> Self {
        Self::rate_limited(retry_after_s, "this key sends more requests a second than it may")
    }

    pub(crate) fn too_many_unknown_keys(retry_after_s: u64) -> Self {
        Self::rate_limited(retry_after_s, "too many unknown API keys come from this network")
    }

    fn rate_limited(retry_after_s: u64, message: &str) -> Self {
        Self {
            retry_after_s: Some(retry_after_s.max(1)),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
        }
    }

    pub(crate) fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            retry_after_s: Some(RETRY_AFTER_S),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
        }
    }

    /// The store works with a secret key that this node was not given; the log says which.
    pub(crate) fn secret_key_missing() -> Self {
        let message =
            "this node takes no new payments until its configuration is mended; nothing was charged";
        Self::unavailable("secret_key_missing", message)
    }

    /// A defect: the log has it, the caller does not.
    pub(crate) fn defect(what: &str) -> Self {
        tracing::error!(request.id = request_id::current(), what, "a request met a defect");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "an internal error; it was logged")
    }

    /// The code of the answer.
    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    /// The fields that were wrong, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = String> + '_ {
        self.details.iter().map(|violation| violation.field.clone())
    }

    /// The body, as JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&self.body()).unwrap_or_default()
    }

    fn body(&self) -> Body<'_> {
        let details = self.details.iter().map(|violation| Detail {
            field: &violation.field,
            code: violation.code,
            message: &violation.message,
        });
        Body {
            error: self.status.canonical_reason().unwrap_or("Error"),
            message: &self.message,
            status_code: self.status.as_u16(),
            code: self.code,
            details: details.collect(),
            request_id: request_id::current(),
        }
    }

    fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Broken(_) => {
                tracing::warn!(request.id = request_id::current(), %error, "a request met a store out of reach");
                Self::unavailable(
                    "store_unavailable",
                    "the store is out of reach; nothing is lost, try again",
                )
            }
            StoreError::Unreadable(why) => Self::defect(why),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        if let Some(seconds) = self.retry_after_s {
            response.insert_header((RETRY_AFTER, seconds));
        }
        if let Some(allow) = self.allow {
            response.insert_header((ALLOW, allow));
        }
        if self.wants_key {
            response.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        response.json(self.body())
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let are_unknown = rejection.violations.iter().all(|wrong| wrong.code == code::UNKNOWN_PARAMETER);
        if let Some(first) = rejection.violations.first().filter(|_| are_unknown) {
            let message = format!("{} {}", first.field, first.message);
            return Self {
                details: rejection.violations,
                ..Self::bad_request(code::UNKNOWN_PARAMETER, message)
            };
        }
        let (status, code) = match rejection.kind {
            RejectionKind::Malformed => (StatusCode::BAD_REQUEST, "malformed_request"),
            RejectionKind::Unprocessable => (StatusCode::UNPROCESSABLE_ENTITY, "validation_failed"),
        };
        Self { details: rejection.violations, ..Self::new(status, code, rejection.message) }
    }
}

impl From<Denied> for ApiError {
    fn from(denied: Denied) -> Self {
        let message = denied.to_string();
        match denied {
            Denied::NotFound => Self::transaction_not_found(),
            Denied::Refused(refusal) => refusal.into(),
            Denied::KeyReused => Self::unprocessable("idempotency_key_reused", message),
            Denied::AmountNotAccepted => Self::unprocessable("amount_not_accepted", message),
            Denied::ExpiryNotAccepted => Self::unprocessable("expiry_not_accepted", message),
            Denied::MethodUnavailable => Self::unprocessable("method_unavailable", message),
            Denied::NoRoute => Self::unavailable("no_acquirer_available", message),
            Denied::Overloaded => Self::unavailable("overloaded", message),
            Denied::Interrupted => Self::unavailable("interrupted", message),
            Denied::Stopping => Self::unavailable("stopping", message),
            Denied::StoreUnavailable(error) => Self::of_store(&error),
            Denied::Defect(what) => Self::defect(what),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::NotAllowed { .. } => Self::conflict("status_conflict", message),
            Refusal::NotCapturable(_) => Self::conflict("not_capturable", message),
            Refusal::CaptureOutOfBounds(_) => Self::unprocessable("capture_exceeds_authorized", message),
            Refusal::RefundExceedsPaid(_) => Self::unprocessable("refund_exceeds_paid", message),
            Refusal::KeyReused => Self::unprocessable("idempotency_key_reused", message),
            Refusal::Busy(_) => Self::conflict("operation_in_progress", message),
            Refusal::NoSuchDelivery => Self::new(StatusCode::NOT_FOUND, "not_found", message),
            Refusal::TooManyOperations(_) => Self::conflict("too_many_operations", message),
            Refusal::RefusedTooOften { .. } => Self::conflict("refused_too_often", message),
            Refusal::OutcomeUnknown => Self::unavailable("outcome_unknown", message),
            Refusal::NotStuck => Self::conflict("not_stuck", message),
        }
    }
}
