//! The own second factor: set up with an authenticator, renewed, taken away.

use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;
use quita_domain::secret::Secret;

use super::{AccountHolder, Accounts};
use crate::console::kit::answer::{html, see_other, try_again};
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::kit::proof::{FactorPage, RecoveryCodesPage};
use crate::console::kit::texts::Texts;
use crate::service::people::{PeopleError, Someone};

impl Accounts {
    /// Shows a new secret each time; it counts for nothing before a code proves that an authenticator has it.
    pub(crate) fn ask_factor<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        next: &str,
        is_required: bool,
    ) -> Result<HttpResponse, Failure> {
        html(&self.factor_page(holder, next, self.factors.propose()?, is_required)?)
    }

    fn factor_page<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        next: &str,
        secret: Secret<String>,
        is_required: bool,
    ) -> Result<FactorPage, Failure> {
        let person = &holder.signed.person;
        let address = self.factors.address(person.login(), &secret);
        let mut page = FactorPage::new(&holder.token, &Self::own_address(next), secret, &address)?;
        page.is_required = is_required;
        page.is_again = person.credentials().second_factor.is_some();
        Ok(page)
    }

    /// Takes the first code of a secret; the answer shows the recovery codes, which no page shows again. In place of
    /// another factor it is taken with that one alone, however short ago it was given.
    pub(crate) async fn set_up_factor<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        is_required: bool,
    ) -> Result<HttpResponse, Failure> {
        let (secret, next, code) = (form.secret("secret"), form.text("next"), form.text("code"));
        let person = &holder.signed.person;
        // The new code is looked at first: a wrong one must not cost a code of the factor of before.
        let set_up = match self.factors.check_first_code(&secret, code) {
            Ok(()) => {
                self.require_factor_or_recent_proof(request, holder, form).await?;
                self.factors.set_up(person, &secret, code).await
            }
            Err(error) => Err(error),
        };
        let codes = match set_up {
            Ok(codes) => codes,
            Err(PeopleError::WrongCode) => {
                let mut page = self.factor_page(holder, next, secret, is_required)?;
                page.failed = Some(Texts::current().proof.no_code_here);
                return try_again(&page);
            }
            Err(error) => return Err(error.into()),
        };
        self.note_own(holder, AuditAction::SecondFactorSetUp).await;
        html(&RecoveryCodesPage::new(&holder.token, &codes, Self::own_address(next)))
    }

    /// Shows new recovery codes in place of those before, with a proof, however short ago one was given. Leads back to
    /// the account below `base`.
    pub(crate) async fn renew_recovery_codes<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        base: &str,
    ) -> Result<HttpResponse, Failure> {
        self.require_proof(request, holder, form).await?;
        let codes = self.factors.renew_recovery_codes(&holder.signed.person).await?;
        self.note_own(holder, AuditAction::RecoveryCodesMade).await;
        html(&RecoveryCodesPage::new(&holder.token, &codes, format!("{base}/account")))
    }

    /// Takes the second factor away: with the factor itself, however short ago it was given.
    pub(crate) async fn remove_factor<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        base: &str,
    ) -> Result<HttpResponse, Failure> {
        self.require_proof(request, holder, form).await?;
        self.people.remove_factor::<S>(holder.signed.person.login()).await?;
        self.note_own(holder, AuditAction::SecondFactorRemoved).await;
        Ok(see_other(format!("{base}/account?done=factor-removed")))
    }
}
