//! Every address of the public listener.

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Resource, Route};

use super::edge::Edge;
use super::errors::ApiError;
use super::query::HasParameters;
use super::unknown_address::not_found;
use super::{
    auth, card_script, checkout, cors, deliveries, docs, guides, links, movements, notifications, operations,
    page_routes, payments, requests, routing, sandbox, tokens,
};

/// Addresses of the API, of acquirers and of the sandbox, with their methods.
pub(super) const ROUTES_OF_PROGRAMS: [(&str, &str); 18] = [
    ("/pay/payments", "GET, HEAD, POST"),
    ("/pay/payments/{id}", "GET, HEAD"),
    ("/pay/payments/{id}/events", "GET, HEAD"),
    ("/pay/payments/{id}/cancel", "POST"),
    ("/pay/payments/{id}/capture", "POST"),
    ("/pay/payments/{id}/refunds", "POST"),
    ("/pay/links", "GET, HEAD, POST"),
    ("/pay/links/{id}", "GET, HEAD"),
    ("/pay/links/{id}/close", "POST"),
    ("/pay/refunds", "GET, HEAD"),
    ("/pay/disputes", "GET, HEAD"),
    ("/pay/requests", "GET, HEAD"),
    ("/pay/routing/evaluate", "POST"),
    ("/pay/tokens", "OPTIONS, POST"),
    ("/pay/webhooks/deliveries", "GET, HEAD"),
    ("/pay/webhooks/deliveries/{id}/redeliver", "POST"),
    ("/acquirers/{name}/notifications{tail:(/.*)?}", "POST"),
    ("/sandbox/payments/{id}/{action}", "POST"),
];

/// Registers every address. Any other address answers 404, any other method 405.
pub fn configure(config: &mut ServiceConfig, edge: Data<Edge>) {
    config.app_data(edge).configure(api).configure(pages).default_service(web::to(not_found));
}

/// Registers the addresses for programs.
fn api(config: &mut ServiceConfig) {
    config
        .service(
            resource("/pay/payments", "GET, HEAD, POST")
                .app_data(HasParameters)
                .route(web::get().to(payments::list))
                .route(web::post().to(payments::create)),
        )
        .service(reading("/pay/payments/{id}", web::get().to(payments::read)))
        .service(reading("/pay/payments/{id}/events", web::get().to(payments::events)))
        .service(writing("/pay/payments/{id}/cancel", web::post().to(operations::cancel)))
        .service(writing("/pay/payments/{id}/capture", web::post().to(operations::capture)))
        .service(writing("/pay/payments/{id}/refunds", web::post().to(operations::refund)))
        .service(
            resource("/pay/links", "GET, HEAD, POST")
                .app_data(HasParameters)
                .route(web::get().to(links::list))
                .route(web::post().to(links::create)),
        )
        .service(reading("/pay/links/{id}", web::get().to(links::read)))
        .service(writing("/pay/links/{id}/close", web::post().to(links::close)))
        .service(reading("/pay/refunds", web::get().to(movements::refunds)).app_data(HasParameters))
        .service(reading("/pay/disputes", web::get().to(movements::disputes)).app_data(HasParameters))
        .service(reading("/pay/requests", web::get().to(requests::list)))
        .service(writing("/pay/routing/evaluate", web::post().to(routing::evaluate)))
        .service(
            resource("/pay/tokens", "OPTIONS, POST")
                .route(web::method(Method::OPTIONS).to(cors::preflight))
                .route(web::post().to(tokens::create))
                .wrap(from_fn(cors::with_origin)),
        )
        .service(reading("/pay/webhooks/deliveries", web::get().to(deliveries::list)).app_data(HasParameters))
        .service(writing("/pay/webhooks/deliveries/{id}/redeliver", web::post().to(deliveries::redeliver)))
        .service(writing(
            "/acquirers/{name}/notifications{tail:(/.*)?}",
            web::post().to(notifications::receive),
        ))
        .service(writing("/sandbox/payments/{id}/{action}", web::post().to(sandbox::act)));
}

/// Registers the addresses for browsers. Links to them may carry parameters of third parties, which are ignored.
fn pages(config: &mut ServiceConfig) {
    config
        // The first address that matches answers, so fixed names stand before `/checkout/{token}`.
        .service(reading("/checkout/v1.js", web::get().to(card_script::script)))
        .service(reading("/checkout/v1.{number:[0-9]+}.js", web::get().to(card_script::script)))
        .service(reading("/checkout/integrity.json", web::get().to(card_script::integrity)))
        .service(reading("/pix/{name}", web::get().to(page_routes::pix)))
        .service(reading("/pix/{token}/status", web::get().to(page_routes::status)))
        .service(reading("/boletos/{name}", web::get().to(page_routes::boleto)))
        .service(reading("/boletos/{token}/status", web::get().to(page_routes::status)))
        .service(paying("/checkout/{token}", web::get().to(checkout::show), web::post().to(checkout::submit)))
        .service(paying(
            "/checkout/{token}/{payment}",
            web::get().to(checkout::show_payment),
            web::post().to(checkout::submit_payment),
        ))
        .service(reading("/assets/{name}", web::get().to(page_routes::asset)))
        .service(reading("/openapi.json", web::get().to(docs::openapi)))
        .service(reading("/", web::get().to(guides::front)))
        .service(reading("/docs", web::get().to(docs::page)))
        .service(reading("/docs{page:(?:/[a-z0-9_-]+){0,2}}/", web::get().to(docs::without_slash)))
        .service(reading("/docs/{language:pt|en}", web::get().to(docs::first_guide)))
        .service(reading("/docs/{language:pt|en}/{guide}", web::get().to(guides::show)))
        .service(reading("/llms.txt", web::get().to(docs::for_programs)))
        .service(reading("/docs/errors", web::get().to(docs::all_errors)))
        .service(reading("/docs/errors/{code}", web::get().to(docs::error)))
        .service(reading("/docs.js", web::get().to(docs::script)))
        .service(reading("/docs.css", web::get().to(docs::style)));
}

/// Makes an address that is only read. HEAD arrives as GET.
pub(crate) fn reading(path: &str, get: Route) -> Resource {
    resource(path, "GET, HEAD").route(get)
}

/// Makes an address of a page with a form.
fn paying(path: &str, get: Route, post: Route) -> Resource {
    resource(path, "GET, HEAD, POST").route(get).route(post)
}

/// Makes an address that is only written to.
fn writing(path: &str, post: Route) -> Resource {
    resource(path, "POST").route(post)
}

/// Makes an address that refuses every method that it is not given.
fn resource(path: &str, allow: &'static str) -> Resource {
    let refuse = move |request: HttpRequest| async move {
        auth::note_known_caller(&request).await;
        Err::<HttpResponse, _>(ApiError::method_not_allowed(allow))
    };
    web::resource(path).default_service(web::to(refuse))
}
