//! Sign-in, sign-out and the choice of a language.

use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;
use quita_domain::people::User;

use super::MerchantConsole;
use super::visitor::Entrant;
use crate::console::kit::accounts::Arrival;
use crate::console::kit::answer::see_other_with;
use crate::console::kit::form::SignedForm;
use crate::console::kit::page_context::PageContext;
use crate::console::kit::page_error::PageError;
use crate::console::kit::sign_in::{SignInQuery, keep_language};
use crate::http::client_address::address_of;

fn arrival<'a>(console: &MerchantConsole, request: &'a HttpRequest) -> Arrival<'a> {
    Arrival { request, from: address_of(request, console.is_behind_proxy) }
}

/// Handles `GET /console/sign-in`.
pub(crate) async fn show(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    wanted: Query<SignInQuery>,
) -> Result<HttpResponse, PageError> {
    console.accounts.ask_password(&arrival(&console, &request), wanted.into_inner())
}

/// Handles `POST /console/sign-in`.
pub(crate) async fn sign_in(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    console.accounts.sign_in::<User>(&arrival(&console, &request), payload).await
}

/// Handles `GET /console/sign-in/code`.
pub(crate) async fn ask_code(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    wanted: Query<SignInQuery>,
) -> Result<HttpResponse, PageError> {
    console.accounts.ask_code::<User>(&arrival(&console, &request), wanted.into_inner()).await
}

/// Handles `POST /console/sign-in/code`.
pub(crate) async fn give_code(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    console.accounts.give_code::<User>(&arrival(&console, &request), payload).await
}

/// Handles `GET /console/sign-in/password`.
pub(crate) async fn ask_new_password(
    entrant: Entrant,
    wanted: Query<SignInQuery>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.ask_new_password(&entrant.0.holder(), wanted.into_inner())
}

/// Handles `POST /console/sign-in/password`.
pub(crate) async fn choose_password(
    console: Data<MerchantConsole>,
    sent: SignedForm<Entrant>,
) -> Result<HttpResponse, PageError> {
    console.accounts.choose_password(&sent.visitor.0.holder(), &sent.form).await
}

/// Handles `POST /console/sign-out`.
pub(crate) async fn sign_out(
    console: Data<MerchantConsole>,
    sent: SignedForm<Entrant>,
) -> Result<HttpResponse, PageError> {
    let SignedForm { visitor: Entrant(visitor), .. } = sent;
    console.people.sign_out(visitor.token.expose()).await?;
    let draft = visitor.draft(AuditAction::SignedOut, &visitor.user.login);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other_with(console.accounts.cookies().end(), format!("{}/sign-in", PageContext::current().root())))
}

/// Handles `POST /console/language`, from a signed-in visitor or from the sign-in form.
pub(crate) async fn choose_language(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    keep_language(console.accounts.cookies(), &request, payload).await
}
