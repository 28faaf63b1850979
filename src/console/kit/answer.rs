//! The two answers that pages give: a page, and the way to another one, which says what was done.

use actix_web::HttpResponse;
use actix_web::cookie::Cookie;
use actix_web::http::header::{ContentType, LOCATION};
use askama::Template;
use serde::Deserialize;

use super::failure::Failure;

/// What was just done, as the address says it.
#[derive(Deserialize)]
pub(crate) struct Done {
    #[serde(default)]
    pub(crate) done: String,
}

/// A page.
pub(crate) fn html(page: &impl Template) -> Result<HttpResponse, Failure> {
    Ok(HttpResponse::Ok().content_type(ContentType::html()).body(page.render()?))
}

/// Sends the browser on to an address of ours, with GET: so nothing is sent twice by reloading.
pub(crate) fn see_other(address: impl Into<String>) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, address.into())).finish()
}

/// Sends the browser on, with a cookie to keep.
pub(crate) fn see_other_with(cookie: Cookie<'_>, address: impl Into<String>) -> HttpResponse {
    HttpResponse::SeeOther().cookie(cookie).insert_header((LOCATION, address.into())).finish()
}
