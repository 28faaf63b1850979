//! `GET /pay/requests`: the last refused requests of a merchant, for integrators.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;

use super::auth::Reader;
use super::edge::Edge;
use quita_services::refusal_log::Refusal;

/// Maximum number of refusals in one response.
const SHOWN: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefusalView<'a> {
    request_id: &'a str,
    at: String,
    method: &'a str,
    route: &'a str,
    status_code: u16,
    code: &'a str,
    message: &'a str,
    fields: &'a [String],
    key_id: &'a str,
}

impl<'a> From<&'a Refusal> for RefusalView<'a> {
    fn from(refusal: &'a Refusal) -> Self {
        Self {
            request_id: &refusal.request_id,
            at: refusal.at.to_string(),
            method: refusal.method,
            route: &refusal.route,
            status_code: refusal.status,
            code: refusal.code,
            message: &refusal.message,
            fields: &refusal.fields,
            key_id: &refusal.key_id,
        }
    }
}

/// `GET /pay/requests`: those of the caller's merchant and mode, on this node, newest first.
pub(crate) async fn list(caller: Reader, edge: Data<Edge>) -> HttpResponse {
    #[derive(Serialize)]
    struct Refusals<'a> {
        /// Node that refused them; null if it is the only one.
        node: Option<String>,
        data: Vec<RefusalView<'a>>,
    }
    let Reader(caller) = caller;
    let refusals = edge.refusals.newest(&caller.owner.merchant, caller.owner.mode, SHOWN);
    let node = edge.payments.node_among_others();
    HttpResponse::Ok().json(Refusals { node, data: refusals.iter().map(RefusalView::from).collect() })
}
