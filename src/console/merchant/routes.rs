//! Routes of the merchants' console.

use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PathConfig, QueryConfig, ServiceConfig};

use super::applications::{self, keys, one, reach, secrets, test_event};
use super::links::{closing, new_link};
use super::payment::{by_hand, operations, payer};
use super::payments::{export, test_payment};
use super::{
    MerchantConsole, account, audit_log, deliveries, links, movements, overview, payment, payments, people,
    requests, sign_in,
};
use crate::console::kit::page_error::PageError;
use crate::console::kit::resources::{change, form, not_found, page};
use crate::console::kit::{assets, guard, outage};

/// Registers every route below `/console`.
pub(crate) fn configure(config: &mut ServiceConfig, console: Data<MerchantConsole>) {
    let mount = console.edge.mount;
    let scope = web::scope("/console")
        .app_data(console.refused_requests())
        .app_data(console)
        .app_data(PathConfig::default().error_handler(|_, _| PageError::NotFound.into()))
        .app_data(QueryConfig::default().error_handler(|_, _| PageError::NotFound.into()))
        .wrap(from_fn(move |request, next| guard::merchants(mount, request, next)))
        .service(page("/assets/{name:.*}", web::get().to(assets::asset)))
        .service(page("/outage", web::get().to(outage::show)))
        .service(page("", web::get().to(overview::start)))
        .service(page("/", web::get().to(overview::start)))
        .service(form("/sign-in", web::get().to(sign_in::show), web::post().to(sign_in::sign_in)))
        .service(form("/sign-in/code", web::get().to(sign_in::ask_code), web::post().to(sign_in::give_code)))
        .service(form(
            "/sign-in/password",
            web::get().to(sign_in::ask_new_password),
            web::post().to(sign_in::choose_password),
        ))
        .service(form("/factor", web::get().to(account::ask_factor), web::post().to(account::set_up_factor)))
        .service(change("/sign-out", web::post().to(sign_in::sign_out)))
        .service(change("/language", web::post().to(sign_in::choose_language)))
        // As one pattern: every worker compiles each at its start, and a request tries one after another.
        .service(web::scope("/{mode}").configure(in_a_mode).default_service(web::to(not_found)))
        .default_service(web::to(not_found));
    config.service(scope);
}

/// Registers the routes of a mode, relative to it.
fn in_a_mode(config: &mut ServiceConfig) {
    config
        .service(page("", web::get().to(overview::show)))
        .configure(payments_routes)
        .configure(links_routes)
        .service(page("/refunds", web::get().to(movements::refunds)))
        .service(page("/disputes", web::get().to(movements::disputes)))
        .configure(deliveries_routes)
        .service(page("/requests", web::get().to(requests::show)))
        .configure(applications_routes)
        .service(form("/people", web::get().to(people::show), web::post().to(people::create)))
        .service(change("/people/policy", web::post().to(people::set_policy)))
        .service(change("/people/profile", web::post().to(people::profile::set)))
        .service(form("/people/{login}/{verb}", web::get().to(people::ask), web::post().to(people::act)))
        .service(page("/audit", web::get().to(audit_log::show)))
        .service(page("/account", web::get().to(account::show)))
        .service(change("/account/password", web::post().to(account::change_password)))
        .service(change("/account/mail", web::post().to(account::set_mailing)))
        .service(change("/account/webhook", web::post().to(account::set_webhook)))
        .service(change("/account/recovery-codes", web::post().to(account::renew_recovery_codes)))
        .service(change("/account/factor/remove", web::post().to(account::remove_factor)))
        .service(change("/account/sessions/end-others", web::post().to(account::end_other_sessions)))
        .service(change("/account/sessions/{id}/end", web::post().to(account::end_session)));
}

fn payments_routes(config: &mut ServiceConfig) {
    config
        .service(page("/payments", web::get().to(payments::show)))
        .service(page("/payments.csv", web::get().to(export::download)))
        .service(page("/payments/stream", web::get().to(payments::stream)))
        .service(page("/payments/{id}", web::get().to(payment::show)))
        .service(page("/payments/{id}/stream", web::get().to(payment::stream)))
        .service(change("/test-payment", web::post().to(test_payment::create)))
        .service(form(
            "/payments/{id}/sandbox/{action}",
            web::get().to(by_hand::ask),
            web::post().to(by_hand::act),
        ))
        .service(change("/payments/{id}/payer", web::post().to(payer::show)))
        .service(form(
            "/payments/{id}/{verb}",
            web::get().to(operations::ask),
            web::post().to(operations::act),
        ))
        .service(form(
            "/payments/{id}/deliveries/{index}/redeliver",
            web::get().to(operations::ask_redelivery),
            web::post().to(operations::redeliver),
        ));
}

fn links_routes(config: &mut ServiceConfig) {
    config
        .service(page("/links", web::get().to(links::show)))
        .service(form("/links/new", web::get().to(new_link::ask), web::post().to(new_link::create)))
        .service(page("/links/{id}", web::get().to(links::show_one)))
        .service(form("/links/{id}/close", web::get().to(closing::ask), web::post().to(closing::close)));
}

fn deliveries_routes(config: &mut ServiceConfig) {
    config.service(page("/deliveries", web::get().to(deliveries::show))).service(form(
        "/deliveries/redeliver",
        web::get().to(deliveries::redeliver::ask),
        web::post().to(deliveries::redeliver::act),
    ));
}

fn applications_routes(config: &mut ServiceConfig) {
    config
        .service(form(
            "/applications",
            web::get().to(applications::show),
            web::post().to(applications::create),
        ))
        .service(page("/applications/{name}", web::get().to(one::show)))
        .service(change("/applications/{name}/rename", web::post().to(one::rename)))
        .service(change("/applications/{name}/endpoint", web::post().to(reach::set_endpoint)))
        .service(change("/applications/{name}/origins", web::post().to(reach::set_origins)))
        .service(change("/applications/{name}/keys", web::post().to(keys::create)))
        .service(form(
            "/applications/{name}/keys/{id}/{verb}",
            web::get().to(keys::ask),
            web::post().to(keys::act),
        ))
        .service(form(
            "/applications/{name}/secret/rotate",
            web::get().to(secrets::ask),
            web::post().to(secrets::rotate),
        ))
        .service(change("/applications/{name}/test-event", web::post().to(test_event::send)));
}
