//! Proof, once more, of who it is, before something that a thief of a session must not do.
//!
//! Who was proven within the last five minutes goes on. Everybody else gets a page that asks for the second factor, or
//! for the password if there is none, and sends the same form again with the answer.

use std::net::IpAddr;

use actix_web::HttpRequest;
use quita_domain::audit::AuditAction;

use super::{AccountHolder, Accounts};
use crate::console::kit::addresses::referring_page;
use crate::console::kit::confirmation::{Confirmation, PROOF_FIELD};
use crate::console::kit::cookies::form_token;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::page_context::PageContext;
use crate::service::people::{Given, PeopleError, Someone};

impl Accounts {
    /// Goes on if who it is was proven a short while ago, or is with this form.
    ///
    /// # Errors
    /// [`Failure::Unconfirmed`], which asks for a proof; [`Failure::TooMany`] for too many wrong ones.
    pub(crate) async fn require_recent_proof<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
    ) -> Result<(), Failure> {
        if form.text(PROOF_FIELD).is_empty() && self.people.is_confirmed(&holder.signed.session) {
            return Ok(());
        }
        self.require_proof(request, holder, form).await
    }

    /// The same, however short ago it was proven.
    ///
    /// # Errors
    /// As [`Accounts::require_recent_proof`].
    pub(crate) async fn require_proof<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
    ) -> Result<(), Failure> {
        if form.text(PROOF_FIELD).is_empty() {
            return Err(self.ask_proof(request, holder, form, false));
        }
        self.attempts.count_in_session(&holder.token).map_err(Failure::TooMany)?;
        match self.prove(holder, form).await {
            Ok(()) => Ok(()),
            Err(PeopleError::WrongCode | PeopleError::WrongPassword) => {
                tracing::warn!(
                    client.address = %holder.from, door = self.door().as_str(),
                    "somebody who is signed in could not prove it once more"
                );
                Err(self.ask_proof(request, holder, form, true))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn prove<S: Someone>(&self, holder: &AccountHolder<S>, form: &Form) -> Result<(), PeopleError> {
        let (signed, proof) = (&holder.signed, form.secret(PROOF_FIELD));
        if signed.person.credentials().second_factor.is_none() {
            return self.people.confirm_by_password(signed, &proof).await;
        }
        let given = self.factors.confirm(signed, proof.expose()).await?;
        self.note_recovery_code(&signed.person, holder.from, given).await;
        Ok(())
    }

    /// Notes a recovery code that was used up.
    pub(super) async fn note_recovery_code<S: Someone>(&self, person: &S, from: IpAddr, given: Given) {
        let Given::RecoveryCode { left } = given else { return };
        let draft = person.draft(AuditAction::RecoveryCodeUsed).after(format!("{left} left"));
        self.note(person, from, draft).await;
    }

    fn ask_proof<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        has_failed: bool,
    ) -> Failure {
        let back = referring_page(request).map(|page| page.path().to_owned());
        let here = format!("{}{}", PageContext::current().mount, request.path());
        let back = back.filter(|page| *page != here);
        Failure::Unconfirmed(Box::new(Confirmation {
            action: here,
            fields: form.fields_but(PROOF_FIELD),
            form_token: form_token(&holder.token),
            asks_code: holder.signed.person.credentials().second_factor.is_some(),
            has_failed,
            back: Self::own_address(back.as_deref().unwrap_or_default()),
        }))
    }
}
