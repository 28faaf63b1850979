//! `GET /pay/requests`: the last refused requests of a merchant, for integrators.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;

use super::auth::Reader;
use super::edge::Edge;
use super::request_id;
use crate::console::Language;
use quita_services::refusal_log::{AnsweredRequest, IgnoredNames, Refusal};

/// Maximum number of entries of each list and kind of key in one response.
const SHOWN: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestView<'a> {
    request_id: &'a str,
    at: String,
    method: &'a str,
    route: &'a str,
    status_code: u16,
}

impl<'a> From<&'a AnsweredRequest> for RequestView<'a> {
    fn from(request: &'a AnsweredRequest) -> Self {
        Self {
            request_id: &request.request_id,
            at: request.at.to_string(),
            method: request.method,
            route: &request.route,
            status_code: request.status,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefusalView<'a> {
    #[serde(flatten)]
    request: RequestView<'a>,
    code: &'a str,
    message: &'a str,
    fields: Vec<&'a str>,
    details: Vec<DetailView<'a>>,
    key_id: &'a str,
}

#[derive(Serialize)]
struct DetailView<'a> {
    field: &'a str,
    code: &'a str,
    message: &'a str,
}

impl<'a> RefusalView<'a> {
    fn of(refusal: &'a Refusal, language: Language) -> Self {
        let details = refusal.violations.iter().map(|violation| DetailView {
            field: &violation.field,
            code: violation.code,
            message: language.of_wording(&violation.message),
        });
        Self {
            request: (&refusal.request).into(),
            code: refusal.code,
            message: language.of_wording(&refusal.message),
            fields: refusal.violations.iter().map(|violation| violation.field.as_str()).collect(),
            details: details.collect(),
            key_id: &refusal.request.key_id,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IgnoredView<'a> {
    #[serde(flatten)]
    request: RequestView<'a>,
    names: Vec<NameView<'a>>,
    key_id: &'a str,
}

#[derive(Serialize)]
struct NameView<'a> {
    name: &'a str,
    /// Name that was probably meant.
    meant: Option<&'a str>,
}

impl<'a> From<&'a IgnoredNames> for IgnoredView<'a> {
    fn from(ignored: &'a IgnoredNames) -> Self {
        let names =
            ignored.names.iter().map(|name| NameView { name: &name.path, meant: name.meant.as_deref() });
        Self { request: (&ignored.request).into(), names: names.collect(), key_id: &ignored.request.key_id }
    }
}

/// `GET /pay/requests`: those of the caller's merchant and mode, on this node, newest first.
pub(crate) async fn list(caller: Reader, edge: Data<Edge>) -> HttpResponse {
    #[derive(Serialize)]
    struct RequestsBody<'a> {
        /// Node that refused them; null if it is the only one.
        node: Option<String>,
        data: Vec<RefusalView<'a>>,
        ignored: Vec<IgnoredView<'a>>,
    }
    let Reader(caller) = caller;
    let merchant = &caller.owner.merchant;
    let mode = caller.owner.mode;
    let refusals = edge.refusals.newest(merchant, mode, SHOWN);
    let ignored = edge.refusals.newest_ignored(merchant, mode, SHOWN);
    let language = request_id::language();
    HttpResponse::Ok().json(RequestsBody {
        node: edge.payments.node_among_others(),
        data: refusals.iter().map(|refusal| RefusalView::of(refusal, language)).collect(),
        ignored: ignored.iter().map(IgnoredView::from).collect(),
    })
}
