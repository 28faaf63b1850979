//! Creation of the first operator with the configured password. Once an operator exists, that password grants no
//! access.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::OperatorRole;

use super::OperatorConsole;
use super::sign_in::arrival;
use super::texts::OperatorTexts;
use super::texts::people::OperatorPeople;
use crate::console::kit::form::Form;
use crate::console::kit::frame::Frame;
use crate::console::kit::page_error::PageError;
use crate::console::kit::people::read_login;
use crate::console::kit::sign_in::{origin_of, show_gate};
use quita_services::audit::{AuditDraft, Initiator};
use quita_services::refused_sign_ins::Why;

/// Account name under which attempts with the configured password are counted.
const SETUP: &str = "setup";

/// Form that creates the first operator.
#[derive(Template)]
#[template(path = "console/operator/first.html")]
struct FirstPage {
    frame: Frame,
    texts: &'static OperatorPeople,
    has_failed: bool,
    email: String,
}

/// Shows the form. Without a configured password, the console is closed.
pub(super) fn show(console: &OperatorConsole, request: &HttpRequest) -> Result<HttpResponse, PageError> {
    show_with(console, request, StatusCode::OK, "")
}

fn show_with(
    console: &OperatorConsole,
    request: &HttpRequest,
    status: StatusCode,
    email: &str,
) -> Result<HttpResponse, PageError> {
    console.setup_password.as_ref().ok_or(PageError::Closed)?;
    show_gate(console.accounts.cookies(), request, status, |form_token| {
        let texts = &OperatorTexts::current().operator_people;
        let has_failed = status != StatusCode::OK;
        let frame = Frame { form_token, ..Frame::bare() };
        FirstPage { frame, texts, has_failed, email: email.into() }
    })
}

/// Handles `POST /first-operator`.
pub(super) async fn make(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, PageError> {
    let setup_password = console.setup_password.as_ref().ok_or(PageError::Closed)?;
    let form = Form::read(&request, payload, console.accounts.cookies().visit(&request).as_ref()).await?;
    let arrival = arrival(&request);
    let texts = &OperatorTexts::current().operator_people;
    let from = arrival.from;
    console.accounts.count_attempt(SETUP, from)?;
    if console.people.has_operators().await? {
        return Err(PageError::Refused(texts.first_is_there.into()));
    }
    if !setup_password.is(&form.secret("setup")) {
        tracing::warn!(client.address = %from, "an attempt to create the first operator failed");
        console.accounts.note_refused(form.text("email"), from, Why::Wrong).await;
        return show_with(&console, &request, StatusCode::UNPROCESSABLE_ENTITY, form.text("email"));
    }
    let login = read_login(&form)?;
    let password = form.secret("password");
    let origin = origin_of(&request, from);
    let session = console.people.create_first_operator(login, &password, origin).await?;
    let initiator = Initiator { who: session.person.login.to_string(), from: from.to_string() };
    let draft = AuditDraft::of_operators(AuditAction::OperatorCreated, &session.person.login);
    console.audit.note(&initiator, draft.after(OperatorRole::Operator.as_str())).await;
    console.accounts.admit(&arrival, &session, "/")
}
