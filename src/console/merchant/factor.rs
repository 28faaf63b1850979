//! The own second factor: set up with an authenticator, renewed, turned off.

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::User;
use quita_domain::secret::Secret;

use super::MerchantConsole;
use super::mode::InMode;
use super::step_up;
use super::texts::Texts;
use super::visitor::{Entrant, OwnChange, Visitor};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::failure::Failure;
use crate::console::kit::form::SignedForm;
use crate::console::kit::proof::{FactorPage, RecoveryCodesPage};
use crate::console::kit::sign_in::{Wanted, own_address};
use crate::service::people::{Duty, PeopleError};

/// `GET /console/factor`: a new secret each time; it counts for nothing before a code proves that an app has it.
pub(crate) async fn show(
    entrant: Entrant,
    wanted: Query<Wanted>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let page = page(&entrant.0, &wanted.next, console.factors.propose()?, &console).await?;
    html(&page)
}

async fn page(
    visitor: &Visitor,
    next: &str,
    secret: Secret<String>,
    console: &MerchantConsole,
) -> Result<FactorPage, Failure> {
    let address = console.factors.address(&visitor.user.login, &secret);
    let mut page = FactorPage::new(&visitor.token, &own_address("/console", next), secret, &address)?;
    page.is_required = console.people.duty(&visitor.user).await? == Some(Duty::SetUpFactor);
    page.is_again = visitor.user.credentials.second_factor.is_some();
    Ok(page)
}

/// `POST /console/factor`: the answer shows the recovery codes, which no page shows again.
pub(crate) async fn set_up(
    request: HttpRequest,
    sent: SignedForm<Entrant>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let SignedForm { visitor: Entrant(visitor), form } = sent;
    step_up::require(&request, &visitor, &form, &console).await?;
    let (secret, next) = (form.secret("secret"), own_address("/console", form.text("next")));
    let codes = match console.factors.set_up(&visitor.user, &secret, form.text("code")).await {
        Ok(codes) => codes,
        Err(PeopleError::WrongCode) => {
            let mut page = page(&visitor, &next, secret, &console).await?;
            page.failed = Some(Texts::current().proof.no_code_here);
            let mut answer = HttpResponse::build(StatusCode::UNPROCESSABLE_ENTITY);
            return Ok(answer.content_type(ContentType::html()).body(page.render()?));
        }
        Err(error) => return Err(error.into()),
    };
    let draft = visitor.draft(AuditAction::SecondFactorSetUp, &visitor.user.login);
    console.audit.note(&visitor.initiator(), draft).await;
    html(&RecoveryCodesPage::new(&visitor.token, &codes, next))
}

/// `POST /console/{mode}/account/recovery-codes`
pub(crate) async fn renew_codes(
    request: HttpRequest,
    change: OwnChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, form } = change;
    step_up::require(&request, &visitor, &form, &console).await?;
    let codes = console.factors.renew_recovery_codes(&visitor.user).await?;
    let draft = visitor.draft(AuditAction::RecoveryCodesMade, &visitor.user.login);
    console.audit.note(&visitor.initiator(), draft).await;
    let next = format!("/console/{}/account", mode.as_str());
    html(&RecoveryCodesPage::new(&visitor.token, &codes, next))
}

/// `POST /console/{mode}/account/factor/remove`: with the factor itself, however short ago it was given.
pub(crate) async fn remove(
    request: HttpRequest,
    change: OwnChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, form } = change;
    if console.people.policy(&visitor.user.merchant).await?.second_factor_required {
        return Err(Failure::Refused(Texts::current().proof.factor_is_required.into()));
    }
    step_up::demand(&request, &visitor, &form, &console).await?;
    console.people.remove_factor::<User>(&visitor.user.login).await?;
    let draft = visitor.draft(AuditAction::SecondFactorRemoved, &visitor.user.login);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other(format!("/console/{}/account?done=factor-removed", mode.as_str())))
}
