//! The webhook secret of an application: shown once when it is made, and rotated.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_domain::access::Application;
use quita_domain::audit::AuditAction;
use quita_domain::identity::{ApplicationName, Mode};
use quita_domain::people::Permission;

use super::address_of;
use super::one::own;
use crate::console::kit::failure::Failure;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::ask::AskPage;
use crate::console::merchant::frame::Section;
use crate::console::merchant::mode::InMode;
use crate::console::merchant::once::OncePage;
use crate::console::merchant::visitor::{ApplicationChange, Visitor};

/// Shows the first of these secrets, the one that was just made.
pub(super) fn show_once(
    visitor: &Visitor,
    mode: Mode,
    name: &ApplicationName,
    title: &str,
    secrets: Vec<String>,
) -> Result<HttpResponse, Failure> {
    let frame = visitor.frame(mode, Section::Applications);
    let texts = &frame.texts.applications;
    OncePage {
        title: texts.secret_title.replace("{title}", title),
        sentence: texts.secret_shown_once,
        secret: secrets.into_iter().next().ok_or_else(|| Failure::Defect("no live secret".into()))?,
        curl: None,
        back: address_of(mode, name),
        frame,
    }
    .show()
}

/// `GET /console/{mode}/applications/{name}/secret/rotate`
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    visitor.must(Permission::ManageApplications)?;
    let application = own(&visitor, &path.1, &console).await?;
    console.access.check_overlap_is_over(&application)?;
    let frame = visitor.frame(mode, Section::Applications);
    let texts = &frame.texts.applications;
    let question = texts.rotate_secret_question.replace("{title}", application.title());
    let words = (question, texts.rotate_secret_sentence, texts.rotate_secret);
    AskPage::new(frame, words, address_of(mode, &application.name), "secret/rotate").show()
}

/// `POST /console/{mode}/applications/{name}/secret/rotate`
pub(crate) async fn rotate(
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let ApplicationChange { visitor, .. } = change;
    let application = own(&visitor, &path.1, &console).await?;
    let Application { merchant, name, .. } = &application;
    let secrets = console.access.rotate_secret_after_overlap(merchant, name).await?;
    console.audit.note(&visitor.initiator(), visitor.draft(AuditAction::SecretRotated, name)).await;
    show_once(&visitor, mode, name, application.title(), secrets)
}
