//! Signing operators in and out, and choosing a language.

use std::net::IpAddr;

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, Operator, SessionStage};
use quita_domain::secret::Secret;

use super::texts::Texts;
use super::visitor::{Newcomer, NewcomerForm};
use super::{OperatorConsole, first};
use crate::console::kit::answer::{html, see_other_with};
use crate::console::kit::devices::Device;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::proof::{CodePage, bare_frame};
use crate::console::kit::sign_in::{SignInPage, Wanted, keep_language, origin_of, own_address, show_form};
use crate::http::client_address::peer_of;
use crate::service::audit::{AuditDraft, Initiator};
use crate::service::people::{Given, NewSession, PeopleError};
use crate::service::refused_sign_ins::{Door, Why};

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
    let line = match console.attempts.count(email, from, device) {
        Ok(line) => line,
        Err(wait) => {
            console.refused.note(email, from, Door::Operators, Why::TooMany).await;
            return Err(Failure::TooMany(wait));
        }
    };
    let people = console.people.in_line(line);
    let (login, password) = (Login::parse(email), form.secret("password"));
    let session = people.sign_in::<Operator>(login.as_ref(), &password, origin_of(&request, from)).await?;
    let next = form.text("next");
    let Some(session) = session else {
        tracing::warn!(client.address = %from, "somebody could not sign in to the operators' console");
        console.refused.note(email, from, Door::Operators, Why::Wrong).await;
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

/// `GET /sign-in/code`: to whoever gave the password a moment ago.
pub(super) async fn ask_code(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    let (token, _) = half(&console, &request).await?;
    html(&CodePage { frame: bare_frame(&token), next: wanted.into_inner().next, failed: None })
}

/// The token of a session whose second factor is still to be given, and whose it is.
async fn half(console: &OperatorConsole, request: &HttpRequest) -> Result<(Secret<String>, Login), Failure> {
    let token = console.cookies.session(request).ok_or(Failure::SignedOut(None))?;
    let half = console.people.half::<Operator>(token.expose()).await?;
    half.map(|half| (token, half.person.login)).ok_or(Failure::SignedOut(None))
}

/// `POST /sign-in/code`
pub(super) async fn give_code(
    console: Data<OperatorConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    let (token, login) = half(&console, &request).await?;
    let form = Form::read(&request, payload, Some(&token)).await?;
    console.attempts.count_in_session(&token).map_err(Failure::TooMany)?;
    let (next, origin) = (form.text("next"), origin_of(&request, peer_of(&request)));
    let code = form.secret("code");
    let texts = &Texts::current().proof;
    let failed = match console.factors.finish_sign_in::<Operator>(token.expose(), code.expose(), origin).await
    {
        Ok(Some((session, given))) => return finish(&console, &request, (&session, given), next).await,
        Ok(None) => return Err(Failure::SignedOut(None)),
        Err(PeopleError::WrongCode) => texts.code_wrong.to_owned(),
        Err(PeopleError::CodesWait(seconds)) => texts.code_waits.replace("{seconds}", &seconds.to_string()),
        Err(error) => return Err(error.into()),
    };
    let from = peer_of(&request);
    tracing::warn!(client.address = %from, "somebody gave a wrong second factor to the operators' console");
    console.refused.note(login.as_str(), from, Door::Operators, Why::WrongCode).await;
    again(&CodePage { frame: bare_frame(&token), next: next.to_owned(), failed: Some(failed) })
}

/// A page whose form was not taken.
pub(super) fn again(page: &impl Template) -> Result<HttpResponse, Failure> {
    let mut answer = HttpResponse::build(StatusCode::UNPROCESSABLE_ENTITY);
    Ok(answer.content_type(ContentType::html()).body(page.render()?))
}

async fn finish(
    console: &OperatorConsole,
    request: &HttpRequest,
    (session, given): (&NewSession<Operator>, Given),
    next: &str,
) -> Result<HttpResponse, Failure> {
    note_sign_in(console, session, request).await;
    let login = &session.person.login;
    note_given(console, login, peer_of(request), given).await;
    let device = device_of(console, request, login.as_str());
    enter(console, session, device, own_address("", next))
}

/// Notes a recovery code that was used up.
pub(super) async fn note_given(console: &OperatorConsole, login: &Login, from: IpAddr, given: Given) {
    let Given::RecoveryCode { left } = given else { return };
    let initiator = Initiator { who: login.to_string(), from: from.to_string() };
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
