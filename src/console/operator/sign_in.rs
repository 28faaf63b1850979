//! Signing operators in and out, and choosing a language.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, Operator, SessionStage};
use quita_domain::secret::Secret;

use super::texts::Texts;
use super::texts::people::OperatorPeople;
use super::visitor::{Newcomer, NewcomerForm};
use super::{OperatorConsole, first};
use crate::console::kit::answer::see_other_with;
use crate::console::kit::cookies::form_token;
use crate::console::kit::devices::Device;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::frame::Frame;
use crate::console::kit::sign_in::{SignInPage, Wanted, keep_language, origin_of, own_address, show_form};
use crate::http::client_address::peer_of;
use crate::service::audit::{AuditDraft, Initiator};
use crate::service::people::{Given, NewSession, PeopleError};

/// `GET /sign-in`: the form for signing in; while there is no operator, that for making the first one.
pub(super) async fn show(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    if !console.people.has_operators().await? {
        return first::show(&console, &request);
    }
    show_form(console.cookies, &request, SignInPage::new(wanted.into_inner().next), StatusCode::OK)
}

/// `POST /sign-in`
pub(super) async fn sign_in(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    let form = Form::read(&request, payload, console.cookies.visit(&request).as_ref()).await?;
    let (email, from) = (form.text("email"), peer_of(&request));
    let device = device_of(&console, &request, email);
    let line = console.attempts.count(email, from, device).map_err(Failure::TooMany)?;
    let people = console.people.in_line(line);
    let (login, password) = (Login::parse(email), form.secret("password"));
    let session = people.sign_in::<Operator>(login.as_ref(), &password, origin_of(&request, from)).await?;
    let next = form.text("next");
    let Some(session) = session else {
        tracing::warn!(client.address = %from, "somebody could not sign in to the operators' console");
        let page = SignInPage { has_failed: true, email: email.into(), ..SignInPage::new(next) };
        return show_form(console.cookies, &request, page, StatusCode::UNPROCESSABLE_ENTITY);
    };
    match session.stage {
        SessionStage::Half => Ok(see_other_with(console.cookies.begin(&session.token), code_address(next))),
        SessionStage::Whole => {
            note_sign_in(&console, &session, &request).await;
            enter(&console, &session, device, own_address("", next))
        }
    }
}

fn code_address(next: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    format!("/sign-in/code?{query}")
}

async fn note_sign_in(console: &OperatorConsole, session: &NewSession<Operator>, request: &HttpRequest) {
    let login = &session.person.login;
    let initiator = Initiator { who: login.to_string(), from: peer_of(request).to_string() };
    console.audit.note(&initiator, AuditDraft::of_operators(AuditAction::SignedIn, login)).await;
}

/// The form for the second factor.
#[derive(Template)]
#[template(path = "console/operator/code.html")]
struct CodePage {
    frame: Frame,
    texts: &'static OperatorPeople,
    next: String,
    has_failed: bool,
}

/// `GET /sign-in/code`: to whoever gave the password a moment ago.
pub(super) async fn ask_code(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    let token = half(&console, &request).await?;
    show_code_form(&token, wanted.into_inner().next, StatusCode::OK)
}

fn show_code_form(token: &Secret<String>, next: String, status: StatusCode) -> Result<HttpResponse, Failure> {
    let frame = Frame { form_token: form_token(token), ..Frame::bare() };
    let (texts, has_failed) = (&Texts::current().people, status != StatusCode::OK);
    let page = CodePage { frame, texts, next, has_failed };
    Ok(HttpResponse::build(status).content_type("text/html; charset=utf-8").body(page.render()?))
}

/// The token of a session whose second factor is still to be given.
async fn half(console: &OperatorConsole, request: &HttpRequest) -> Result<Secret<String>, Failure> {
    let token = console.cookies.session(request).ok_or(Failure::SignedOut(None))?;
    let half = console.people.half::<Operator>(token.expose()).await?;
    half.map(|_| token).ok_or(Failure::SignedOut(None))
}

/// `POST /sign-in/code`
pub(super) async fn give_code(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    let token = half(&console, &request).await?;
    let form = Form::read(&request, payload, Some(&token)).await?;
    let (next, origin) = (form.text("next"), origin_of(&request, peer_of(&request)));
    let finished =
        console.factors.finish_sign_in::<Operator>(token.expose(), form.text("code"), origin).await;
    let (session, given) = match finished {
        Ok(Some(finished)) => finished,
        Ok(None) => return Err(Failure::SignedOut(None)),
        Err(PeopleError::WrongCode) => {
            return show_code_form(&token, next.into(), StatusCode::UNPROCESSABLE_ENTITY);
        }
        Err(error) => return Err(error.into()),
    };
    note_sign_in(&console, &session, &request).await;
    note_recovery_code(&console, &session, &request, given).await;
    let device = device_of(&console, &request, session.person.login.as_str());
    enter(&console, &session, device, own_address("", next))
}

async fn note_recovery_code(
    console: &OperatorConsole,
    session: &NewSession<Operator>,
    request: &HttpRequest,
    given: Given,
) {
    let Given::RecoveryCode { left } = given else { return };
    let login = &session.person.login;
    let initiator = Initiator { who: login.to_string(), from: peer_of(request).to_string() };
    let draft = AuditDraft::of_operators(AuditAction::RecoveryCodeUsed, login).after(format!("{left} left"));
    console.audit.note(&initiator, draft).await;
}

/// Goes on within a session, in a browser that is known from now on.
pub(super) fn enter(
    console: &OperatorConsole,
    session: &NewSession<Operator>,
    device: Option<Device>,
    address: String,
) -> Result<HttpResponse, Failure> {
    let mark = console.devices.mark(session.person.login.as_str(), device, console.clock.now())?;
    let mut answer = see_other_with(console.cookies.begin(&session.token), address);
    let marked = answer.add_cookie(&console.cookies.mark_device(&mark));
    marked.map_err(|error| Failure::Defect(error.to_string()))?;
    Ok(answer)
}

/// The browser that the request comes from, if somebody signed in to this account with it before.
fn device_of(console: &OperatorConsole, request: &HttpRequest, account: &str) -> Option<Device> {
    console.devices.known(account, &console.cookies.device(request)?, console.clock.now())
}

/// `POST /sign-out`
pub(super) async fn sign_out(
    console: Data<OperatorConsole>,
    NewcomerForm { visitor: Newcomer(visitor), .. }: NewcomerForm,
) -> Result<HttpResponse, Failure> {
    console.people.sign_out(visitor.token.expose()).await?;
    console.recent.forget(&visitor.token);
    let draft = AuditDraft::of_operators(AuditAction::SignedOut, &visitor.who.login);
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
