//! Merchant's profile as payers see it, edited by owners.

use actix_web::HttpResponse;
use actix_web::web::Data;
use quita_domain::audit::AuditAction;
use quita_domain::people::{Logo, MerchantProfile, ProfileError};

use crate::console::kit::answer::see_other;
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::mode::{InMode, base_of};
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::PeopleChange;

/// Handles `POST /console/{mode}/people/profile`.
pub(crate) async fn set(
    change: PeopleChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PeopleChange { visitor, form } = change;
    let merchant = &visitor.user.merchant;
    let before = console.people.profile(merchant).await?;
    let after = MerchantProfile::default()
        .with_logo(logo(&form, &before)?)
        .with_display_name(form.text("displayName"))
        .and_then(|profile| profile.with_contact(form.text("contact")))
        .map_err(unreadable)?;
    console.people.set_profile(merchant, &after).await?;
    let draft = visitor.draft(AuditAction::ProfileChanged, merchant);
    console.audit.note(&visitor.initiator(), draft.before(before.to_string()).after(after.to_string())).await;
    Ok(see_other(format!("{}/people?done=profile", base_of(mode))))
}

/// Returns the chosen logo, in base64. If none was chosen, returns the previous one unless it is to be removed.
fn logo(form: &Form, before: &MerchantProfile) -> Result<Option<Logo>, PageError> {
    match form.text("logo") {
        "" if form.text("removeLogo").is_empty() => Ok(before.logo().cloned()),
        "" => Ok(None),
        chosen => {
            let unreadable = |_| PageError::Unreadable(MerchantTexts::current().users.bad_logo.into());
            Logo::parse(chosen).map(Some).map_err(unreadable)
        }
    }
}

fn unreadable(error: ProfileError) -> PageError {
    let texts = &MerchantTexts::current().users;
    let why = match error {
        ProfileError::DisplayName => texts.bad_display_name,
        ProfileError::Contact => texts.bad_contact,
    };
    PageError::Unreadable(why.into())
}
