//! The own account of an operator: the password and the sessions.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::{self, SecondFactor, Session};

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::sign_in::enter;
use super::texts::Texts;
use super::texts::people::OperatorPeople;
use super::visitor::{Newcomer, NewcomerForm, Operator, OwnForm};
use crate::console::kit::answer::{Done, html, see_other};
use crate::console::kit::cookies::form_token;
use crate::console::kit::failure::Failure;
use crate::console::kit::frame;
use crate::service::audit::AuditDraft;
use crate::service::people::Signed;

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

    fn factor_words(&self) -> Option<String> {
        let factor = self.factor.as_ref()?;
        let (time, left) =
            (self.frame.language().time(factor.since), factor.recovery_codes.len().to_string());
        Some(self.frame.texts.people.factor_since.replace("{time}", &time).replace("{left}", &left))
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
        "sessions" => Some(texts.sessions_ended),
        "factor" => Some(texts.factor_removed),
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

/// The form for a password of the own, in place of one that somebody else made.
#[derive(Template)]
#[template(path = "console/operator/new_password.html")]
struct NewPasswordPage {
    frame: frame::Frame,
    texts: &'static OperatorPeople,
}

/// `GET /sign-in/password`
pub(super) async fn ask_new_password(Newcomer(operator): Newcomer) -> Result<HttpResponse, Failure> {
    if !operator.who.must_change_password {
        return Ok(see_other("/account"));
    }
    let frame = frame::Frame { form_token: form_token(&operator.token), ..frame::Frame::bare() };
    html(&NewPasswordPage { frame, texts: &Texts::current().people })
}

/// `POST /sign-in/password`
pub(super) async fn choose_password(
    NewcomerForm { visitor: Newcomer(visitor), form }: NewcomerForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let signed = signed(&visitor, &console).await?;
    let session = console.people.replace_given_password(&signed, &form.secret("new")).await?;
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
    console.audit.note(&visitor.initiator(), draft.after(ended)).await;
    Ok(see_other("/account?done=sessions"))
}
