//! The own account: password and language.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditAction;

use super::MerchantConsole;
use super::frame::{Frame, Section};
use super::mode::InMode;
use super::visitor::{OwnChange, Visitor};
use crate::console::kit::answer::{Done, html, see_other_with};
use crate::console::kit::failure::Failure;
use crate::console::kit::language::Language;

#[derive(Template)]
#[template(path = "console/merchant/account.html")]
struct AccountPage {
    frame: Frame,
}

/// `GET /console/{mode}/account`
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    done: Query<Done>,
) -> Result<HttpResponse, Failure> {
    let mut frame = visitor.frame(mode, Section::Account);
    frame.notice = (done.done == "password").then_some(frame.texts.people.password_changed);
    html(&AccountPage { frame })
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
