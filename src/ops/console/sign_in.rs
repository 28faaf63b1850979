//! Signing the operator in and out, and choosing a language.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;

use super::OperatorConsole;
use super::visitor::{OPERATOR, Order};
use crate::audit::{Deed, Doer};
use crate::console::answer::see_other_with;
use crate::console::failure::Failure;
use crate::console::form::Form;
use crate::console::frame::Frame;
use crate::console::place;
use crate::console::sign_in::{SignInPage, Wanted, keep_language, own_address, show_form};
use crate::console::visitor::peer_of;

/// `GET /sign-in`
pub(super) async fn show(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    console.credential.as_ref().ok_or(Failure::Closed)?;
    let next = wanted.into_inner().next;
    let frame = Frame::bare(place::current());
    let page = SignInPage { frame, has_failed: false, next, email: String::new() };
    show_form(console.cookies, &request, page, StatusCode::OK)
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
    console.attempts.count(OPERATOR, from).map_err(Failure::TooMany)?;
    let next = form.text("next");
    let Some(token) = console.people.sign_operator_in(credential, &form.secret("password")).await? else {
        tracing::warn!(client.address = %from, "somebody could not sign in to the operator's console");
        let frame = Frame::bare(place::current());
        let page = SignInPage { frame, has_failed: true, next: next.into(), email: String::new() };
        return show_form(console.cookies, &request, page, StatusCode::UNPROCESSABLE_ENTITY);
    };
    let doer = Doer { who: OPERATOR.into(), from: from.to_string() };
    console.audit.note(&doer, Deed::of_operators(AuditAction::SignedIn, OPERATOR)).await;
    Ok(see_other_with(console.cookies.begin(&token), own_address("", next)))
}

/// `POST /sign-out`
pub(super) async fn sign_out(console: Data<OperatorConsole>, order: Order) -> Result<HttpResponse, Failure> {
    console.people.sign_out(order.operator.token.expose()).await?;
    console.recent.note(&order.operator.token, false);
    let deed = Deed::of_operators(AuditAction::SignedOut, OPERATOR);
    console.audit.note(&order.operator.doer(), deed).await;
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
