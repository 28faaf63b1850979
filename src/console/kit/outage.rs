//! An outage of the store as open pages ask for it: any visitor, since no session can be read meanwhile.

use actix_web::HttpResponse;
use actix_web::web::Data;
use quita_actors::StoreState;
use serde::Serialize;

#[derive(Serialize)]
struct Outage {
    /// Beginning of the outage; null while the store is there.
    since: Option<String>,
}

/// `GET /outage`
pub(crate) async fn show(store: Data<StoreState>) -> HttpResponse {
    let since = store.away().map(|away| away.since.to_string());
    HttpResponse::Ok().json(Outage { since })
}
