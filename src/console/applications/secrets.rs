//! The webhook secrets of an application: shown, rotated.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::Permission;

use super::address_of;
use super::one::own;
use crate::console::Console;
use crate::console::ask::AskPage;
use crate::console::failure::Failure;
use crate::console::frame::{Frame, Section};
use crate::console::mode::InMode;
use crate::console::visitor::{ApplicationChange, Visitor};

#[derive(Template)]
#[template(path = "console/secret.html")]
struct SecretPage {
    frame: Frame,
    back: String,
    secret: String,
}

/// `GET /console/{mode}/applications/{name}/secret/{show|rotate}`
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String, String)>,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    visitor.must(Permission::ManageApplications)?;
    let (_, name, verb) = path.into_inner();
    let application = own(&visitor, &name, &console).await?;
    let frame = visitor.frame(mode, Section::Applications);
    let texts = &frame.texts.applications;
    let (question, sentence, button) = match verb.as_str() {
        "show" => (texts.show_secret_question, texts.show_secret_sentence, texts.show_secret),
        "rotate" => (texts.rotate_secret_question, texts.rotate_secret_sentence, texts.rotate_secret),
        _ => return Err(Failure::NotFound),
    };
    let back = address_of(mode, &application.name);
    AskPage {
        question: question.replace("{title}", application.title()),
        sentence: sentence.into(),
        button,
        action: format!("{back}/secret/{verb}"),
        back,
        is_grave: verb == "rotate",
        frame,
    }
    .show()
}

/// `POST /console/{mode}/applications/{name}/secret/{show|rotate}`: the newest secret.
pub(crate) async fn act(
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String, String)>,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    let ApplicationChange { visitor, .. } = change;
    let (_, name, verb) = path.into_inner();
    let application = own(&visitor, &name, &console).await?;
    let merchant = &visitor.user.merchant;
    let (secrets, action) = match verb.as_str() {
        "show" => (console.access.secrets(merchant, &application.name).await?, AuditAction::SecretShown),
        "rotate" => {
            (console.access.rotate_secret(merchant, &application.name).await?, AuditAction::SecretRotated)
        }
        _ => return Err(Failure::NotFound),
    };
    console.audit.note(&visitor.doer(), visitor.deed(action, &application.name)).await;
    let secret = secrets.into_iter().next().ok_or_else(|| Failure::Defect("no live secret".into()))?;
    let page = SecretPage {
        frame: visitor.frame(mode, Section::Applications),
        back: address_of(mode, &application.name),
        secret,
    };
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page.render()?))
}
