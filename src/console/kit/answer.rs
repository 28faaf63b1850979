//! Responses of pages: HTML, and redirects that state what was done.

use actix_web::HttpResponse;
use actix_web::cookie::Cookie;
use actix_web::http::StatusCode;
use actix_web::http::header::{ContentType, LOCATION};
use askama::Template;
use serde::Deserialize;

use super::page_error::PageError;

/// Action that was just done, as the address names it.
#[derive(Deserialize)]
pub(crate) struct Done {
    #[serde(default)]
    pub(crate) done: String,
}

/// Responds with a page.
pub(crate) fn html(page: &impl Template) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().content_type(ContentType::html()).body(page.render()?))
}

/// Responds with 422 and the page of a refused form, to be filled in again.
pub(crate) fn try_again(page: &impl Template) -> Result<HttpResponse, PageError> {
    let mut answer = HttpResponse::build(StatusCode::UNPROCESSABLE_ENTITY);
    Ok(answer.content_type(ContentType::html()).body(page.render()?))
}

/// Redirects to one of our addresses with 303, so that a reload does not send a form twice.
pub(crate) fn see_other(address: impl Into<String>) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, address.into())).finish()
}

/// Redirects and sets a cookie.
pub(crate) fn see_other_with(cookie: Cookie<'_>, address: impl Into<String>) -> HttpResponse {
    HttpResponse::SeeOther().cookie(cookie).insert_header((LOCATION, address.into())).finish()
}

/// Returns a text encoded as one segment of a path (RFC 3986, section 2.3).
pub(crate) fn path_segment(text: &str) -> String {
    let encode = |byte: u8| {
        let is_plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        if is_plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment_whatever_it_holds() {
        assert_eq!(path_segment("Loja do Zé/1?"), "Loja%20do%20Z%C3%A9%2F1%3F");
        assert_eq!(path_segment("a-b_c.d~e"), "a-b_c.d~e");
    }
}
