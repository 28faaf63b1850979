//! Account page of an operator: second factor, sessions and password.

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::OperatorConsole;
use super::frame::{BASE, OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::visitor::{Confirmed, Enrolling, EnrollingForm, OwnForm, Settled};
use crate::console::kit::accounts::AccountPart;
use crate::console::kit::answer::{Done, html};
use crate::console::kit::page_error::PageError;
use crate::console::kit::sign_in::SignInQuery;
use quita_services::people::Duty;

#[derive(Template)]
#[template(path = "console/operator/account.html")]
struct OperatorAccountPage {
    frame: OperatorFrame,
    account: AccountPart,
}

/// Handles `GET /account`.
pub(super) async fn show(
    Settled(visitor): Settled,
    console: Data<OperatorConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, PageError> {
    let mut frame = visitor.operator.frame(OperatorSection::Account);
    frame.notice = AccountPart::notice(&done);
    let account = console.accounts.part(&visitor.holder(), BASE, console.needs_second_factor).await?;
    html(&OperatorAccountPage { frame, account })
}

/// Handles `POST /account/password`.
pub(super) async fn change_password(
    OwnForm { visitor: Settled(visitor), form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.change_password(&visitor.holder(), &form, BASE).await
}

/// Handles `POST /account/mail`.
pub(super) async fn set_mailing(
    OwnForm { visitor: Settled(visitor), form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.set_mailing(&visitor.holder(), &form, BASE).await
}

/// Handles `POST /account/webhook`.
pub(super) async fn set_webhook(
    request: HttpRequest,
    OwnForm { visitor: Settled(visitor), form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.set_webhook(&request, &visitor.holder(), &form, BASE).await
}

/// Handles `POST /account/sessions/{id}/end`.
pub(super) async fn end_session(
    OwnForm { visitor: Settled(visitor), .. }: OwnForm,
    public_id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.end_session(&visitor.holder(), &public_id, BASE).await
}

/// Handles `POST /account/sessions/end-others`.
pub(super) async fn end_other_sessions(
    OwnForm { visitor: Settled(visitor), .. }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.end_other_sessions(&visitor.holder(), BASE).await
}

/// Returns true if a second factor is required but not set up yet.
fn is_factor_due(visitor: &Confirmed) -> bool {
    visitor.operator.who.duty == Some(Duty::SetUpFactor)
}

/// Handles `GET /factor`.
pub(super) async fn ask_factor(
    Enrolling(visitor): Enrolling,
    wanted: Query<SignInQuery>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.ask_factor(&visitor.holder(), &wanted.next, is_factor_due(&visitor))
}

/// Handles `POST /factor`.
pub(super) async fn set_up_factor(
    request: HttpRequest,
    EnrollingForm { visitor: Enrolling(visitor), form }: EnrollingForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.set_up_factor(&request, &visitor.holder(), &form, is_factor_due(&visitor)).await
}

/// Handles `POST /account/recovery-codes`.
pub(super) async fn renew_recovery_codes(
    request: HttpRequest,
    OwnForm { visitor: Settled(visitor), form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    console.accounts.renew_recovery_codes(&request, &visitor.holder(), &form, BASE).await
}

/// Handles `POST /account/factor/remove`.
pub(super) async fn remove_factor(
    request: HttpRequest,
    OwnForm { visitor: Settled(visitor), form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    if console.needs_second_factor {
        return Err(PageError::Refused(OperatorTexts::current().operator_people.factor_is_required.into()));
    }
    console.accounts.remove_factor(&request, &visitor.holder(), &form, BASE).await
}
