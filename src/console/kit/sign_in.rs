//! Sign-in form, the address that it continues to, and the choice of a language.

use std::net::IpAddr;

use actix_web::http::StatusCode;
use actix_web::http::header::USER_AGENT;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_domain::people::SessionOrigin;
use quita_domain::secret::Secret;
use quita_machine::random_bytes;
use serde::Deserialize;

use super::addresses::{own_address, referring_page};
use super::answer::see_other_with;
use super::cookies::{Cookies, form_token};
use super::form::Form;
use super::frame::Frame;
use super::language::Language;
use super::page_context::PageContext;
use super::page_error::PageError;

/// Page with the sign-in form, for both consoles.
#[derive(Template)]
#[template(path = "console/kit/sign_in.html")]
pub(crate) struct SignInPage {
    pub(crate) frame: Frame,
    pub(crate) has_failed: bool,
    /// Address that the visitor requested.
    pub(crate) next: String,
    pub(crate) email: String,
}

impl SignInPage {
    /// Creates the form as it is first shown.
    pub(crate) fn new(next: impl Into<String>) -> Self {
        Self { frame: Frame::bare(), has_failed: false, next: next.into(), email: String::new() }
    }
}

/// Query parameters of the sign-in pages: the address to return to.
#[derive(Deserialize)]
pub(crate) struct SignInQuery {
    #[serde(default)]
    pub(crate) next: String,
}

/// Shows the sign-in form, bound to the browser's visit mark. A browser without a mark gets one.
pub(crate) fn show_form(
    cookies: Cookies,
    request: &HttpRequest,
    page: SignInPage,
    status: StatusCode,
) -> Result<HttpResponse, PageError> {
    show_gate(cookies, request, status, |form_token| SignInPage {
        frame: Frame { form_token, ..Frame::bare() },
        ..page
    })
}

/// Shows any form to a visitor who is not signed in. `page` receives the form token to include.
pub(crate) fn show_gate<P: Template>(
    cookies: Cookies,
    request: &HttpRequest,
    status: StatusCode,
    page: impl FnOnce(String) -> P,
) -> Result<HttpResponse, PageError> {
    let mut response = HttpResponse::build(status);
    let visit = match cookies.visit(request) {
        Some(visit) => visit,
        None => {
            let random = random_bytes::<16>().map_err(|error| PageError::Defect(error.to_string()))?;
            Secret::new(URL_SAFE_NO_PAD.encode(random))
        }
    };
    // The mark is renewed each time, so a form can be sent until an hour after it was shown.
    response.cookie(cookies.mark_visit(&visit));
    let page = page(form_token(&visit));
    Ok(response.content_type("text/html; charset=utf-8").body(page.render()?))
}

/// Returns the origin of a session: address and browser.
pub(crate) fn origin_of(request: &HttpRequest, from: IpAddr) -> SessionOrigin {
    let browser = request.headers().get(USER_AGENT).and_then(|browser| browser.to_str().ok());
    SessionOrigin::new(from, browser.unwrap_or_default())
}

/// Stores the chosen language in a cookie, and redirects back to the page on which it was chosen.
pub(crate) async fn keep_language(
    cookies: Cookies,
    request: &HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    // The session may have ended, in which case the form belongs to the sign-in page's visit.
    let belongs_to = [cookies.session(request), cookies.visit(request)];
    let form = Form::read(request, payload, belongs_to.iter().flatten()).await?;
    let language = Language::parse(form.text("language")).ok_or(PageError::NotFound)?;
    let address = referring_page(request).map(|page| match page.query() {
        Some(query) => format!("{}?{query}", page.path()),
        None => page.path().to_owned(),
    });
    let root = PageContext::current().root();
    let back = own_address(&root, address.as_deref().unwrap_or_default());
    Ok(see_other_with(cookies.keep_language(language), back))
}
