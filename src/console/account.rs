//! The own account: password and language.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditAction;
use serde::Deserialize;

use super::Console;
use super::failure::Failure;
use super::frame::{Frame, Section};
use super::language::Language;
use super::mode::InMode;
use super::visitor::{OwnChange, Visitor};

#[derive(Template)]
#[template(path = "console/account.html")]
struct AccountPage {
    frame: Frame,
}

/// What was just done, as the address says it.
#[derive(Deserialize)]
pub(crate) struct Done {
    #[serde(default)]
    done: String,
}

/// `GET /console/{mode}/account`
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    done: Query<Done>,
) -> Result<HttpResponse, Failure> {
    let mut frame = visitor.frame(mode, Section::Account);
    frame.notice = (done.done == "password").then_some(frame.texts.people.password_changed);
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(AccountPage { frame }.render()?))
}

/// `POST /console/{mode}/account/password`: every session of the user ends, and this browser gets a new one.
pub(crate) async fn change_password(
    change: OwnChange,
    InMode(mode): InMode,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, form } = change;
    let login = visitor.user.login.as_str();
    let from = visitor.from.parse().map_err(|_| Failure::Defect("an address is one".into()))?;
    console.attempts.count(login, from).map_err(Failure::TooMany)?;
    let (current, new) = (form.secret("current"), form.secret("new"));
    let begun = console.people.change_password(&visitor.user, &current, &new).await?;
    let deed = visitor.deed(AuditAction::PasswordChanged, login);
    console.audit.note(&visitor.doer(), deed).await;
    let address = format!("/console/{}/account?done=password", mode.as_str());
    let cookie = console.cookies.begin(&begun.token);
    Ok(HttpResponse::SeeOther().cookie(cookie).insert_header((LOCATION, address)).finish())
}
