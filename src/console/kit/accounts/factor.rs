//! The visitor's own second factor: setting it up with an authenticator, renewing recovery codes, removing it.

use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;
use quita_domain::secret::Secret;

use super::{AccountHolder, Accounts};
use crate::console::kit::answer::{html, see_other, try_again};
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::kit::proof::{FactorPage, RecoveryCodesPage};
use crate::console::kit::texts::SharedTexts;
use quita_services::people::{PeopleError, Someone};

impl Accounts {
    /// Shows a page with a new secret. It has no effect until a first code proves that an authenticator holds it.
    pub(crate) fn ask_factor<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        next: &str,
        is_required: bool,
    ) -> Result<HttpResponse, PageError> {
        html(&self.factor_page(holder, next, self.factors.propose()?, is_required)?)
    }

    fn factor_page<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        next: &str,
        secret: Secret<String>,
        is_required: bool,
    ) -> Result<FactorPage, PageError> {
        let person = &holder.signed.person;
        let address = self.factors.address(person.login(), &secret);
        let mut page = FactorPage::new(&holder.token, &Self::own_address(next), secret, &address)?;
        page.is_required = is_required;
        page.is_again = person.credentials().second_factor.is_some();
        Ok(page)
    }

    /// Sets up a second factor from the first code of its secret, and shows the recovery codes once. Replacing a factor
    /// requires a fresh proof by that factor, however recent the last one was.
    pub(crate) async fn set_up_factor<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        is_required: bool,
    ) -> Result<HttpResponse, PageError> {
        let secret = form.secret("secret");
        let next = form.text("next");
        let code = form.text("code");
        let person = &holder.signed.person;
        // The new code is checked first: a wrong one must not use up a code of the current factor.
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
                page.failed = Some(SharedTexts::current().proof.no_code_here);
                return try_again(&page);
            }
            Err(error) => return Err(error.into()),
        };
        self.note_own(holder, AuditAction::SecondFactorSetUp).await;
        html(&RecoveryCodesPage::new(&holder.token, &codes, Self::own_address(next)))
    }

    /// Replaces the recovery codes, after a fresh proof, and shows the new ones. The page leads back to the account
    /// page below `base`.
    pub(crate) async fn renew_recovery_codes<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        base: &str,
    ) -> Result<HttpResponse, PageError> {
        self.require_proof(request, holder, form).await?;
        let codes = self.factors.renew_recovery_codes(&holder.signed.person).await?;
        self.note_own(holder, AuditAction::RecoveryCodesMade).await;
        html(&RecoveryCodesPage::new(&holder.token, &codes, format!("{base}/account")))
    }

    /// Removes the second factor after a fresh proof by the factor itself.
    pub(crate) async fn remove_factor<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        base: &str,
    ) -> Result<HttpResponse, PageError> {
        self.require_proof(request, holder, form).await?;
        self.people.remove_factor::<S>(holder.signed.person.login()).await?;
        self.note_own(holder, AuditAction::SecondFactorRemoved).await;
        Ok(see_other(format!("{base}/account?done=factor-removed")))
    }
}
