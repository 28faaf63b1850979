//! Every address of the merchants' console.

use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PathConfig, QueryConfig, ServiceConfig};

use super::applications::{self, keys, one, secrets, test_event};
use super::payment::operations;
use super::payments::export;
use super::{
    Console, account, assets, audit_log, deliveries, guard, overview, payment, payments, people, sign_in,
};
use crate::console::failure::Failure;

/// Enters every address below `/console`.
pub(crate) fn configure(config: &mut ServiceConfig, console: Data<Console>) {
    let scope = web::scope("/console")
        .app_data(console)
        .app_data(PathConfig::default().error_handler(|_, _| Failure::NotFound.into()))
        .app_data(QueryConfig::default().error_handler(|_, _| Failure::NotFound.into()))
        .wrap(from_fn(guard::merchants))
        .route("/assets/{name:.*}", web::get().to(assets::asset))
        .route("", web::get().to(overview::start))
        .route("/", web::get().to(overview::start))
        .route("/sign-in", web::get().to(sign_in::show))
        .route("/sign-in", web::post().to(sign_in::sign_in))
        .route("/sign-out", web::post().to(sign_in::sign_out))
        .route("/language", web::post().to(sign_in::choose_language))
        .configure(in_a_mode)
        .default_service(web::to(|| async { Err::<actix_web::HttpResponse, _>(Failure::NotFound) }));
    config.service(scope);
}

/// Addresses of test or live.
fn in_a_mode(config: &mut ServiceConfig) {
    config
        .route("/{mode}", web::get().to(overview::show))
        .configure(payments_routes)
        .configure(deliveries_routes)
        .configure(applications_routes)
        .route("/{mode}/people", web::get().to(people::show))
        .route("/{mode}/people", web::post().to(people::create))
        .route("/{mode}/people/{login}/{verb}", web::get().to(people::ask))
        .route("/{mode}/people/{login}/{verb}", web::post().to(people::act))
        .route("/{mode}/audit", web::get().to(audit_log::show))
        .route("/{mode}/account", web::get().to(account::show))
        .route("/{mode}/account/password", web::post().to(account::change_password));
}

fn payments_routes(config: &mut ServiceConfig) {
    config
        .route("/{mode}/payments", web::get().to(payments::show))
        .route("/{mode}/payments.csv", web::get().to(export::download))
        .route("/{mode}/payments/stream", web::get().to(payments::stream))
        .route("/{mode}/payments/{id}", web::get().to(payment::show))
        .route("/{mode}/payments/{id}/stream", web::get().to(payment::stream))
        .route("/{mode}/payments/{id}/{verb}", web::get().to(operations::ask))
        .route("/{mode}/payments/{id}/{verb}", web::post().to(operations::act))
        .route(
            "/{mode}/payments/{id}/deliveries/{index}/redeliver",
            web::get().to(operations::ask_redelivery),
        )
        .route("/{mode}/payments/{id}/deliveries/{index}/redeliver", web::post().to(operations::redeliver));
}

fn deliveries_routes(config: &mut ServiceConfig) {
    config
        .route("/{mode}/deliveries", web::get().to(deliveries::show))
        .route("/{mode}/deliveries/redeliver", web::get().to(deliveries::redeliver::ask))
        .route("/{mode}/deliveries/redeliver", web::post().to(deliveries::redeliver::act));
}

fn applications_routes(config: &mut ServiceConfig) {
    config
        .route("/{mode}/applications", web::get().to(applications::show))
        .route("/{mode}/applications", web::post().to(applications::create))
        .route("/{mode}/applications/{name}", web::get().to(one::show))
        .route("/{mode}/applications/{name}/rename", web::post().to(one::rename))
        .route("/{mode}/applications/{name}/keys", web::post().to(keys::create))
        .route("/{mode}/applications/{name}/keys/{id}/{verb}", web::get().to(keys::ask))
        .route("/{mode}/applications/{name}/keys/{id}/{verb}", web::post().to(keys::act))
        .route("/{mode}/applications/{name}/secret/{verb}", web::get().to(secrets::ask))
        .route("/{mode}/applications/{name}/secret/{verb}", web::post().to(secrets::act))
        .route("/{mode}/applications/{name}/test-event", web::post().to(test_event::send));
}
