//! The second factor of an operator: set up, renewed, taken away.

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quita_adapters::paper::qr::QrImage;
use quita_domain::audit::AuditAction;
use quita_domain::people::{self, RecoveryCode};

use super::OperatorConsole;
use super::account::signed;
use super::frame::{Frame, Section};
use super::texts::Texts;
use super::visitor::{Operator, OwnForm};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::failure::Failure;
use crate::service::audit::AuditDraft;

#[derive(Template)]
#[template(path = "console/operator/factor.html")]
struct FactorPage {
    frame: Frame,
    secret: String,
    /// The QR code, in the page itself: no address shows it.
    picture: String,
}

#[derive(Template)]
#[template(path = "console/operator/recovery_codes.html")]
struct RecoveryCodesPage {
    frame: Frame,
    codes: String,
}

/// `GET /account/factor`: a secret that counts once a code of it was given.
pub(super) async fn propose(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let secret = console.factors.propose()?;
    let address = console.factors.address(&operator.who.login, &secret);
    let picture = QrImage::new(&address).map_err(|error| Failure::Defect(error.to_string()))?;
    let picture = format!("data:image/svg+xml;base64,{}", STANDARD.encode(picture.svg()));
    let frame = operator.frame(Section::Account);
    html(&FactorPage { frame, secret: secret.expose().clone(), picture })
}

/// `POST /account/factor`: the password proves that it is the operator who binds an authenticator.
pub(super) async fn set_up(
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    console.attempts.count_in_session(&visitor.token).map_err(Failure::TooMany)?;
    let signed = signed(&visitor, &console).await?;
    if signed.person.credentials.second_factor.is_some() {
        return Err(Failure::Refused(Texts::current().people.factor_is_on.into()));
    }
    console.people.confirm_by_password(&signed, &form.secret("current")).await?;
    let codes = console.factors.set_up(&signed.person, &form.secret("secret"), form.text("code")).await?;
    note(&visitor, &console, AuditAction::SecondFactorSetUp).await;
    show_codes(&visitor, &codes)
}

/// `POST /account/factor/codes`
pub(super) async fn renew_codes(
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let signed = signed(&visitor, &console).await?;
    console.factors.confirm(&signed, form.text("code")).await?;
    let codes = console.factors.renew_recovery_codes(&signed.person).await?;
    note(&visitor, &console, AuditAction::RecoveryCodesMade).await;
    show_codes(&visitor, &codes)
}

/// `POST /account/factor/remove`
pub(super) async fn remove(
    OwnForm { visitor, form }: OwnForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let signed = signed(&visitor, &console).await?;
    console.factors.confirm(&signed, form.text("code")).await?;
    console.people.remove_factor::<people::Operator>(&visitor.who.login).await?;
    note(&visitor, &console, AuditAction::SecondFactorRemoved).await;
    Ok(see_other("/account?done=factor"))
}

async fn note(visitor: &Operator, console: &OperatorConsole, action: AuditAction) {
    let draft = AuditDraft::of_operators(action, &visitor.who.login);
    console.audit.note(&visitor.initiator(), draft).await;
}

fn show_codes(visitor: &Operator, codes: &[RecoveryCode]) -> Result<HttpResponse, Failure> {
    let codes = codes.iter().map(RecoveryCode::reveal).collect::<Vec<_>>().join("\n");
    html(&RecoveryCodesPage { frame: visitor.frame(Section::Account), codes })
}
