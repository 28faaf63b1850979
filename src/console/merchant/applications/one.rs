//! Page of one application: its keys, webhook secrets, and test events.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use quita_domain::access::{ApiKey, Application, KeyKind, MAX_LIVE_SECRETS, Scope};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{ApplicationName, Mode};
use quita_domain::time::Timestamp;

use super::test_event::Exchange;
use super::{MAX_NAME_CHARACTERS, address_of, read_name, see};
use crate::console::kit::answer::{Done, html};
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::frame::{MerchantFrame, MerchantSection};
use crate::console::merchant::mode::InMode;
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{ApplicationChange, Visitor};
use quita_services::access::OpenSecret;

#[derive(Template)]
#[template(path = "console/merchant/application.html")]
struct ApplicationPage {
    frame: MerchantFrame,
    application: Application,
    /// Address of this page.
    base: String,
    keys: Vec<ApiKey>,
    /// Secrets with which this mode signs now, newest first.
    secrets: Vec<OpenSecret>,
    now: Timestamp,
    exchange: Option<Exchange>,
    max_name_characters: usize,
}

impl ApplicationPage {
    /// Returns the badge kind of a key's state, and its word.
    fn state(&self, key: &ApiKey) -> (&'static str, &'static str) {
        let texts = &self.frame.texts.applications;
        match key.revoked_at {
            Some(_) => ("revoked", texts.state_revoked),
            None if key.is_live(self.now) => ("live", texts.state_live),
            None => ("expired", texts.state_expired),
        }
    }

    fn live_keys(&self) -> usize {
        self.keys.iter().filter(|key| key.is_live(self.now)).count()
    }

    /// Returns the keys that are still valid although a page in a browser has shown them.
    fn exposed_keys(&self) -> Vec<&ApiKey> {
        self.keys.iter().filter(|key| key.is_exposed(self.now)).collect()
    }

    fn ending_keys(&self) -> usize {
        self.keys.iter().filter(|key| key.ends_soon(self.now).is_some()).count()
    }

    /// Returns the URL that receives events of this mode.
    fn endpoint(&self) -> Option<&str> {
        self.application.endpoints.of(self.frame.bar.mode)
    }

    /// Returns enough of a secret to distinguish it from others.
    fn excerpt(secret: &OpenSecret) -> String {
        let last: Vec<char> = secret.secret.expose().chars().rev().take(4).collect();
        format!("whsec_…{}", last.into_iter().rev().collect::<String>())
    }

    fn scope_name(&self, scope: &Scope) -> &'static str {
        let texts = &self.frame.texts.applications;
        match scope {
            Scope::PaymentsWrite => texts.scope_write,
            Scope::PaymentsRead => texts.scope_read,
            Scope::Webhooks => texts.scope_webhooks,
        }
    }
}

/// Handles `GET /console/{mode}/applications/{name}`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, PageError> {
    let application = own(&visitor, &path.1, &console).await?;
    let notice = notice(MerchantTexts::current(), &done.done);
    render(&visitor, mode, &console, application, None, notice).await
}

fn notice(texts: &MerchantTexts, done: &str) -> Option<&'static str> {
    match done {
        "revoked" => Some(texts.applications.revoked),
        "endpoint" | "origins" | "renamed" => Some(texts.everywhere.done),
        _ => None,
    }
}

/// Renders the page, including the exchange of a test event if there was one.
pub(super) async fn render(
    visitor: &Visitor,
    mode: Mode,
    console: &MerchantConsole,
    application: Application,
    exchange: Option<Exchange>,
    notice: Option<&'static str>,
) -> Result<HttpResponse, PageError> {
    let keys = console.access.keys_of(&visitor.user.merchant).await?;
    let is_its = |key: &ApiKey| key.owner.application == application.name && key.owner.mode == mode;
    let mut keys: Vec<_> = keys.into_iter().filter(is_its).collect();
    let now = console.clock.now();
    keys.sort_by_key(|key| (!key.is_live(now), std::cmp::Reverse(key.created_at)));
    let secrets = console.access.open_secrets(&application, mode, now)?;
    let mut frame = visitor.frame(mode, MerchantSection::Applications);
    frame.notice = notice;
    let page = ApplicationPage {
        base: address_of(mode, &application.name),
        frame,
        application,
        keys,
        secrets,
        now,
        exchange,
        max_name_characters: MAX_NAME_CHARACTERS,
    };
    html(&page)
}

/// Finds the application with this name among those of the visitor's merchant.
pub(super) async fn own(
    visitor: &Visitor,
    name: &str,
    console: &MerchantConsole,
) -> Result<Application, PageError> {
    let name = ApplicationName::new(name);
    Ok(console.access.application(&visitor.user.merchant, &name).await?)
}

/// Handles `POST /console/{mode}/applications/{name}/rename`.
pub(crate) async fn rename(
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let application = own(&visitor, &path.1, &console).await?;
    let title = read_name(&form, "title")?;
    if title == application.title() {
        return Ok(see(mode, &application.name, "renamed"));
    }
    console.user_limits.count_rename(&visitor.user)?;
    let merchant = &visitor.user.merchant;
    let before = console.access.rename_application(merchant, &application.name, &title).await?;
    let draft = visitor.draft(AuditAction::ApplicationRenamed, &application.name).before(before).after(title);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see(mode, &application.name, "renamed"))
}
