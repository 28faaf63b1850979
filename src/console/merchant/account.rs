//! Account page: second factor, sessions, password and language.

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::InMode;
use super::texts::MerchantTexts;
use super::visitor::{Entrant, OwnChange, Visitor};
use crate::console::kit::accounts::AccountPart;
use crate::console::kit::answer::{Done, html};
use crate::console::kit::form::SignedForm;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::kit::sign_in::SignInQuery;
use quita_services::people::Duty;

#[derive(Template)]
#[template(path = "console/merchant/account.html")]
struct MerchantAccountPage {
    frame: MerchantFrame,
    account: AccountPart,
}

/// Handles `GET /console/{mode}/account`.
pub(crate) async fn show(
    visitor: Visitor,
    mode: InMode,
    console: Data<MerchantConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, PageError> {
    let mut frame = visitor.frame(mode.0, MerchantSection::Account);
    frame.notice = AccountPart::notice(&done);
    let is_required = is_factor_required(&visitor, &console).await?;
    let account = console.accounts.part(&visitor.holder(), &mode.base(), is_required).await?;
    html(&MerchantAccountPage { frame, account })
}

async fn is_factor_required(visitor: &Visitor, console: &MerchantConsole) -> Result<bool, PageError> {
    Ok(console.people.policy(&visitor.user.merchant).await?.second_factor_required)
}

/// Handles `POST /console/{mode}/account/password`.
pub(crate) async fn change_password(
    OwnChange { visitor, form }: OwnChange,
    mode: InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.change_password(&visitor.holder(), &form, &mode.base()).await
}

/// Handles `POST /console/{mode}/account/mail`.
pub(crate) async fn set_mailing(
    OwnChange { visitor, form }: OwnChange,
    mode: InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.set_mailing(&visitor.holder(), &form, &mode.base()).await
}

/// Handles `POST /console/{mode}/account/webhook`.
pub(crate) async fn set_webhook(
    request: HttpRequest,
    OwnChange { visitor, form }: OwnChange,
    mode: InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.set_webhook(&request, &visitor.holder(), &form, &mode.base()).await
}

/// Handles `POST /console/{mode}/account/sessions/{id}/end`.
pub(crate) async fn end_session(
    OwnChange { visitor, .. }: OwnChange,
    mode: InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.end_session(&visitor.holder(), &path.1, &mode.base()).await
}

/// Handles `POST /console/{mode}/account/sessions/end-others`.
pub(crate) async fn end_other_sessions(
    OwnChange { visitor, .. }: OwnChange,
    mode: InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.end_other_sessions(&visitor.holder(), &mode.base()).await
}

/// Handles `GET /console/factor`.
pub(crate) async fn ask_factor(
    Entrant(visitor): Entrant,
    wanted: Query<SignInQuery>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let is_due = is_factor_due(&visitor, &console).await?;
    console.accounts.ask_factor(&visitor.holder(), &wanted.next, is_due)
}

/// Handles `POST /console/factor`.
pub(crate) async fn set_up_factor(
    request: HttpRequest,
    SignedForm { visitor: Entrant(visitor), form }: SignedForm<Entrant>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let is_due = is_factor_due(&visitor, &console).await?;
    console.accounts.set_up_factor(&request, &visitor.holder(), &form, is_due).await
}

/// Returns true if a second factor is required but not set up yet.
async fn is_factor_due(visitor: &Visitor, console: &MerchantConsole) -> Result<bool, PageError> {
    Ok(console.people.duty(&visitor.user).await? == Some(Duty::SetUpFactor))
}

/// Handles `POST /console/{mode}/account/recovery-codes`.
pub(crate) async fn renew_recovery_codes(
    request: HttpRequest,
    OwnChange { visitor, form }: OwnChange,
    mode: InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.renew_recovery_codes(&request, &visitor.holder(), &form, &mode.base()).await
}

/// Handles `POST /console/{mode}/account/factor/remove`.
pub(crate) async fn remove_factor(
    request: HttpRequest,
    OwnChange { visitor, form }: OwnChange,
    mode: InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    if is_factor_required(&visitor, &console).await? {
        return Err(PageError::Refused(MerchantTexts::current().proof.factor_is_required.into()));
    }
    console.accounts.remove_factor(&request, &visitor.holder(), &form, &mode.base()).await
}
