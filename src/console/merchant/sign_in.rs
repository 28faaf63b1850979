//! Signing in and out, and choosing a language.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, User};

use super::MerchantConsole;
use super::visitor::OwnChange;
use crate::console::kit::answer::see_other_with;
use crate::console::kit::devices::Device;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::sign_in::{SignInPage, Wanted, keep_language, origin_of, own_address, show_form};
use crate::http::client_address::address_of;
use crate::service::audit::{AuditDraft, Initiator};

/// `GET /console/sign-in`
pub(crate) async fn show(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    show_form(console.cookies, &request, SignInPage::new(wanted.into_inner().next), StatusCode::OK)
}

/// `POST /console/sign-in`
pub(crate) async fn sign_in(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    let form = Form::read(&request, payload, console.cookies.visit(&request).as_ref()).await?;
    let (email, from) = (form.text("email"), address_of(&request, console.is_behind_proxy));
    let device = device_of(&console, &request, email);
    let line = console.attempts.count(email, from, device).map_err(Failure::TooMany)?;
    let people = console.people.in_line(line);
    let (login, password) = (Login::parse(email), form.secret("password"));
    let session = people.sign_in::<User>(login.as_ref(), &password, origin_of(&request, from)).await?;
    let next = form.text("next");
    let Some(session) = session else {
        tracing::warn!(client.address = %from, "somebody could not sign in to the console");
        let page = SignInPage { has_failed: true, email: email.into(), ..SignInPage::new(next) };
        return show_form(console.cookies, &request, page, StatusCode::UNPROCESSABLE_ENTITY);
    };
    let initiator = Initiator { who: session.person.login.to_string(), from: from.to_string() };
    let draft = AuditDraft::of(&session.person.merchant, AuditAction::SignedIn, &session.person.login);
    console.audit.note(&initiator, draft).await;
    let mark = console.devices.mark(session.person.login.as_str(), device, console.clock.now())?;
    let mut answer = see_other_with(console.cookies.begin(&session.token), own_address("/console", next));
    answer
        .add_cookie(&console.cookies.mark_device(&mark))
        .map_err(|error| Failure::Defect(error.to_string()))?;
    Ok(answer)
}

/// The browser that the request comes from, if somebody signed in to this account with it before.
fn device_of(console: &MerchantConsole, request: &HttpRequest, account: &str) -> Option<Device> {
    console.devices.known(account, &console.cookies.device(request)?, console.clock.now())
}

/// `POST /console/sign-out`
pub(crate) async fn sign_out(
    console: Data<MerchantConsole>,
    change: OwnChange,
) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, .. } = change;
    console.people.sign_out(visitor.token.expose()).await?;
    let draft = visitor.draft(AuditAction::SignedOut, &visitor.user.login);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other_with(console.cookies.end(), "/console/sign-in"))
}

/// `POST /console/language`: of a visitor who is signed in, or who sees the form for it.
pub(crate) async fn choose_language(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    keep_language(console.cookies, &request, payload).await
}
