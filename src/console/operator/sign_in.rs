//! Signing the operator in and out, and choosing a language.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;

use super::OperatorConsole;
use super::visitor::{OPERATOR, OperatorForm};
use crate::console::kit::answer::see_other_with;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::sign_in::{SignInPage, Wanted, keep_language, origin_of, own_address, show_form};
use crate::http::client_address::peer_of;
use crate::service::audit::{AuditDraft, Initiator};

/// `GET /sign-in`
pub(super) async fn show(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    console.credential.as_ref().ok_or(Failure::Closed)?;
    show_form(console.cookies, &request, SignInPage::new(wanted.into_inner().next), StatusCode::OK)
}

/// `POST /sign-in`
pub(super) async fn sign_in(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    let credential = console.credential.as_ref().ok_or(Failure::Closed)?;
    let form = Form::read(&request, payload, console.cookies.visit(&request).as_ref()).await?;
    let from = peer_of(&request);
    let mark = console.cookies.device(&request);
    let device = mark.and_then(|mark| console.devices.known(OPERATOR, &mark, console.clock.now()));
    console.attempts.count(OPERATOR, from, device).map_err(Failure::TooMany)?;
    let next = form.text("next");
    let (password, origin) = (form.secret("password"), origin_of(&request, from));
    let signed_in = console.people.sign_operator_in(credential, &password, origin);
    let Some(token) = signed_in.await? else {
        tracing::warn!(client.address = %from, "somebody could not sign in to the operator's console");
        let page = SignInPage { has_failed: true, ..SignInPage::new(next) };
        return show_form(console.cookies, &request, page, StatusCode::UNPROCESSABLE_ENTITY);
    };
    let initiator = Initiator { who: OPERATOR.into(), from: from.to_string() };
    console.audit.note(&initiator, AuditDraft::of_operators(AuditAction::SignedIn, OPERATOR)).await;
    let mark = console.devices.mark(OPERATOR, device, console.clock.now())?;
    let mut answer = see_other_with(console.cookies.begin(&token), own_address("", next));
    answer
        .add_cookie(&console.cookies.mark_device(&mark))
        .map_err(|error| Failure::Defect(error.to_string()))?;
    Ok(answer)
}

/// `POST /sign-out`
pub(super) async fn sign_out(
    console: Data<OperatorConsole>,
    OperatorForm { visitor, .. }: OperatorForm,
) -> Result<HttpResponse, Failure> {
    console.people.sign_out(visitor.token.expose()).await?;
    console.recent.note(&visitor.token, false);
    let draft = AuditDraft::of_operators(AuditAction::SignedOut, OPERATOR);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other_with(console.cookies.end(), "/sign-in"))
}

/// `POST /language`
pub(super) async fn choose_language(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    keep_language(console.cookies, &request, payload).await
}
