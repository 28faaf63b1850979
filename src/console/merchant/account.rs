//! The own account: password, second factor, sessions and language.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::time::Timestamp;

use super::MerchantConsole;
use super::frame::{Frame, Section};
use super::mode::InMode;
use super::sessions::{Row, rows};
use super::texts::Texts;
use super::visitor::{OwnChange, Visitor, with_next};
use crate::console::kit::answer::{Done, html, see_other_with};
use crate::console::kit::failure::Failure;
use crate::console::kit::language::Language;

#[derive(Template)]
#[template(path = "console/merchant/account.html")]
struct AccountPage {
    frame: Frame,
    /// Since when there is a second factor, and how many recovery codes are left.
    factor: Option<(Timestamp, usize)>,
    is_required: bool,
    sessions: Vec<Row>,
}

impl AccountPage {
    /// Where a second factor is set up; it leads back to here.
    fn set_up_address(&self) -> String {
        with_next("/console/factor", &format!("{}/account", self.frame.base))
    }

    fn codes_left(&self, left: &usize) -> String {
        self.frame.texts.proof.recovery_codes_left.replace("{left}", &left.to_string())
    }
}

/// `GET /console/{mode}/account`
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, Failure> {
    let mut frame = visitor.frame(mode, Section::Account);
    frame.notice = notice(frame.texts, &done.done);
    let factor = visitor.user.credentials.second_factor.as_ref();
    let factor = factor.map(|factor| (factor.since, factor.recovery_codes.len()));
    let is_required = console.people.policy(&visitor.user.merchant).await?.second_factor_required;
    html(&AccountPage { frame, factor, is_required, sessions: rows(&visitor, &console).await? })
}

fn notice(texts: &Texts, done: &str) -> Option<&'static str> {
    match done {
        "password" => Some(texts.people.password_changed),
        "factor-removed" => Some(texts.proof.factor_removed),
        "session-ended" => Some(texts.proof.session_ended),
        "others-ended" => Some(texts.proof.others_ended),
        _ => None,
    }
}

/// `POST /console/{mode}/account/password`: every session of the user ends, and this browser gets a new one.
pub(crate) async fn change_password(
    change: OwnChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, form } = change;
    let login = visitor.user.login.as_str();
    console.attempts.count_in_session(&visitor.token).map_err(Failure::TooMany)?;
    let (current, new) = (form.secret("current"), form.secret("new"));
    let session = console.people.change_password(&visitor.signed(), &current, &new).await?;
    let draft = visitor.draft(AuditAction::PasswordChanged, login);
    console.audit.note(&visitor.initiator(), draft).await;
    let address = format!("/console/{}/account?done=password", mode.as_str());
    Ok(see_other_with(console.cookies.begin(&session.token), address))
}
