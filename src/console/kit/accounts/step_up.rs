//! Step-up authentication before actions that a stolen session must not allow.
//!
//! A proof given within the last five minutes is enough. Otherwise a page asks for the second factor, or for the
//! password if there is none. It then sends the same form again with the proof.

use std::net::IpAddr;

use actix_web::HttpRequest;
use quita_domain::audit::AuditAction;

use super::{AccountHolder, Accounts};
use crate::console::kit::addresses::referring_page;
use crate::console::kit::confirmation::{Confirmation, PROOF_FIELD};
use crate::console::kit::cookies::form_token;
use crate::console::kit::form::Form;
use crate::console::kit::page_context::PageContext;
use crate::console::kit::page_error::PageError;
use quita_services::people::{Given, PeopleError, Someone};
use quita_services::refused_sign_ins::Why;

impl Accounts {
    /// Requires a proof of identity that is recent or comes with this form.
    ///
    /// # Errors
    /// [`PageError::Unconfirmed`], which asks for a proof; [`PageError::TooMany`] for too many wrong ones.
    pub(crate) async fn require_recent_proof<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
    ) -> Result<(), PageError> {
        // A proof that comes with the form is checked even if an earlier one would suffice: a wrong one must not pass
        // unnoticed.
        if form.text(PROOF_FIELD).is_empty() && self.people.is_confirmed(&holder.signed.session) {
            return Ok(());
        }
        self.require_proof(request, holder, form).await
    }

    /// Requires a fresh proof by the second factor if there is one. Otherwise behaves like
    /// [`Accounts::require_recent_proof`].
    ///
    /// # Errors
    /// Same as for [`Accounts::require_recent_proof`].
    pub(super) async fn require_factor_or_recent_proof<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
    ) -> Result<(), PageError> {
        match holder.signed.person.credentials().second_factor {
            Some(_) => self.require_proof(request, holder, form).await,
            None => self.require_recent_proof(request, holder, form).await,
        }
    }

    /// Requires a proof with this form, however recent the last one was.
    ///
    /// # Errors
    /// Same as for [`Accounts::require_recent_proof`].
    pub(crate) async fn require_proof<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
    ) -> Result<(), PageError> {
        if form.text(PROOF_FIELD).is_empty() {
            return Err(self.ask_proof(request, holder, form, false));
        }
        // Counted before the proof is checked: otherwise a session thief could guess as fast as the node hashes.
        self.count_proof(holder).await?;
        match self.prove(holder, form).await {
            Ok(()) => Ok(()),
            Err(error @ (PeopleError::WrongCode | PeopleError::WrongPassword)) => {
                self.note_refused_proof(holder, &error).await;
                Err(self.ask_proof(request, holder, form, true))
            }
            Err(error) => {
                self.note_refused_proof(holder, &error).await;
                Err(error.into())
            }
        }
    }

    /// Counts an attempt at a proof. If there were too many, refuses it and records the refusal.
    pub(super) async fn count_proof<S: Someone>(&self, holder: &AccountHolder<S>) -> Result<(), PageError> {
        let counted = self.attempts.count_in_session(&holder.token);
        if let Err(wait) = counted {
            self.note_refused(holder.signed.person.login().as_str(), holder.from, Why::TooManyProofs).await;
            return Err(PageError::TooMany(wait));
        }
        Ok(())
    }

    /// Records a refused proof in the audit log, unless it was never checked.
    pub(super) async fn note_refused_proof<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        error: &PeopleError,
    ) {
        let why = match error {
            PeopleError::WrongPassword => Why::WrongOwnPassword,
            PeopleError::WrongCode => Why::WrongProof,
            PeopleError::CodesWait(_) => Why::TooManyProofs,
            PeopleError::Store(_)
            | PeopleError::NoRandomness(_)
            | PeopleError::Password(_)
            | PeopleError::SecretKey(_)
            | PeopleError::Taken(_)
            | PeopleError::NoSuchUser(_)
            | PeopleError::NotAPassword
            | PeopleError::Weak(_)
            | PeopleError::SamePassword
            | PeopleError::SignInOver
            | PeopleError::SessionOver
            | PeopleError::NoFactor
            | PeopleError::NotFirst
            | PeopleError::Disabled
            | PeopleError::LastOperator
            | PeopleError::Raced => return,
        };
        tracing::warn!(
            client.address = %holder.from, door = self.door().as_str(),
            "a signed-in person failed to confirm their identity"
        );
        self.note_refused(holder.signed.person.login().as_str(), holder.from, why).await;
    }

    async fn prove<S: Someone>(&self, holder: &AccountHolder<S>, form: &Form) -> Result<(), PeopleError> {
        let signed = &holder.signed;
        let proof = form.secret(PROOF_FIELD);
        if signed.person.credentials().second_factor.is_none() {
            return self.people.confirm_by_password(signed, &proof).await;
        }
        let given = self.factors.confirm(signed, proof.expose()).await?;
        self.note_recovery_code(&signed.person, holder.from, given).await;
        Ok(())
    }

    /// Records the use of a recovery code.
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
    ) -> PageError {
        let back = referring_page(request).map(|page| page.path().to_owned());
        let here = format!("{}{}", PageContext::current().mount, request.path());
        let back = back.filter(|page| *page != here);
        PageError::Unconfirmed(Box::new(Confirmation {
            action: here,
            fields: form.fields_but(PROOF_FIELD),
            form_token: form_token(&holder.token),
            asks_code: holder.signed.person.credentials().second_factor.is_some(),
            has_failed,
            back: Self::own_address(back.as_deref().unwrap_or_default()),
        }))
    }
}
