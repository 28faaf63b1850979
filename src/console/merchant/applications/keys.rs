//! API keys of an application: creation, rotation and revocation. A key is shown once.

use std::time::Duration;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::access::{ApiKey, Application, KeyKind, PresentedKey, Scope};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{Mode, Owner};
use quita_domain::people::Permission;
use serde::Deserialize;

use super::one::own;
use super::{address_of, see};
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::ask::{AskPage, AskWords};
use crate::console::merchant::frame::MerchantSection;
use crate::console::merchant::mode::InMode;
use crate::console::merchant::once::OncePage;
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{ApplicationChange, Visitor};
use crate::sample_request;
use quita_services::access::{DEFAULT_KEY_LIFE, NewKey};

/// Action on a key that requires a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyAction {
    Rotate,
    Revoke,
}

impl KeyAction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Rotate => "rotate",
            Self::Revoke => "revoke",
        }
    }
}

/// Handles `POST /console/{mode}/applications/{name}/keys`.
pub(crate) async fn create(
    request: HttpRequest,
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let application = own(&visitor, &path.1, &console).await?;
    if mode == Mode::Live {
        console.accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
    }
    let (kind, scopes) = read_powers(&form)?;
    let expires_in = read_expiry(form.text("expiry"))?;
    let owner = Owner { merchant: application.merchant.clone(), application: application.name.clone(), mode };
    let access = console.access.by(visitor.user.login.as_str());
    let key = access.create_key(NewKey { owner, kind, scopes: scopes.clone(), expires_in }).await?;
    let ends = expires_in.map_or_else(|| "never".into(), |life| format!("in {} d", life.as_secs() / 86_400));
    let powers = match kind {
        KeyKind::Secret => names(&scopes),
        KeyKind::Publishable => "publishable".into(),
    };
    let summary = format!("{} {} {powers}, ends {ends}", mode.as_str(), application.name);
    console
        .audit
        .note(&visitor.initiator(), visitor.draft(AuditAction::KeyCreated, &key.id).after(summary))
        .await;
    show_once(&visitor, mode, &console, &key, &scopes, address_of(mode, &application.name))
}

/// Reads the kind of a new key, and the scopes if it is a secret one.
fn read_powers(form: &Form) -> Result<(KeyKind, Vec<Scope>), PageError> {
    if form.text("kind") == "publishable" {
        return Ok((KeyKind::Publishable, Vec::new()));
    }
    let is_given = |scope: &Scope| form.all("scope").any(|given| given == scope.as_str());
    let scopes: Vec<_> = Scope::ALL.into_iter().filter(is_given).collect();
    if scopes.is_empty() {
        return Err(PageError::Unreadable(MerchantTexts::current().applications.no_scope.into()));
    }
    Ok((KeyKind::Secret, scopes))
}

/// Parses the number of days until the key expires, or `never`; empty means a year.
fn read_expiry(text: &str) -> Result<Option<Duration>, PageError> {
    match text {
        "" => return Ok(Some(DEFAULT_KEY_LIFE)),
        "never" => return Ok(None),
        _ => {}
    }
    let days: Option<u64> = text.parse().ok().filter(|days| (1..=3_650).contains(days));
    let days =
        days.ok_or_else(|| PageError::Unreadable(MerchantTexts::current().applications.bad_expiry.into()))?;
    Ok(Some(Duration::from_secs(days.saturating_mul(86_400))))
}

fn names(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(",")
}

fn show_once(
    visitor: &Visitor,
    mode: Mode,
    console: &MerchantConsole,
    key: &PresentedKey,
    scopes: &[Scope],
    back: String,
) -> Result<HttpResponse, PageError> {
    let frame = visitor.frame(mode, MerchantSection::Applications);
    let texts = &frame.texts.applications;
    let secret = key.reveal();
    let writes = scopes.contains(&Scope::PaymentsWrite);
    let curl = writes.then(|| sample_request::curl(&console.edge.public_url, &secret, None));
    let sentence = match key.kind {
        KeyKind::Secret => texts.key_shown_once,
        KeyKind::Publishable => texts.publishable_shown_once,
    };
    let title = texts.new_key_title.into();
    let second = None;
    OncePage { title, sentence, secret, second, curl, back, frame }.show()
}

/// Handles `GET /console/{mode}/applications/{name}/keys/{id}/{rotate|revoke}`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String, String, KeyAction)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ManageApplications)?;
    let (_, name, id, verb) = path.into_inner();
    let application = own(&visitor, &name, &console).await?;
    let key = live_key(&application, mode, &id, &console).await?;
    let frame = visitor.frame(mode, MerchantSection::Applications);
    let texts = &frame.texts.applications;
    let (question, sentence, button) = match verb {
        KeyAction::Rotate => (texts.rotate_question, texts.rotate_sentence, texts.rotate),
        KeyAction::Revoke => (texts.revoke_question, texts.revoke_sentence, texts.revoke),
    };
    let words = AskWords { question: question.replace("{id}", &key.id), sentence, button };
    let back = address_of(mode, &application.name);
    let step = format!("keys/{}/{}", key.id, verb.as_str());
    let mut page = AskPage::new(frame, words, back, &step);
    page.is_grave = verb == KeyAction::Revoke;
    page.show()
}

/// Finds the application's live key with this id, of this mode.
async fn live_key(
    application: &Application,
    mode: Mode,
    id: &str,
    console: &MerchantConsole,
) -> Result<ApiKey, PageError> {
    let key = console.access.key_of(&application.merchant, id).await?;
    let is_its = key.owner.application == application.name && key.owner.mode == mode;
    if is_its && key.is_live(console.clock.now()) { Ok(key) } else { Err(PageError::NotFound) }
}

/// Handles `POST /console/{mode}/applications/{name}/keys/{id}/{rotate|revoke}`.
pub(crate) async fn act(
    request: HttpRequest,
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String, String, KeyAction)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let (_, name, id, verb) = path.into_inner();
    let application = own(&visitor, &name, &console).await?;
    let key = live_key(&application, mode, &id, &console).await?;
    match verb {
        KeyAction::Revoke => {
            console.access.revoke_key(&key.id).await?;
            console.audit.note(&visitor.initiator(), visitor.draft(AuditAction::KeyRevoked, &key.id)).await;
            Ok(see(mode, &application.name, "revoked"))
        }
        KeyAction::Rotate => {
            if mode == Mode::Live {
                console.accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
            }
            let access = console.access.by(visitor.user.login.as_str());
            let successor = access.rotate_key(&visitor.user.merchant, &key.id).await?;
            let draft = visitor.draft(AuditAction::KeyRotated, &key.id).after(&successor.id);
            console.audit.note(&visitor.initiator(), draft).await;
            show_once(&visitor, mode, &console, &successor, &key.scopes, address_of(mode, &application.name))
        }
    }
}
