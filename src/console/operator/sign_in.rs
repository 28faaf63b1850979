//! Sign-in and sign-out of operators, and the choice of a language.

use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;
use quita_domain::people::Operator;

use super::visitor::{Confirmed, Entrant, EntrantForm};
use super::{OperatorConsole, first};
use crate::console::kit::accounts::Arrival;
use crate::console::kit::answer::see_other_with;
use crate::console::kit::page_error::PageError;
use crate::console::kit::sign_in::{SignInQuery, keep_language};
use crate::http::client_address::peer_of;
use quita_services::audit::AuditDraft;

pub(super) fn arrival(request: &HttpRequest) -> Arrival<'_> {
    Arrival { request, from: peer_of(request) }
}

/// Handles `GET /sign-in`: shows the sign-in form or, while there is no operator, the form that creates the first one.
pub(super) async fn show(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    wanted: Query<SignInQuery>,
) -> Result<HttpResponse, PageError> {
    if !console.people.has_operators().await? {
        return first::show(&console, &request);
    }
    console.accounts.ask_password(&arrival(&request), wanted.into_inner())
}

/// Handles `POST /sign-in`.
pub(super) async fn sign_in(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    console.accounts.sign_in::<Operator>(&arrival(&request), payload).await
}

/// Handles `GET /sign-in/code`.
pub(super) async fn ask_code(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    wanted: Query<SignInQuery>,
) -> Result<HttpResponse, PageError> {
    console.accounts.ask_code::<Operator>(&arrival(&request), wanted.into_inner()).await
}

/// Handles `POST /sign-in/code`.
pub(super) async fn give_code(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    console.accounts.give_code::<Operator>(&arrival(&request), payload).await
}

/// Handles `GET /sign-in/password`.
pub(super) async fn ask_new_password(
    Entrant(entrant): Entrant,
    wanted: Query<SignInQuery>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.ask_new_password(&entrant.holder(), wanted.into_inner())
}

/// Handles `POST /sign-in/password`.
pub(super) async fn choose_password(
    EntrantForm { visitor: Entrant(entrant), form }: EntrantForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.choose_password(&entrant.holder(), &form).await
}

/// Handles `POST /sign-out`.
pub(super) async fn sign_out(
    console: Data<OperatorConsole>,
    EntrantForm { visitor: Entrant(Confirmed { operator: visitor, .. }), .. }: EntrantForm,
) -> Result<HttpResponse, PageError> {
    console.people.sign_out(visitor.token().expose()).await?;
    let draft = AuditDraft::of_operators(AuditAction::SignedOut, &visitor.who.login);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other_with(console.accounts.cookies().end(), "/sign-in"))
}

/// Handles `POST /language`.
pub(super) async fn choose_language(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    keep_language(console.accounts.cookies(), &request, payload).await
}
