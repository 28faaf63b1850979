//! Endpoint at which open pages ask for an outage of the store. It is open to any visitor, since no session can be read
//! meanwhile.

use actix_web::HttpResponse;
use actix_web::web::Data;
use quita_actors::StoreState;
use serde::Serialize;

#[derive(Serialize)]
struct Outage {
    /// Beginning of the outage; null while the store is available.
    since: Option<String>,
}

/// Handles `GET /outage`.
pub(crate) async fn show(store: Data<StoreState>) -> HttpResponse {
    let since = store.away().map(|away| away.since.to_string());
    HttpResponse::Ok().json(Outage { since })
}
