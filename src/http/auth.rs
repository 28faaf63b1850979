//! Authentication of callers: every call of the API passes through here.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpRequest, web};
use quita_domain::access::{KeyKind, PresentedKey, Scope};
use quita_domain::wording::Wording;

use super::client_address::address_of;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::{key_expiry, observed, query};
use quita_services::access::{AccessError, Caller, bearer};
use quita_services::refused_requests::RefusedRequest;

type ApiFuture<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// Declares an extractor for callers with a scope.
macro_rules! caller_with {
    ($(#[$doc:meta])* $name:ident, $scope:expr) => {
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Caller);

        impl FromRequest for $name {
            type Error = ApiError;
            type Future = ApiFuture<Self>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                let request = request.clone();
                Box::pin(async move { authorize(&request, $scope).await.map(Self) })
            }
        }
    };
}

caller_with!(
    /// Caller that may create, cancel, capture and refund.
    Writer,
    Scope::PaymentsWrite
);
caller_with!(
    /// Caller that may read payments.
    Reader,
    Scope::PaymentsRead
);
caller_with!(
    /// Caller that may see and repeat deliveries.
    WebhookOperator,
    Scope::Webhooks
);

async fn authorize(request: &HttpRequest, scope: Scope) -> Result<Caller, ApiError> {
    let Some(edge) = request.app_data::<web::Data<Edge>>() else { return Err(ApiError::defect("no edge")) };
    let caller = identify(request).await?;
    if caller.kind == KeyKind::Publishable {
        edge.verifier.refused().count_key(RefusedRequest::Scope, &caller.key_id);
        return Err(ApiError::new(ErrorCode::PublishableKey, wordings::publishable_key()));
    }
    // Counted after the key is known and before any other work: unknown keys have separate limits.
    edge.rate_limit.count(&caller.key_id)?;
    require(edge, &caller, scope)?;
    query::refuse_unread(request)?;
    Ok(caller)
}

/// Refuses a caller that lacks a scope.
pub(super) fn require(edge: &Edge, caller: &Caller, scope: Scope) -> Result<(), ApiError> {
    if caller.may(scope) {
        return Ok(());
    }
    edge.verifier.refused().count_key(RefusedRequest::Scope, &caller.key_id);
    let has: Vec<_> = caller.scopes.iter().map(|scope| scope.as_str()).collect();
    Err(ApiError::forbidden(wordings::no_scope(scope.as_str(), &has.join(", "))))
}

/// Returns the caller of a request, whatever its scopes.
pub(super) async fn identify(request: &HttpRequest) -> Result<Caller, ApiError> {
    let Some(edge) = request.app_data::<web::Data<Edge>>() else { return Err(ApiError::defect("no edge")) };
    let mut sent = request.headers().get_all(AUTHORIZATION);
    let only = match (sent.next(), sent.next()) {
        (Some(header), None) => header.to_str().map_err(|_| wordings::no_bearer()),
        // With two headers, a proxy and this service could each use a different one.
        (Some(_), Some(_)) => Err(wordings::several_authorizations()),
        (None, _) => Err(wordings::no_authorization()),
    };
    let header = only.map_err(|message| {
        edge.verifier.refused().count(RefusedRequest::NoKey);
        ApiError::unauthorized(message)
    })?;
    let from = address_of(request, edge.is_behind_proxy);
    let caller = edge.verifier.verify(header, from).await.map_err(|error| match error {
        AccessError::Invalid => {
            ApiError::unauthorized(wrong_form(header).unwrap_or_else(wordings::unknown_key))
        }
        AccessError::Ended(key) => {
            observed::note_ended_key(request, &key, kind_of(header));
            ApiError::unauthorized(wordings::unknown_key())
        }
        AccessError::TooMany(retry_after_s) => ApiError::too_many_unknown_keys(retry_after_s),
        AccessError::StoreUnavailable(error) => quita_actors::Denied::StoreUnavailable(error).into(),
    })?;
    observed::note_caller(request, &caller);
    if let Some(ends_at) = caller.ends_soon {
        key_expiry::note(request, ends_at);
    }
    Ok(caller)
}

/// Records the caller of a request that is refused for any caller, so that the merchant finds the refusal in its list.
/// A missing or unknown key changes nothing.
pub(super) async fn note_known_caller(request: &HttpRequest) {
    let Some(edge) = request.app_data::<web::Data<Edge>>() else { return };
    let mut sent = request.headers().get_all(AUTHORIZATION);
    let (Some(header), None) = (sent.next(), sent.next()) else { return };
    let Ok(header) = header.to_str() else { return };
    if wrong_form(header).is_some() {
        return;
    }
    let from = address_of(request, edge.is_behind_proxy);
    if let Ok(caller) = edge.verifier.verify(header, from).await {
        observed::note_caller(request, &caller);
    }
}

/// Returns the kind of the key in the header. If its secret was right, its prefix shows the kind.
fn kind_of(header: &str) -> KeyKind {
    bearer(header).and_then(PresentedKey::parse).map(|presented| presented.kind).unwrap_or_default()
}

/// Returns the message about the form of the header, if that is wrong. It reveals nothing about the keys that exist.
fn wrong_form(header: &str) -> Option<Wording> {
    let Some(key) = bearer(header).filter(|key| !key.is_empty()) else { return Some(wordings::no_bearer()) };
    let is_ours = KeyKind::prefixes().any(|(_, _, beginning)| key.starts_with(beginning));
    if is_ours { None } else { Some(wordings::no_quita_key()) }
}
