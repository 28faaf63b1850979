//! Resources of the consoles. To a method that they do not have they answer 405, with those that they have.

use actix_web::{HttpResponse, Resource, Route, web};

use super::page_error::PageError;

/// Returns a resource that is only read.
pub(crate) fn page(path: &str, get: Route) -> Resource {
    resource(path, "GET, HEAD").route(get)
}

/// Returns a resource that is only changed.
pub(crate) fn change(path: &str, post: Route) -> Resource {
    resource(path, "POST").route(post)
}

/// Returns a resource that is read and changed.
pub(crate) fn form(path: &str, get: Route, post: Route) -> Resource {
    resource(path, "GET, HEAD, POST").route(get).route(post)
}

fn resource(path: &str, methods: &'static str) -> Resource {
    let refuse = move || async move { Err::<HttpResponse, _>(PageError::WrongMethod(methods)) };
    web::resource(path).default_service(web::to(refuse))
}

/// Answers 404 with a page.
pub(crate) async fn not_found() -> Result<HttpResponse, PageError> {
    Err(PageError::NotFound)
}
