//! Webhook secrets of an application, one for each mode: shown once on creation, and rotated.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::access::Application;
use quita_domain::audit::AuditAction;
use quita_domain::identity::{ApplicationName, Mode};
use quita_domain::people::Permission;

use super::address_of;
use super::one::own;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::ask::{AskPage, AskWords};
use crate::console::merchant::frame::MerchantSection;
use crate::console::merchant::mode::InMode;
use crate::console::merchant::once::{OncePage, SecondSecret};
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{ApplicationChange, Visitor};
use quita_services::access::fingerprint;

/// Shows the first secrets of a new application, for both modes.
pub(super) async fn show_first(
    visitor: &Visitor,
    mode: Mode,
    name: &ApplicationName,
    console: &MerchantConsole,
) -> Result<HttpResponse, PageError> {
    let merchant = &visitor.user.merchant;
    let texts = &MerchantTexts::current().everywhere;
    let (other, label) = match mode {
        Mode::Test => (Mode::Live, texts.live),
        Mode::Live => (Mode::Test, texts.test),
    };
    let secret = newest(console.access.secrets(merchant, name, mode).await?)?;
    let second = newest(console.access.secrets(merchant, name, other).await?)?;
    show_once(visitor, mode, name, name.as_str(), secret, Some(SecondSecret { label, secret: second }))
}

fn newest(secrets: Vec<String>) -> Result<String, PageError> {
    secrets.into_iter().next().ok_or_else(|| PageError::Defect("no live secret".into()))
}

fn show_once(
    visitor: &Visitor,
    mode: Mode,
    name: &ApplicationName,
    title: &str,
    secret: String,
    second: Option<SecondSecret>,
) -> Result<HttpResponse, PageError> {
    let frame = visitor.frame(mode, MerchantSection::Applications);
    let texts = &frame.texts.applications;
    OncePage {
        title: texts.secret_title.replace("{title}", title),
        sentence: texts.secret_shown_once,
        secret,
        second,
        curl: None,
        back: address_of(mode, name),
        frame,
    }
    .show()
}

/// Handles `GET /console/{mode}/applications/{name}/secret/rotate`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ManageApplications)?;
    let application = own(&visitor, &path.1, &console).await?;
    let newest = newest(console.access.secrets(&application.merchant, &application.name, mode).await?)?;
    let frame = visitor.frame(mode, MerchantSection::Applications);
    let texts = &frame.texts.applications;
    let question = texts.rotate_secret_question.replace("{title}", application.title());
    let words = AskWords { question, sentence: texts.rotate_secret_sentence, button: texts.rotate_secret };
    let mut page = AskPage::new(frame, words, address_of(mode, &application.name), "secret/rotate");
    page.replaces = Some(fingerprint(&newest));
    page.show()
}

/// Handles `POST /console/{mode}/applications/{name}/secret/rotate`.
pub(crate) async fn rotate(
    request: HttpRequest,
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let application = own(&visitor, &path.1, &console).await?;
    let Application { merchant, name, .. } = &application;
    console.accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
    let replaces = form.text("replaces");
    let access = console.access.by(visitor.user.login.as_str());
    let secrets = match replaces {
        "" => access.rotate_secret(merchant, name, mode).await?,
        newest => access.rotate_secret_after(merchant, name, mode, newest).await?,
    };
    let draft = visitor.draft(AuditAction::SecretRotated, name).after(mode.as_str());
    console.audit.note(&visitor.initiator(), draft).await;
    show_once(&visitor, mode, name, application.title(), newest(secrets)?, None)
}
