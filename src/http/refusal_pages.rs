//! Errors as pages, for a browser that opened an address of payers or of the documentation.
//!
//! The handlers of these addresses answer errors as the whole API does. A client that asks for a page gets one instead,
//! with the same status.

use actix_web::dev::ServiceResponse;
use actix_web::http::header::{ALLOW, HeaderValue, RETRY_AFTER, VARY};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use super::accepted::asks_for_page;
use super::checkout::{Refused, refusal};
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode};
use super::unknown_guide;
use crate::console::Language;

/// First parts of the addresses that payers open.
const OF_PAYERS: [&str; 3] = ["pix", "boletos", "checkout"];

/// Replaces an error by a page, if a browser opened the address.
pub(super) fn with_refusal_page(response: ServiceResponse) -> ServiceResponse {
    match page_of(&response) {
        Some(page) => response.into_response(page),
        None => response,
    }
}

fn page_of(response: &ServiceResponse) -> Option<HttpResponse> {
    let request = response.request();
    let error = response.response().error()?.as_error::<ApiError>()?;
    if !asks_for_page(request) {
        return None;
    }
    let edge = request.app_data::<Data<Edge>>()?;
    let first = request.path().split('/').nth(1).unwrap_or_default();
    // Below /pay is the API, whose errors are for programs. A payer can only have mistyped an address there.
    let is_mistyped = first == "pay" && request.match_pattern().is_none();
    let (mut page, vary) = if OF_PAYERS.contains(&first) || is_mistyped {
        let language = Language::asked_for(request).unwrap_or_default();
        (refusal(edge, language, request, &Refused::of_page(error)), "Accept, Accept-Language")
    } else if first == "docs" && error.error_code() == ErrorCode::NotFound {
        (unknown_guide::page(edge.mount, request), "Accept, Accept-Language, Cookie")
    } else {
        return None;
    };
    let headers = page.headers_mut();
    headers.insert(VARY, HeaderValue::from_static(vary));
    for name in [ALLOW, RETRY_AFTER] {
        if let Some(value) = response.headers().get(&name) {
            headers.insert(name, value.clone());
        }
    }
    Some(page)
}

/// Returns the address of a request as its browser sees it, without the query.
pub(super) fn path_of(edge: &Edge, request: &HttpRequest) -> String {
    format!("{}{}", edge.mount, request.path())
}
