//! Applications of a merchant.

pub(crate) mod keys;
pub(crate) mod one;
pub(crate) mod reach;
mod sample;
pub(crate) mod secrets;
pub(crate) mod test_event;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use quita_domain::access::{Application, TooManySecrets};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{ApplicationName, Mode};

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::{InMode, base_of};
use super::texts::MerchantTexts;
use super::visitor::{ApplicationChange, Visitor};
pub(crate) use crate::console::kit::answer::path_segment;
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::form::Form;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use quita_services::access::ManageError;

/// Maximum number of characters of an application's name or title.
const MAX_NAME_CHARACTERS: usize = 60;

#[derive(Template)]
#[template(path = "console/merchant/applications.html")]
struct ApplicationsPage {
    frame: MerchantFrame,
    applications: Vec<(Application, usize)>,
    max_name_characters: usize,
}

/// Handles `GET /console/{mode}/applications`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let merchant = &visitor.user.merchant;
    let keys = console.access.keys_of(merchant).await?;
    let now = console.clock.now();
    let live_keys = |application: &Application| {
        let is_its = |key: &&quita_domain::access::ApiKey| {
            key.owner.application == application.name && key.owner.mode == mode && key.is_live(now)
        };
        keys.iter().filter(is_its).count()
    };
    let applications = console.access.applications(merchant).await?;
    let applications = applications.into_iter().map(|application| {
        let live = live_keys(&application);
        (application, live)
    });
    let page = ApplicationsPage {
        frame: visitor.frame(mode, MerchantSection::Applications),
        applications: applications.collect(),
        max_name_characters: MAX_NAME_CHARACTERS,
    };
    html(&page)
}

/// Handles `POST /console/{mode}/applications`. The response shows the webhook secrets, which no page shows again.
pub(crate) async fn create(
    request: HttpRequest,
    change: ApplicationChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let texts = &MerchantTexts::current().applications;
    let name = read_name(&form, "name")?;
    if is_a_step_of_a_path(&name) {
        return Err(PageError::Unreadable(texts.not_an_address.into()));
    }
    console.accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
    let merchant = &visitor.user.merchant;
    let name = ApplicationName::new(name);
    let access = console.access.by(visitor.user.login.as_str());
    if !access.create_application(merchant.clone(), name.clone()).await? {
        return Err(PageError::Refused(texts.exists.into()));
    }
    console.audit.note(&visitor.initiator(), visitor.draft(AuditAction::ApplicationCreated, &name)).await;
    secrets::show_first(&visitor, mode, &name, &console).await
}

fn read_name(form: &Form, field: &str) -> Result<String, PageError> {
    form.words(field, MAX_NAME_CHARACTERS, MerchantTexts::current().applications.bad_name)
}

/// Returns true for names that browsers treat as path segments with a special meaning (WHATWG URL, section 4.4). A page
/// of an application with such a name could not be opened.
fn is_a_step_of_a_path(name: &str) -> bool {
    matches!(name, "." | "..")
}

impl From<ManageError> for PageError {
    fn from(error: ManageError) -> Self {
        let texts = &MerchantTexts::current().applications;
        match error {
            ManageError::Store(error) => error.into(),
            ManageError::NoSuchKey(_) | ManageError::NoSuchApplication { .. } => Self::NotFound,
            ManageError::EndsSoon(_) => Self::Refused(texts.ends_soon.into()),
            ManageError::TooManyKeys(_) => Self::Refused(texts.too_many_keys.into()),
            ManageError::TooManyMerchantKeys(_) => Self::Refused(texts.too_many_merchant_keys.into()),
            ManageError::TooManySecrets(TooManySecrets { until }) => {
                let until = Language::current().time(until);
                Self::Refused(texts.too_many_secrets.replace("{until}", &until))
            }
            ManageError::RotatedMeanwhile => Self::Refused(texts.rotated_meanwhile.into()),
            ManageError::Raced | ManageError::SecretKey(_) => Self::Unavailable(error.to_string()),
            ManageError::NoRandomness(_) => Self::Defect(error.to_string()),
        }
    }
}

/// Redirects to the page of an application, which confirms the action.
fn see(mode: Mode, name: &ApplicationName, done: &str) -> HttpResponse {
    see_other(format!("{}?done={done}", address_of(mode, name)))
}

/// Returns the address of an application's page.
pub(super) fn address_of(mode: Mode, name: &ApplicationName) -> String {
    format!("{}/applications/{}", base_of(mode), path_segment(name.as_str()))
}
