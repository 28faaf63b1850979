//! Every address of the public listener.

use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{Resource, Route};

use super::edge::Edge;
use super::errors::ApiError;
use super::{
    deliveries, docs, not_found, notifications, operations, page_routes, payments, routing, sandbox,
};

/// Enters every address. Any other answers 404, any other method 405.
pub fn configure(config: &mut ServiceConfig, edge: Data<Edge>) {
    config
        .app_data(edge)
        .service(at(
            "/pay/payments",
            "GET, POST",
            [web::post().to(payments::create), web::get().to(payments::list)],
        ))
        .service(at("/pay/payments/{id}", "GET", [web::get().to(payments::read)]))
        .service(at("/pay/payments/{id}/events", "GET", [web::get().to(payments::events)]))
        .service(at("/pay/payments/{id}/cancel", "POST", [web::post().to(operations::cancel)]))
        .service(at("/pay/payments/{id}/capture", "POST", [web::post().to(operations::capture)]))
        .service(at("/pay/payments/{id}/refunds", "POST", [web::post().to(operations::refund)]))
        .service(at("/pay/routing/evaluate", "POST", [web::post().to(routing::evaluate)]))
        .service(at("/pay/webhooks/deliveries", "GET", [web::get().to(deliveries::list)]))
        .service(at(
            "/pay/webhooks/deliveries/{id}/redeliver",
            "POST",
            [web::post().to(deliveries::redeliver)],
        ))
        .service(at(
            "/acquirers/{name}/notifications{tail:(/.*)?}",
            "POST",
            [web::post().to(notifications::receive)],
        ))
        .service(at("/sandbox/payments/{id}/{action}", "POST", [web::post().to(sandbox::act)]))
        .service(page("/pix/{name}", || web::to(page_routes::pix)))
        .service(page("/pix/{token}/status", || web::to(page_routes::status)))
        .service(page("/boletos/{name}", || web::to(page_routes::boleto)))
        .service(page("/boletos/{token}/status", || web::to(page_routes::status)))
        .service(page("/assets/{name}", || web::to(page_routes::asset)))
        .service(page("/openapi.json", || web::to(docs::openapi)))
        .service(page("/docs", || web::to(docs::page)))
        .service(page("/docs.js", || web::to(docs::script)))
        .service(page("/docs.css", || web::to(docs::style)))
        .default_service(web::to(not_found));
}

/// One address with the methods that it answers.
fn at<const N: usize>(path: &str, allow: &'static str, routes: [Route; N]) -> Resource {
    let refuse =
        move || async move { Err::<actix_web::HttpResponse, _>(ApiError::method_not_allowed(allow)) };
    let resource = web::resource(path).default_service(web::to(refuse));
    routes.into_iter().fold(resource, Resource::route)
}

/// One address that is only read.
fn page(path: &str, route: fn() -> Route) -> Resource {
    at(
        path,
        "GET, HEAD",
        [route().method(actix_web::http::Method::GET), route().method(actix_web::http::Method::HEAD)],
    )
}
