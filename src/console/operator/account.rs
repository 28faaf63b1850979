//! The own account of an operator: the password and the sessions.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::{self, SecondFactor, Session};

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::sign_in::{again, enter};
use super::visitor::{Newcomer, NewcomerForm, Operator, OwnForm};
use crate::console::kit::answer::{Done, html, see_other};
use crate::console::kit::browser_name::browser_name;
use crate::console::kit::failure::Failure;
use crate::console::kit::proof::{GivenPasswordPage, bare_frame};
use crate::service::audit::AuditDraft;
use crate::service::people::{PeopleError, Signed};

#[derive(Template)]
#[template(path = "console/operator/account.html")]
struct AccountPage {
    frame: Frame,
    factor: Option<SecondFactor>,
    /// The sessions that go on, the one that was used last first.
    sessions: Vec<Session>,
    /// Of this one.
    session_id: String,
}

impl AccountPage {
    fn is_this(&self, session: &Session) -> bool {
        session.id == self.session_id
    }

    fn browser(session: &Session) -> Option<String> {
        browser_name(&session.origin.browser)
    }

    fn codes_left(&self, factor: &SecondFactor) -> String {
        let left = factor.recovery_codes.len().to_string();
        self.frame.texts.proof.recovery_codes_left.replace("{left}", &left)
    }
}

/// `GET /account`
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, Failure> {
    let signed = signed(&operator, &console).await?;
    let sessions = console.people.sessions(&signed.person).await?;
    let mut frame = operator.frame(Section::Account);
    let texts = &frame.texts.people;
    frame.notice = match done.done.as_str() {
        "password" => Some(texts.password_changed),
        "sessions" => Some(frame.texts.proof.others_ended),
        "factor" => Some(frame.texts.proof.factor_removed),
        _ => None,
    };
    let factor = signed.person.credentials.second_factor;
    html(&AccountPage { frame, factor, sessions, session_id: signed.session.id })
}

/// Who it is, with what it is proven by. Unlike looking, this needs the store.
pub(super) async fn signed(
    operator: &Operator,
    console: &OperatorConsole,
) -> Result<Signed<people::Operator>, Failure> {
    let signed = console.people.visit::<people::Operator>(operator.token.expose()).await?;
    signed.ok_or(Failure::SignedOut(None))
}

/// `POST /account/password`: every session of the operator ends, and this browser gets a new one.
pub(super) async fn change_password(
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.attempts.count_in_session(&visitor.token).map_err(Failure::TooMany)?;
    let signed = signed(&visitor, &console).await?;
    let (current, new) = (form.secret("current"), form.secret("new"));
    let session = console.people.change_password(&signed, &current, &new).await?;
    note_password(&visitor, &console).await;
    enter(&console, &session, None, "/account?done=password".into())
}

async fn note_password(visitor: &Operator, console: &OperatorConsole) {
    console.recent.forget(&visitor.token);
    let draft = AuditDraft::of_operators(AuditAction::PasswordChanged, &visitor.who.login);
    console.audit.note(&visitor.initiator(), draft).await;
}

/// `GET /sign-in/password`: for who has a password that somebody else made.
pub(super) async fn ask_new_password(Newcomer(operator): Newcomer) -> Result<HttpResponse, Failure> {
    if !operator.who.must_change_password {
        return Ok(see_other("/account"));
    }
    html(&given_password(&operator, None))
}

fn given_password(operator: &Operator, failed: Option<String>) -> GivenPasswordPage {
    GivenPasswordPage { frame: bare_frame(&operator.token), next: String::from("/"), failed }
}

/// `POST /sign-in/password`
pub(super) async fn choose_password(
    NewcomerForm { visitor: Newcomer(visitor), form }: NewcomerForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.attempts.count_in_session(&visitor.token).map_err(Failure::TooMany)?;
    let signed = signed(&visitor, &console).await?;
    let session = match console.people.replace_given_password(&signed, &form.secret("new")).await {
        Ok(session) => session,
        Err(error @ (PeopleError::NotAPassword | PeopleError::Weak(_) | PeopleError::SamePassword)) => {
            return again(&given_password(&visitor, Some(Failure::from(error).to_string())));
        }
        Err(error) => return Err(error.into()),
    };
    note_password(&visitor, &console).await;
    enter(&console, &session, None, "/".into())
}

/// `POST /account/sessions`: ends one of the own sessions, or all others.
pub(super) async fn end_sessions(
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let signed = signed(&visitor, &console).await?;
    let ended = match form.text("session") {
        "others" => console.people.end_other_sessions(&signed).await?,
        public_id => usize::from(console.people.end_session(&signed.person, public_id).await?),
    };
    let draft = AuditDraft::of_operators(AuditAction::SessionsEnded, &visitor.who.login);
    console.audit.note(&visitor.initiator(), draft.after(ended.to_string())).await;
    Ok(see_other("/account?done=sessions"))
}
