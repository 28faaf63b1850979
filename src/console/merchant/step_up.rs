//! Proof, once more, of who it is, before something that a thief of a session must not do.
//!
//! Who was proven within the last five minutes goes on. Everybody else gets a page that asks for the second factor, or
//! for the password if there is none, and sends the same form again with the answer.

use actix_web::HttpRequest;
use actix_web::http::header::REFERER;
use quita_domain::audit::AuditAction;

use super::MerchantConsole;
use super::visitor::Visitor;
use crate::console::kit::confirmation::{Confirmation, PROOF_FIELD};
use crate::console::kit::cookies::form_token;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::sign_in::own_address;
use crate::service::people::{Given, PeopleError};

/// Goes on if the visitor was proven a short while ago, or is with this form.
///
/// # Errors
/// [`Failure::Unconfirmed`], which asks for a proof; [`Failure::TooMany`] for too many wrong ones.
pub(super) async fn require(
    request: &HttpRequest,
    visitor: &Visitor,
    form: &Form,
    console: &MerchantConsole,
) -> Result<(), Failure> {
    let is_given = !form.text(PROOF_FIELD).is_empty();
    if !is_given && console.people.is_confirmed(&visitor.session) {
        return Ok(());
    }
    demand(request, visitor, form, console).await
}

/// The same, however short ago the visitor was proven.
///
/// # Errors
/// As [`require`].
pub(super) async fn demand(
    request: &HttpRequest,
    visitor: &Visitor,
    form: &Form,
    console: &MerchantConsole,
) -> Result<(), Failure> {
    if form.text(PROOF_FIELD).is_empty() {
        return Err(ask(request, visitor, form, false));
    }
    console.attempts.count_in_session(&visitor.token).map_err(Failure::TooMany)?;
    match prove(visitor, form, console).await {
        Ok(()) => Ok(()),
        Err(PeopleError::WrongCode | PeopleError::WrongPassword) => {
            tracing::warn!(client.address = %visitor.from, "somebody who is signed in could not prove it once more");
            Err(ask(request, visitor, form, true))
        }
        Err(error) => Err(error.into()),
    }
}

async fn prove(visitor: &Visitor, form: &Form, console: &MerchantConsole) -> Result<(), PeopleError> {
    let (signed, proof) = (visitor.signed(), form.secret(PROOF_FIELD));
    if visitor.user.credentials.second_factor.is_none() {
        return console.people.confirm_by_password(&signed, &proof).await;
    }
    if let Given::RecoveryCode { left } = console.factors.confirm(&signed, proof.expose()).await? {
        let draft = visitor.draft(AuditAction::RecoveryCodeUsed, &visitor.user.login);
        console.audit.note(&visitor.initiator(), draft.after(format!("{left} left"))).await;
    }
    Ok(())
}

fn ask(request: &HttpRequest, visitor: &Visitor, form: &Form, has_failed: bool) -> Failure {
    let referer = request.headers().get(REFERER).and_then(|referer| referer.to_str().ok());
    let page = referer.and_then(|referer| url::Url::parse(referer).ok());
    let back = page.map(|page| page.path().to_owned()).filter(|page| page != request.path());
    Failure::Unconfirmed(Box::new(Confirmation {
        action: request.path().to_owned(),
        fields: form.fields_but(PROOF_FIELD),
        form_token: form_token(&visitor.token),
        asks_code: visitor.user.credentials.second_factor.is_some(),
        has_failed,
        back: own_address("/console", back.as_deref().unwrap_or_default()),
    }))
}
