//! Whether the process lives, and whether it can take payments.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Data;
use quita_actors::Payments;
use serde::Serialize;
use tokio::time::timeout;

/// How long the store may take to answer.
const STORE_TIME_OUT: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Liveness {
    status: &'static str,
}

#[derive(Serialize)]
struct Readiness {
    status: &'static str,
    checks: Checks,
}

#[derive(Serialize)]
struct Checks {
    store: Check,
    mailboxes: Check,
    acquirers: Vec<AcquirerCheck>,
}

#[derive(Serialize)]
struct Check {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Serialize)]
struct AcquirerCheck {
    acquirer: String,
    method: &'static str,
    mode: &'static str,
    state: &'static str,
}

/// `GET /health/live`: the process answers.
pub(super) async fn live() -> HttpResponse {
    HttpResponse::Ok().json(Liveness { status: "live" })
}

/// `GET /health/ready`: 200 if payments can be taken, otherwise 503; says why.
pub(super) async fn ready(payments: Data<Payments>) -> HttpResponse {
    let store = check_store(&payments).await;
    let takes_messages = payments.takes_messages();
    let message = (!takes_messages).then(|| String::from("an actor is being recreated"));
    let mailboxes = Check { ok: takes_messages, message };
    let routes = payments.acquirers();
    let has_route = routes.iter().any(|route| route.state.takes_new_payments());
    let is_ready = store.ok && mailboxes.ok && has_route;
    let acquirers = routes.into_iter().map(|route| AcquirerCheck {
        acquirer: route.acquirer.to_string(),
        method: route.method.label(),
        mode: route.mode.as_str(),
        state: route.state.as_str(),
    });
    let checks = Checks { store, mailboxes, acquirers: acquirers.collect() };
    let mut response = if is_ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    response.json(Readiness { status: if is_ready { "ready" } else { "not_ready" }, checks })
}

async fn check_store(payments: &Payments) -> Check {
    match timeout(STORE_TIME_OUT, payments.check_store()).await {
        Ok(Ok(())) => Check { ok: true, message: None },
        Ok(Err(error)) => Check { ok: false, message: Some(error.to_string()) },
        Err(_) => Check { ok: false, message: Some("the store does not answer".into()) },
    }
}
