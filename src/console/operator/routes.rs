//! Routes of the operator's console.

use actix_web::middleware::from_fn;
use actix_web::web::{self, PathConfig, QueryConfig, ServiceConfig};

use super::{
    account, acquirers, actors, audit, charges, exceptions, first, jobs, live, mismatches, nodes, operations,
    overview, people, reconciliation, runbook, sign_in, store, transactions,
};
use crate::console::kit::page_error::PageError;
use crate::console::kit::resources::{change, form, not_found, page};
use crate::console::kit::{assets, guard, outage};

/// Registers every route. It must be called last, because its scope matches all remaining paths.
pub(crate) fn configure(config: &mut ServiceConfig) {
    let scope = web::scope("")
        .app_data(PathConfig::default().error_handler(|_, _| PageError::NotFound.into()))
        .app_data(QueryConfig::default().error_handler(|_, _| PageError::NotFound.into()))
        .wrap(from_fn(guard::operators))
        .service(page("/console/assets/{name:.*}", web::get().to(assets::asset)))
        .service(page("/outage", web::get().to(outage::show)))
        .service(page("/", web::get().to(overview::show)))
        .service(page("/overview/stream", web::get().to(overview::stream)))
        .service(page("/runbook", web::get().to(runbook::show)))
        .service(page("/actors", web::get().to(actors::show)))
        .service(page("/kinds/{kind}", web::get().to(actors::kind)))
        .service(page("/live", web::get().to(live::samples)))
        .service(page("/live/history", web::get().to(live::history)))
        .service(page("/transactions", web::get().to(transactions::list)))
        .service(page("/transactions/{id}", web::get().to(transactions::show)))
        .service(form(
            "/transactions/{id}/charges/{number}",
            web::get().to(charges::ask),
            web::post().to(charges::act),
        ))
        .service(form(
            "/transactions/{id}/mismatch",
            web::get().to(mismatches::ask),
            web::post().to(mismatches::act),
        ))
        .service(form(
            "/transactions/{id}/operations/{operation}",
            web::get().to(operations::ask),
            web::post().to(operations::act),
        ))
        .service(page("/transactions/{id}/stream", web::get().to(transactions::stream)))
        .service(page("/acquirers", web::get().to(acquirers::show)))
        .service(page("/acquirers/stream", web::get().to(acquirers::stream)))
        .service(form(
            "/acquirers/{name}/{method}/{directive}",
            web::get().to(acquirers::ask),
            web::post().to(acquirers::act),
        ))
        .service(page("/exceptions", web::get().to(exceptions::show)))
        .service(form("/exceptions/act", web::get().to(exceptions::ask), web::post().to(exceptions::act)))
        .service(page("/reconciliation", web::get().to(reconciliation::show)))
        .service(page("/reconciliation/lines", web::get().to(reconciliation::lines)))
        .service(page("/reconciliation.csv", web::get().to(reconciliation::download)))
        .service(page("/store", web::get().to(store::show)))
        .service(page("/store/stream", web::get().to(store::stream)))
        .service(page("/jobs", web::get().to(jobs::show)))
        .service(form("/jobs/{name}", web::get().to(jobs::ask), web::post().to(jobs::act)))
        .service(form("/nodes/{id}", web::get().to(nodes::ask), web::post().to(nodes::act)))
        .service(page("/audit", web::get().to(audit::show)))
        .service(page("/account", web::get().to(account::show)))
        .service(change("/account/password", web::post().to(account::change_password)))
        .service(change("/account/mail", web::post().to(account::set_mailing)))
        .service(change("/account/webhook", web::post().to(account::set_webhook)))
        .service(change("/account/sessions/end-others", web::post().to(account::end_other_sessions)))
        .service(change("/account/sessions/{id}/end", web::post().to(account::end_session)))
        .service(form("/factor", web::get().to(account::ask_factor), web::post().to(account::set_up_factor)))
        .service(change("/account/recovery-codes", web::post().to(account::renew_recovery_codes)))
        .service(change("/account/factor/remove", web::post().to(account::remove_factor)))
        .service(form(
            "/sign-in/password",
            web::get().to(sign_in::ask_new_password),
            web::post().to(sign_in::choose_password),
        ))
        .service(form("/people", web::get().to(people::show), web::post().to(people::create)))
        .service(form("/people/{login}/{verb}", web::get().to(people::ask), web::post().to(people::act)))
        .service(change("/first-operator", web::post().to(first::make)))
        .service(form("/sign-in", web::get().to(sign_in::show), web::post().to(sign_in::sign_in)))
        .service(form("/sign-in/code", web::get().to(sign_in::ask_code), web::post().to(sign_in::give_code)))
        .service(change("/sign-out", web::post().to(sign_in::sign_out)))
        .service(change("/language", web::post().to(sign_in::choose_language)))
        .default_service(web::to(not_found));
    config.service(scope);
}
