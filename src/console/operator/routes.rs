//! Routes of the operator's console.

use actix_web::middleware::from_fn;
use actix_web::web::{self, PathConfig, QueryConfig, ServiceConfig};

use super::{
    account, acquirers, actors, audit, charges, exceptions, first, jobs, live, mismatches, nodes, operations,
    overview, people, reconciliation, runbook, sign_in, store, transactions,
};
use crate::console::kit::page_error::PageError;
use crate::console::kit::{assets, guard, outage};

/// Registers every route. It must be called last, because its scope matches all remaining paths.
pub(crate) fn configure(config: &mut ServiceConfig) {
    let scope = web::scope("")
        .app_data(PathConfig::default().error_handler(|_, _| PageError::NotFound.into()))
        .app_data(QueryConfig::default().error_handler(|_, _| PageError::NotFound.into()))
        .wrap(from_fn(guard::operators))
        .route("/console/assets/{name:.*}", web::get().to(assets::asset))
        .route("/outage", web::get().to(outage::show))
        .route("/", web::get().to(overview::show))
        .route("/overview/stream", web::get().to(overview::stream))
        .route("/runbook", web::get().to(runbook::show))
        .route("/actors", web::get().to(actors::show))
        .route("/kinds/{kind}", web::get().to(actors::kind))
        .route("/live", web::get().to(live::samples))
        .route("/live/history", web::get().to(live::history))
        .route("/transactions", web::get().to(transactions::list))
        .route("/transactions/{id}", web::get().to(transactions::show))
        .route("/transactions/{id}/charges/{number}", web::get().to(charges::ask))
        .route("/transactions/{id}/charges/{number}", web::post().to(charges::act))
        .route("/transactions/{id}/mismatch", web::get().to(mismatches::ask))
        .route("/transactions/{id}/mismatch", web::post().to(mismatches::act))
        .route("/transactions/{id}/operations/{operation}", web::get().to(operations::ask))
        .route("/transactions/{id}/operations/{operation}", web::post().to(operations::act))
        .route("/transactions/{id}/stream", web::get().to(transactions::stream))
        .route("/acquirers", web::get().to(acquirers::show))
        .route("/acquirers/stream", web::get().to(acquirers::stream))
        .route("/acquirers/{name}/{method}/{directive}", web::get().to(acquirers::ask))
        .route("/acquirers/{name}/{method}/{directive}", web::post().to(acquirers::act))
        .route("/exceptions", web::get().to(exceptions::show))
        .route("/exceptions/act", web::get().to(exceptions::ask))
        .route("/exceptions/act", web::post().to(exceptions::act))
        .route("/reconciliation", web::get().to(reconciliation::show))
        .route("/reconciliation/lines", web::get().to(reconciliation::lines))
        .route("/reconciliation.csv", web::get().to(reconciliation::download))
        .route("/store", web::get().to(store::show))
        .route("/store/stream", web::get().to(store::stream))
        .route("/jobs", web::get().to(jobs::show))
        .route("/jobs/{name}", web::get().to(jobs::ask))
        .route("/jobs/{name}", web::post().to(jobs::act))
        .route("/nodes/{id}", web::get().to(nodes::ask))
        .route("/nodes/{id}", web::post().to(nodes::act))
        .route("/audit", web::get().to(audit::show))
        .route("/account", web::get().to(account::show))
        .route("/account/password", web::post().to(account::change_password))
        .route("/account/mail", web::post().to(account::set_mailing))
        .route("/account/webhook", web::post().to(account::set_webhook))
        .route("/account/sessions/end-others", web::post().to(account::end_other_sessions))
        .route("/account/sessions/{id}/end", web::post().to(account::end_session))
        .route("/factor", web::get().to(account::ask_factor))
        .route("/factor", web::post().to(account::set_up_factor))
        .route("/account/recovery-codes", web::post().to(account::renew_recovery_codes))
        .route("/account/factor/remove", web::post().to(account::remove_factor))
        .route("/sign-in/password", web::get().to(sign_in::ask_new_password))
        .route("/sign-in/password", web::post().to(sign_in::choose_password))
        .route("/people", web::get().to(people::show))
        .route("/people", web::post().to(people::create))
        .route("/people/{login}/{verb}", web::get().to(people::ask))
        .route("/people/{login}/{verb}", web::post().to(people::act))
        .route("/first-operator", web::post().to(first::make))
        .route("/sign-in", web::get().to(sign_in::show))
        .route("/sign-in", web::post().to(sign_in::sign_in))
        .route("/sign-in/code", web::get().to(sign_in::ask_code))
        .route("/sign-in/code", web::post().to(sign_in::give_code))
        .route("/sign-out", web::post().to(sign_in::sign_out))
        .route("/language", web::post().to(sign_in::choose_language))
        .default_service(web::to(|| async { Err::<actix_web::HttpResponse, _>(PageError::NotFound) }));
    config.service(scope);
}
