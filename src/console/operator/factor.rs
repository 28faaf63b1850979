//! The second factor of an operator: set up, renewed, taken away.

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;
use quita_domain::people;
use quita_domain::secret::Secret;

use super::account::signed;
use super::sign_in::again;
use super::texts::Texts;
use super::visitor::{Operator, OwnForm};
use super::{OperatorConsole, step_up};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::failure::Failure;
use crate::console::kit::proof::{FactorPage, RecoveryCodesPage};
use crate::console::kit::sign_in::Wanted;
use crate::service::audit::AuditDraft;
use crate::service::people::PeopleError;

/// Where the pages lead back to.
const ACCOUNT: &str = "/account";

/// `GET /factor`: a new secret each time; it counts for nothing before a code proves that an app has it.
pub(super) async fn propose(
    operator: Operator,
    _: Query<Wanted>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    html(&page(&operator, console.factors.propose()?, &console).await?)
}

async fn page(
    operator: &Operator,
    secret: Secret<String>,
    console: &OperatorConsole,
) -> Result<FactorPage, Failure> {
    let address = console.factors.address(&operator.who.login, &secret);
    let mut page = FactorPage::new(&operator.token, ACCOUNT, secret, &address)?;
    page.is_again = signed(operator, console).await?.person.credentials.second_factor.is_some();
    Ok(page)
}

/// `POST /factor`: the answer shows the recovery codes, which no page shows again.
pub(super) async fn set_up(
    request: HttpRequest,
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let signed = step_up::require(&request, &visitor, &form, &console).await?;
    let secret = form.secret("secret");
    let codes = match console.factors.set_up(&signed.person, &secret, form.text("code")).await {
        Ok(codes) => codes,
        Err(PeopleError::WrongCode) => {
            let mut page = page(&visitor, secret, &console).await?;
            page.failed = Some(Texts::current().proof.no_code_here);
            return again(&page);
        }
        Err(error) => return Err(error.into()),
    };
    note(&visitor, &console, AuditAction::SecondFactorSetUp).await;
    html(&RecoveryCodesPage::new(&visitor.token, &codes, ACCOUNT.into()))
}

/// `POST /account/recovery-codes`
pub(super) async fn renew_codes(
    request: HttpRequest,
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let signed = step_up::require(&request, &visitor, &form, &console).await?;
    let codes = console.factors.renew_recovery_codes(&signed.person).await?;
    note(&visitor, &console, AuditAction::RecoveryCodesMade).await;
    html(&RecoveryCodesPage::new(&visitor.token, &codes, ACCOUNT.into()))
}

/// `POST /account/factor/remove`: with the factor itself, however short ago it was given.
pub(super) async fn remove(
    request: HttpRequest,
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    step_up::demand(&request, &visitor, &form, &console).await?;
    console.people.remove_factor::<people::Operator>(&visitor.who.login).await?;
    note(&visitor, &console, AuditAction::SecondFactorRemoved).await;
    Ok(see_other("/account?done=factor"))
}

async fn note(visitor: &Operator, console: &OperatorConsole, action: AuditAction) {
    let draft = AuditDraft::of_operators(action, &visitor.who.login);
    console.audit.note(&visitor.initiator(), draft).await;
}
