//! Signing in and out, and choosing a language.

use std::net::IpAddr;

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, SessionStage, User};
use quita_domain::secret::Secret;

use super::MerchantConsole;
use super::texts::Texts;
use super::visitor::{Entrant, with_next};
use crate::console::kit::answer::{html, see_other, see_other_with};
use crate::console::kit::devices::Device;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::{Form, SignedForm};
use crate::console::kit::proof::{CodePage, GivenPasswordPage, bare_frame};
use crate::console::kit::sign_in::{SignInPage, Wanted, keep_language, origin_of, own_address, show_form};
use crate::http::client_address::address_of;
use crate::service::audit::{AuditDraft, Initiator};
use crate::service::people::{Given, NewSession, PeopleError};
use crate::service::refused_sign_ins::{Door, Why};

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
    let line = match console.attempts.count(email, from, device) {
        Ok(line) => line,
        Err(wait) => {
            console.refused.note(email, from, Door::Console, Why::TooMany).await;
            return Err(Failure::TooMany(wait));
        }
    };
    let people = console.people.in_line(line);
    let (login, password) = (Login::parse(email), form.secret("password"));
    let session = people.sign_in::<User>(login.as_ref(), &password, origin_of(&request, from)).await?;
    let next = form.text("next");
    let Some(session) = session else {
        tracing::warn!(client.address = %from, "somebody could not sign in to the console");
        console.refused.note(email, from, Door::Console, Why::Wrong).await;
        let page = SignInPage { has_failed: true, email: email.into(), ..SignInPage::new(next) };
        return show_form(console.cookies, &request, page, StatusCode::UNPROCESSABLE_ENTITY);
    };
    if session.stage == SessionStage::Half {
        let code = with_next("/console/sign-in/code", &own_address("/console", next));
        return Ok(see_other_with(console.cookies.begin(&session.token), code));
    }
    let newcomer = Newcomer { session, device, from };
    newcomer.enter(&console, "password", next).await
}

/// Somebody who has just given everything that is asked for.
struct Newcomer {
    session: NewSession<User>,
    device: Option<Device>,
    from: IpAddr,
}

impl Newcomer {
    /// Notes it, marks the browser, and goes where the visitor wants to.
    async fn enter(self, console: &MerchantConsole, by: &str, next: &str) -> Result<HttpResponse, Failure> {
        let Self { session: NewSession { person, token, .. }, device, from } = self;
        let initiator = Initiator { who: person.login.to_string(), from: from.to_string() };
        let draft = AuditDraft::of(&person.merchant, AuditAction::SignedIn, &person.login);
        console.audit.note(&initiator, draft.after(by)).await;
        let mark = console.devices.mark(person.login.as_str(), device, console.clock.now())?;
        let mut answer = see_other_with(console.cookies.begin(&token), own_address("/console", next));
        answer
            .add_cookie(&console.cookies.mark_device(&mark))
            .map_err(|error| Failure::Defect(error.to_string()))?;
        Ok(answer)
    }
}

/// `GET /console/sign-in/code`: for who has given the password, and has a second factor.
pub(crate) async fn show_code(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    let (token, progress) = progress(&console, &request).await?;
    let next = wanted.into_inner().next;
    match progress {
        Progress::CodeIsDue(_) => html(&CodePage { frame: bare_frame(&token), next, failed: None }),
        Progress::IsIn => Ok(see_other(own_address("/console", &next))),
    }
}

/// How far a session has come.
enum Progress {
    /// Of this account.
    CodeIsDue(Login),
    IsIn,
}

/// The token of a session, and how far it has come.
async fn progress(
    console: &MerchantConsole,
    request: &HttpRequest,
) -> Result<(Secret<String>, Progress), Failure> {
    let signed_out = || Failure::signed_out(request);
    let token = console.cookies.session(request).ok_or_else(signed_out)?;
    if let Some(half) = console.people.half::<User>(token.expose()).await? {
        return Ok((token, Progress::CodeIsDue(half.person.login)));
    }
    console.people.watch::<User>(token.expose()).await?.ok_or_else(signed_out)?;
    Ok((token, Progress::IsIn))
}

/// `POST /console/sign-in/code`
pub(crate) async fn give_code(
    console: Data<MerchantConsole>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Failure> {
    let (token, progress) = progress(&console, &request).await?;
    let form = Form::read(&request, payload, [&token]).await?;
    let Progress::CodeIsDue(login) = progress else {
        return Ok(see_other(own_address("/console", form.text("next"))));
    };
    let (next, from) = (form.text("next"), address_of(&request, console.is_behind_proxy));
    console.attempts.count_in_session(&token).map_err(Failure::TooMany)?;
    let given = form.secret("code");
    let finished =
        console.factors.finish_sign_in::<User>(token.expose(), given.expose(), origin_of(&request, from));
    let texts = &Texts::current().proof;
    let failed = match finished.await {
        Ok(Some((session, given))) => {
            let device = device_of(&console, &request, session.person.login.as_str());
            let by = note_given(&session.person, given, from, &console).await;
            return Newcomer { session, device, from }.enter(&console, by, next).await;
        }
        Ok(None) => return Err(Failure::SignedOut(None)),
        Err(PeopleError::WrongCode) => texts.code_wrong.to_owned(),
        Err(PeopleError::CodesWait(seconds)) => texts.code_waits.replace("{seconds}", &seconds.to_string()),
        Err(error) => return Err(error.into()),
    };
    tracing::warn!(client.address = %from, "somebody gave a wrong second factor to the console");
    console.refused.note(login.as_str(), from, Door::Console, Why::WrongCode).await;
    let page = CodePage { frame: bare_frame(&token), next: next.to_owned(), failed: Some(failed) };
    again(&page)
}

/// A page whose form was not taken.
fn again(page: &impl Template) -> Result<HttpResponse, Failure> {
    let mut answer = HttpResponse::build(StatusCode::UNPROCESSABLE_ENTITY);
    Ok(answer.content_type(ContentType::html()).body(page.render()?))
}

/// Notes a recovery code that was used up. Says, for the audit log, what was given.
async fn note_given(user: &User, given: Given, from: IpAddr, console: &MerchantConsole) -> &'static str {
    let Given::RecoveryCode { left } = given else { return "password and code" };
    let initiator = Initiator { who: user.login.to_string(), from: from.to_string() };
    let draft = AuditDraft::of(&user.merchant, AuditAction::RecoveryCodeUsed, &user.login);
    console.audit.note(&initiator, draft.after(format!("{left} left"))).await;
    "password and recovery code"
}

/// `GET /console/sign-in/password`: for who has a password that somebody else made.
pub(crate) async fn show_password(entrant: Entrant, wanted: Query<Wanted>) -> Result<HttpResponse, Failure> {
    if !entrant.0.user.credentials.must_change_password {
        return Ok(see_other(own_address("/console", &wanted.next)));
    }
    let frame = bare_frame(&entrant.0.token);
    html(&GivenPasswordPage { frame, next: wanted.into_inner().next, failed: None })
}

/// `POST /console/sign-in/password`
pub(crate) async fn choose_password(
    console: Data<MerchantConsole>,
    sent: SignedForm<Entrant>,
) -> Result<HttpResponse, Failure> {
    let SignedForm { visitor: Entrant(visitor), form } = sent;
    let next = form.text("next");
    if !visitor.user.credentials.must_change_password {
        return Ok(see_other(own_address("/console", next)));
    }
    console.attempts.count_in_session(&visitor.token).map_err(Failure::TooMany)?;
    let changed = console.people.replace_given_password(&visitor.signed(), &form.secret("new")).await;
    let session = match changed {
        Ok(session) => session,
        Err(error @ (PeopleError::NotAPassword | PeopleError::Weak(_) | PeopleError::SamePassword)) => {
            let failed = Some(Failure::from(error).to_string());
            let frame = bare_frame(&visitor.token);
            return again(&GivenPasswordPage { frame, next: next.to_owned(), failed });
        }
        Err(error) => return Err(error.into()),
    };
    let draft = visitor.draft(AuditAction::PasswordChanged, &visitor.user.login);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other_with(console.cookies.begin(&session.token), own_address("/console", next)))
}

/// The browser that the request comes from, if somebody signed in to this account with it before.
fn device_of(console: &MerchantConsole, request: &HttpRequest, account: &str) -> Option<Device> {
    console.devices.known(account, &console.cookies.device(request)?, console.clock.now())
}

/// `POST /console/sign-out`
pub(crate) async fn sign_out(
    console: Data<MerchantConsole>,
    sent: SignedForm<Entrant>,
) -> Result<HttpResponse, Failure> {
    let SignedForm { visitor: Entrant(visitor), .. } = sent;
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
