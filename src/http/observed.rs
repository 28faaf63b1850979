//! Observation of requests: metrics, and a log line for each refused one.

use std::time::Instant;

use actix_web::dev::ServiceRequest;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use quita_domain::access::KeyKind;
use quita_domain::identity::Owner;
use quita_domain::request::Violation;
use quita_domain::wording::Wording;

use super::edge::Edge;
use super::errors::{ApiError, wordings};
use super::ignored_names::UnknownNames;
use super::pipeline::Answer;
use super::request_id;
use super::request_metrics::{NO_ROUTE, RequestMetrics};
use super::shown_path::shown_path;
use super::traced::known_method;
use quita_services::access::{Caller, EndedKey};
use quita_services::refusal_log::{AnsweredRequest, IgnoredNames, Refusal};

/// Maximum number of fields that are logged and kept of one refusal.
const MAX_FIELDS: usize = 10;

/// Observer that counts requests, and logs the refused ones.
#[derive(Clone)]
pub(crate) struct Observer {
    metrics: RequestMetrics,
    edge: Data<Edge>,
    /// True if every refused request is logged at `info`. Otherwise they are logged only while debug logging is on.
    is_told: bool,
}

/// Caller of a request.
#[derive(Clone)]
struct CameWith {
    owner: Owner,
    key_id: String,
    key_kind: KeyKind,
    /// Reason for a refusal, for its merchant only. The caller learns less.
    reason: Option<Wording>,
}

/// Records the owner and the key of a request, for its log line.
pub(super) fn note_caller(request: &HttpRequest, caller: &Caller) {
    let Caller { owner, key_id, kind, .. } = caller;
    let caller = CameWith { owner: owner.clone(), key_id: key_id.clone(), key_kind: *kind, reason: None };
    request.extensions_mut().insert(caller);
}

/// Records the key and its kind for a request that is refused because its key has ended.
pub(super) fn note_ended_key(request: &HttpRequest, key: &EndedKey, key_kind: KeyKind) {
    let reason = Some(if key.is_revoked { wordings::revoked_key() } else { wordings::expired_key() });
    request.extensions_mut().insert(CameWith {
        owner: key.owner.clone(),
        key_id: key.key_id.clone(),
        key_kind,
        reason,
    });
}

/// Records the error that a page reports in its own words, for its log line.
pub(super) fn note_refusal(page: &mut HttpResponse, error: ApiError) {
    page.extensions_mut().insert(error);
}

impl Observer {
    /// Observes the requests to this edge. Refused ones are logged if `is_told`.
    pub(crate) fn new(metrics: RequestMetrics, edge: Data<Edge>, is_told: bool) -> Self {
        Self { metrics, edge, is_told }
    }

    /// Logs a refusal, and keeps it for its merchant.
    fn tell(&self, request: AnsweredRequest, error: Option<&ApiError>, caller: Option<CameWith>) {
        let (owner, reason) = caller.map(|caller| (caller.owner, caller.reason)).unzip();
        let message = || error.map_or_else(|| Wording::fixed("", ""), |error| error.message().clone());
        let refusal = Refusal {
            request,
            code: error.map_or("", ApiError::code),
            message: reason.flatten().unwrap_or_else(message),
            // A body may break thousands of rules, and two hundred refusals are kept.
            violations: error
                .map(|error| error.details().iter().take(MAX_FIELDS).cloned().collect())
                .unwrap_or_default(),
        };
        if self.is_telling() {
            let told = |violation: &Violation| format!("{} ({})", violation.field, violation.code);
            let fields: Vec<_> = refusal.violations.iter().map(told).collect();
            tracing::info!(
                request.id = refusal.request.request_id,
                method = refusal.request.method,
                route = refusal.request.route,
                status = refusal.request.status,
                code = refusal.code,
                why = refusal.message.english(),
                fields = fields.join(", "),
                key.id = refusal.request.key_id,
                "a request was refused"
            );
        }
        if let Some(owner) = owner {
            self.edge.refusals.keep(&owner, refusal);
        }
    }

    /// Logs ignored names of a request, and keeps them for its merchant: nothing else reveals a misspelt optional
    /// field.
    fn tell_ignored(&self, request: AnsweredRequest, ignored: &UnknownNames, owner: &Owner) {
        if self.is_telling() {
            tracing::info!(
                request.id = request.request_id,
                method = request.method,
                route = request.route,
                status = request.status,
                names = ignored.told(),
                key.id = request.key_id,
                "unknown names in a request were ignored"
            );
        }
        self.edge.refusals.keep_ignored(owner, IgnoredNames { request, names: ignored.names().to_vec() });
    }

    fn is_telling(&self) -> bool {
        self.is_told || tracing::enabled!(tracing::Level::DEBUG)
    }

    /// Answers a request. Counts it and its time, and logs it if it was refused, or if some of its names were ignored.
    pub(super) async fn observed(
        &self,
        request: ServiceRequest,
        answer: impl AsyncFnOnce(ServiceRequest) -> Answer,
    ) -> Answer {
        let began = Instant::now();
        let method = known_method(&request);
        let route = request.match_pattern();
        let shown = if route.is_none() { shown_path(request.path()) } else { String::new() };
        let result = answer(request).await;
        let (status, error, caller, ignored) = match &result {
            Ok(response) => {
                let extensions = response.request().extensions();
                let caller = extensions.get::<CameWith>();
                let ignored = extensions.get::<UnknownNames>();
                (response.status(), response.response().error(), caller.cloned(), ignored.cloned())
            }
            Err(error) => (error.as_response_error().status_code(), Some(error), None, None),
        };
        // Anyone may invent paths, and each label of a metric is kept.
        let label = route.as_deref().unwrap_or(NO_ROUTE);
        self.metrics.count(label, method, status.as_u16(), began.elapsed());
        let is_refused = status.is_client_error() || status.is_server_error();
        if !is_refused && ignored.is_none() {
            return result;
        }
        let answered = AnsweredRequest {
            at: self.edge.clock.now(),
            request_id: request_id::current(),
            method,
            route: route.unwrap_or(shown),
            status: status.as_u16(),
            key_id: caller.as_ref().map(|caller| caller.key_id.clone()).unwrap_or_default(),
            key_kind: caller.as_ref().map(|caller| caller.key_kind).unwrap_or_default(),
        };
        if is_refused {
            let page = result.as_ref().ok().map(|response| response.response().extensions());
            let of_page = page.as_ref().and_then(|extensions| extensions.get::<ApiError>());
            let error = error.and_then(|error| error.as_error::<ApiError>()).or(of_page);
            self.tell(answered, error, caller);
        } else if let (Some(ignored), Some(caller)) = (ignored, caller) {
            self.tell_ignored(answered, &ignored, &caller.owner);
        }
        result
    }
}
