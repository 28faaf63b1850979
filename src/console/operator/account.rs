//! The own account of an operator: second factor, sessions and password.

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::OperatorConsole;
use super::frame::{BASE, Frame, Section};
use super::visitor::{Operator, OwnForm};
use crate::console::kit::accounts::AccountPart;
use crate::console::kit::answer::{Done, html};
use crate::console::kit::failure::Failure;
use crate::console::kit::sign_in::Wanted;

#[derive(Template)]
#[template(path = "console/operator/account.html")]
struct AccountPage {
    frame: Frame,
    account: AccountPart,
}

/// `GET /account`
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, Failure> {
    let mut frame = operator.frame(Section::Account);
    frame.notice = AccountPart::notice(&done);
    let account = console.accounts.part(&operator.holder(&console).await?, BASE, false).await?;
    html(&AccountPage { frame, account })
}

/// `POST /account/password`
pub(super) async fn change_password(
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let holder = visitor.holder(&console).await?;
    let answer = console.accounts.change_password(&holder, &form, BASE).await?;
    console.recent.forget(&visitor.token);
    Ok(answer)
}

/// `POST /account/sessions/{id}/end`
pub(super) async fn end_session(
    OwnForm { visitor, .. }: OwnForm,
    public_id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.accounts.end_session(&visitor.holder(&console).await?, &public_id, BASE).await
}

/// `POST /account/sessions/end-others`
pub(super) async fn end_other_sessions(
    OwnForm { visitor, .. }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.accounts.end_other_sessions(&visitor.holder(&console).await?, BASE).await
}

/// `GET /factor`
pub(super) async fn ask_factor(
    operator: Operator,
    wanted: Query<Wanted>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.accounts.ask_factor(&operator.holder(&console).await?, &wanted.next, false)
}

/// `POST /factor`
pub(super) async fn set_up_factor(
    request: HttpRequest,
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.accounts.set_up_factor(&request, &visitor.holder(&console).await?, &form, false).await
}

/// `POST /account/recovery-codes`
pub(super) async fn renew_recovery_codes(
    request: HttpRequest,
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let holder = visitor.holder(&console).await?;
    console.accounts.renew_recovery_codes(&request, &holder, &form, BASE).await
}

/// `POST /account/factor/remove`
pub(super) async fn remove_factor(
    request: HttpRequest,
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.accounts.remove_factor(&request, &visitor.holder(&console).await?, &form, BASE).await
}
