//! Signing in and out, and choosing a language.

use actix_web::http::StatusCode;
use actix_web::http::header::REFERER;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_adapters::system::random_bytes;
use quita_domain::audit::AuditAction;
use quita_domain::people::Login;
use quita_domain::secret::Secret;
use serde::Deserialize;

use super::Console;
use super::answer::see_other_with;
use super::cookies::{Cookies, form_token};
use super::failure::Failure;
use super::form::Form;
use super::frame::Frame;
use super::language::Language;
use super::place;
use super::visitor::{OwnChange, address_of};
use crate::audit::{Deed, Doer};

/// The page with the form for signing in, of either console.
#[derive(Template)]
#[template(path = "console/sign_in.html")]
pub(crate) struct SignInPage {
    pub(crate) frame: Frame,
    pub(crate) has_failed: bool,
    /// Where the visitor wants to go.
    pub(crate) next: String,
    pub(crate) email: String,
}

/// Where to go after signing in.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    pub(crate) next: String,
}

/// `GET /console/sign-in`
pub(crate) async fn show(
    console: Data<Console>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    let next = wanted.into_inner().next;
    let page =
        SignInPage { frame: Frame::bare(place::current()), has_failed: false, next, email: String::new() };
    show_form(console.cookies, &request, page, StatusCode::OK)
}

/// Shows the form to a browser that is marked, or marks it: the form belongs to the mark.
pub(crate) fn show_form(
    cookies: Cookies,
    request: &HttpRequest,
    mut page: SignInPage,
    status: StatusCode,
) -> Result<HttpResponse, Failure> {
    let mut response = HttpResponse::build(status);
    let visit = match cookies.visit(request) {
        Some(visit) => visit,
        None => {
            let random = random_bytes::<16>().map_err(|error| Failure::Defect(error.to_string()))?;
            Secret::new(URL_SAFE_NO_PAD.encode(random))
        }
    };
    // Marked anew each time: a form that is shown can be sent for an hour.
    response.cookie(cookies.mark_visit(&visit));
    page.frame.form_token = form_token(&visit);
    Ok(response.content_type("text/html; charset=utf-8").body(page.render()?))
}

/// `POST /console/sign-in`
pub(crate) async fn sign_in(
    console: Data<Console>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    let form = Form::read(&request, payload, console.cookies.visit(&request).as_ref()).await?;
    let (email, from) = (form.text("email"), address_of(&request, console.is_behind_proxy));
    console.attempts.count(email, from).map_err(Failure::TooMany)?;
    let begun = console.people.sign_in(Login::parse(email).as_ref(), &form.secret("password")).await?;
    let next = form.text("next");
    let Some(begun) = begun else {
        tracing::warn!(client.address = %from, "somebody could not sign in to the console");
        let frame = Frame::bare(place::current());
        let page = SignInPage { frame, has_failed: true, next: next.into(), email: email.into() };
        return show_form(console.cookies, &request, page, StatusCode::UNPROCESSABLE_ENTITY);
    };
    let doer = Doer { who: begun.user.login.to_string(), from: from.to_string() };
    let deed = Deed::of(&begun.user.merchant, AuditAction::SignedIn, &begun.user.login);
    console.audit.note(&doer, deed).await;
    Ok(see_other_with(console.cookies.begin(&begun.token), own_address("/console", next)))
}

/// `POST /console/sign-out`
pub(crate) async fn sign_out(console: Data<Console>, change: OwnChange) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, .. } = change;
    console.people.sign_out(visitor.token.expose()).await?;
    console.audit.note(&visitor.doer(), visitor.deed(AuditAction::SignedOut, &visitor.user.login)).await;
    Ok(see_other_with(console.cookies.end(), "/console/sign-in"))
}

/// `POST /console/language`: of a visitor who is signed in, or who sees the form for it.
pub(crate) async fn choose_language(
    console: Data<Console>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    keep_language(console.cookies, &request, payload).await
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
    let referer = request.headers().get(REFERER).and_then(|referer| referer.to_str().ok());
    let page = referer.and_then(|referer| url::Url::parse(referer).ok());
    let address = page.map(|page| match page.query() {
        Some(query) => format!("{}?{query}", page.path()),
        None => page.path().to_owned(),
    });
    let root = place::current().root();
    let back = own_address(root, address.as_deref().unwrap_or_default());
    Ok(see_other_with(cookies.keep_language(language), back))
}

/// An address of this console, or its start: never one of another site.
pub(crate) fn own_address(root: &str, wanted: &str) -> String {
    let is_plain = wanted.chars().all(|character| character.is_ascii_graphic() && character != '\\');
    let is_ours = wanted.strip_prefix(root).is_some_and(|rest| {
        rest.starts_with('/') && !rest.starts_with("//") || (rest.starts_with('?') && !root.is_empty())
    });
    if is_plain && is_ours { wanted.to_owned() } else { format!("{root}/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_site() {
        for (root, wanted) in [
            ("/console", "/console/test/payments?status=paid&q=a%20b"),
            ("/console", "/console/"),
            ("", "/acquirers"),
            ("", "/"),
        ] {
            assert_eq!(own_address(root, wanted), wanted);
        }
        for (root, wanted) in [
            ("/console", ""),
            ("/console", "/"),
            ("/console", "https://evil.example/console/"),
            ("/console", "//evil.example/console/"),
            ("/console", "/console.evil.example/"),
            ("/console", "/console//evil.example"),
            ("/console", "/console/\r\nSet-Cookie: a=b"),
            ("/console", "/pay/payments"),
            ("", "//evil.example"),
            ("", "/\\evil.example"),
            ("", "https://evil.example"),
            ("", "?x"),
        ] {
            assert_eq!(own_address(root, wanted), format!("{root}/"), "{wanted}");
        }
    }
}
