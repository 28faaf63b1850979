//! Proof, once more, of who it is, before something that a thief of a session must not do. As in the merchants' console.

use actix_web::HttpRequest;
use actix_web::http::header::REFERER;
use quita_domain::people;

use super::OperatorConsole;
use super::account::signed;
use super::sign_in::note_given;
use super::visitor::Operator;
use crate::console::kit::confirmation::{Confirmation, PROOF_FIELD};
use crate::console::kit::cookies::form_token;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::sign_in::own_address;
use crate::service::people::{PeopleError, Signed};

/// Goes on if the operator was proven a short while ago, or is with this form.
///
/// # Errors
/// [`Failure::Unconfirmed`], which asks for a proof; [`Failure::TooMany`] for too many wrong ones.
pub(super) async fn require(
    request: &HttpRequest,
    visitor: &Operator,
    form: &Form,
    console: &OperatorConsole,
) -> Result<Signed<people::Operator>, Failure> {
    let signed = signed(visitor, console).await?;
    if form.text(PROOF_FIELD).is_empty() && console.people.is_confirmed(&signed.session) {
        return Ok(signed);
    }
    demand(request, visitor, form, console).await
}

/// The same, however short ago the operator was proven.
///
/// # Errors
/// As [`require`].
pub(super) async fn demand(
    request: &HttpRequest,
    visitor: &Operator,
    form: &Form,
    console: &OperatorConsole,
) -> Result<Signed<people::Operator>, Failure> {
    let signed = signed(visitor, console).await?;
    let asks_code = signed.person.credentials.second_factor.is_some();
    let proof = form.secret(PROOF_FIELD);
    if proof.expose().is_empty() {
        return Err(ask(request, visitor, form, (asks_code, false)));
    }
    console.attempts.count_in_session(&visitor.token).map_err(Failure::TooMany)?;
    let proven = match asks_code {
        false => console.people.confirm_by_password(&signed, &proof).await,
        true => match console.factors.confirm(&signed, proof.expose()).await {
            Ok(given) => {
                note_given(console, &signed.person.login, visitor.from, given).await;
                Ok(())
            }
            Err(error) => Err(error),
        },
    };
    match proven {
        Ok(()) => Ok(signed),
        Err(PeopleError::WrongCode | PeopleError::WrongPassword) => {
            tracing::warn!(client.address = %visitor.from, "an operator could not prove once more who it is");
            Err(ask(request, visitor, form, (asks_code, true)))
        }
        Err(error) => Err(error.into()),
    }
}

fn ask(
    request: &HttpRequest,
    visitor: &Operator,
    form: &Form,
    (asks_code, has_failed): (bool, bool),
) -> Failure {
    let referer = request.headers().get(REFERER).and_then(|referer| referer.to_str().ok());
    let page = referer.and_then(|referer| url::Url::parse(referer).ok());
    let back = page.map(|page| page.path().to_owned()).filter(|page| page != request.path());
    Failure::Unconfirmed(Box::new(Confirmation {
        action: request.path().to_owned(),
        fields: form.fields_but(PROOF_FIELD),
        form_token: form_token(&visitor.token),
        asks_code,
        has_failed,
        back: own_address("", back.as_deref().unwrap_or_default()),
    }))
}
