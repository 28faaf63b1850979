//! The form for signing in, where it leads to, and choosing a language.

use std::net::IpAddr;

use actix_web::http::StatusCode;
use actix_web::http::header::USER_AGENT;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_domain::people::Origin;
use quita_domain::secret::Secret;
use quita_machine::random_bytes;
use serde::Deserialize;

use super::addresses::{own_address, referring_page};
use super::answer::see_other_with;
use super::cookies::{Cookies, form_token};
use super::failure::Failure;
use super::form::Form;
use super::frame::Frame;
use super::language::Language;
use super::page_context::PageContext;

/// The page with the form for signing in, of either console.
#[derive(Template)]
#[template(path = "console/kit/sign_in.html")]
pub(crate) struct SignInPage {
    pub(crate) frame: Frame,
    pub(crate) has_failed: bool,
    /// Where the visitor wants to go.
    pub(crate) next: String,
    pub(crate) email: String,
}

impl SignInPage {
    /// The form as it is shown first.
    pub(crate) fn new(next: impl Into<String>) -> Self {
        Self { frame: Frame::bare(), has_failed: false, next: next.into(), email: String::new() }
    }
}

/// Where to go after signing in.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    pub(crate) next: String,
}

/// Shows the form to a browser that is marked, or marks it: the form belongs to the mark.
pub(crate) fn show_form(
    cookies: Cookies,
    request: &HttpRequest,
    page: SignInPage,
    status: StatusCode,
) -> Result<HttpResponse, Failure> {
    show_gate(cookies, request, status, |form_token| SignInPage {
        frame: Frame { form_token, ..Frame::bare() },
        ..page
    })
}

/// The same with any form of somebody who is not signed in; it gets the token that it is to carry.
pub(crate) fn show_gate<P: Template>(
    cookies: Cookies,
    request: &HttpRequest,
    status: StatusCode,
    page: impl FnOnce(String) -> P,
) -> Result<HttpResponse, Failure> {
    let mut response = HttpResponse::build(status);
    let visit = match cookies.visit(request) {
        Some(visit) => visit,
        None => {
            let random = random_bytes::<16>().map_err(|error| Failure::Defect(error.to_string()))?;
            Secret::new(URL_SAFE_NO_PAD.encode(random))
        }
    };
    // Marked again each time: a form that is shown can be sent for an hour.
    response.cookie(cookies.mark_visit(&visit));
    let page = page(form_token(&visit));
    Ok(response.content_type("text/html; charset=utf-8").body(page.render()?))
}

/// Where a session begins.
pub(crate) fn origin_of(request: &HttpRequest, from: IpAddr) -> Origin {
    let browser = request.headers().get(USER_AGENT).and_then(|browser| browser.to_str().ok());
    Origin::new(from, browser.unwrap_or_default())
}

/// Keeps the choice, and goes back to the page that it was made on.
pub(crate) async fn keep_language(
    cookies: Cookies,
    request: &HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    // The session may be over, and the form be the one for signing in again.
    let belongs_to = [cookies.session(request), cookies.visit(request)];
    let form = Form::read(request, payload, belongs_to.iter().flatten()).await?;
    let language = Language::parse(form.text("language")).ok_or(Failure::NotFound)?;
    let address = referring_page(request).map(|page| match page.query() {
        Some(query) => format!("{}?{query}", page.path()),
        None => page.path().to_owned(),
    });
    let root = PageContext::current().root();
    let back = own_address(&root, address.as_deref().unwrap_or_default());
    Ok(see_other_with(cookies.keep_language(language), back))
}
