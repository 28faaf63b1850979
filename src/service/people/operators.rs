//! Operators, and how the first of them gets in.

use quita_domain::people::{Login, Mailing, Operator, OperatorRole};
use quita_domain::secret::Secret;
use quita_ports::StoreError;
use subtle::ConstantTimeEq;

use super::passwords_of::Reader;
use super::{People, PeopleError};

impl People {
    /// Makes an operator with a password that is returned, to be shown once, and changed at the first sign-in.
    ///
    /// # Errors
    /// [`PeopleError::Taken`], and when store, randomness or hasher fail.
    pub async fn create_operator(
        &self,
        login: Login,
        role: OperatorRole,
    ) -> Result<Secret<String>, PeopleError> {
        let (password, credentials) = self.new_credentials(Reader::Another).await?;
        let operator =
            Operator { login, role, credentials, created_at: self.clock.now(), mailing: Mailing::default() };
        let is_new = self.store.insert_operator(&operator).await?;
        if is_new { Ok(password) } else { Err(PeopleError::Taken(operator.login)) }
    }

    /// Every operator, by login.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn operators(&self) -> Result<Vec<Operator>, PeopleError> {
        Ok(self.store.operators().await?)
    }

    /// Whether there is somebody with the role `operator`: from then on the password of the configuration opens nothing.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn has_operators(&self) -> Result<bool, PeopleError> {
        Ok(directors(&self.store.operators().await?) > 0)
    }

    /// Gives an operator a new password, which is returned, to be shown once, and changed at the first sign-in. Every session
    /// of the operator ends.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when store, randomness or hasher fail.
    pub async fn reset_operator_password(&self, login: &Login) -> Result<Secret<String>, PeopleError> {
        self.give_password::<Operator>(login).await
    }

    /// Gives an operator another role; returns the one before.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], [`PeopleError::LastOperator`], and when the store does not answer.
    pub async fn set_operator_role(
        &self,
        login: &Login,
        role: OperatorRole,
    ) -> Result<OperatorRole, PeopleError> {
        if role != OperatorRole::Operator {
            self.must_leave_another(login).await?;
        }
        let change = |operator: &mut Operator| {
            operator.role = role;
            Ok(())
        };
        let (before, after) = self.change(login, change).await?;
        if before.role == OperatorRole::Operator && !self.has_operators().await? {
            // Another one gave up the role at the same moment. If it can't be undone, somebody else changed this operator.
            self.replace(&after, &before).await?;
            return Err(PeopleError::LastOperator);
        }
        Ok(before.role)
    }

    /// Removes an operator, whose sessions end by that. Of two who remove each other at the same moment one stays at least.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], [`PeopleError::LastOperator`], and when the store does not answer.
    pub async fn remove_operator(&self, login: &Login) -> Result<(), PeopleError> {
        self.must_leave_another(login).await?;
        for _ in 0..super::MAX_RACES {
            let operator: Operator = self.find_someone(login).await?;
            if !self.remove_this_operator(&operator).await? {
                continue;
            }
            if operator.role == OperatorRole::Operator && !self.has_operators().await? {
                // Another one was removed at the same moment: whoever sees that nobody is left undoes it.
                self.store.insert_operator(&operator).await?;
                return Err(PeopleError::LastOperator);
            }
            return Ok(());
        }
        Err(PeopleError::Raced)
    }

    /// Removes an operator, if it is still so.
    pub(super) async fn remove_this_operator(&self, operator: &Operator) -> Result<bool, StoreError> {
        let removed = self.store.remove_operator(operator).await;
        self.forget_person(&operator.login);
        removed
    }

    async fn must_leave_another(&self, login: &Login) -> Result<(), PeopleError> {
        let mut operators = self.store.operators().await?;
        let is_one = operators
            .iter()
            .any(|operator| operator.login == *login && operator.role == OperatorRole::Operator);
        operators.retain(|operator| operator.login != *login);
        if is_one && directors(&operators) == 0 { Err(PeopleError::LastOperator) } else { Ok(()) }
    }
}

/// Those who may do everything.
fn directors(operators: &[Operator]) -> usize {
    operators.iter().filter(|operator| operator.role == OperatorRole::Operator).count()
}

/// What makes the first operator, from the configuration.
#[derive(Clone)]
pub struct SetupPassword(Secret<String>);

impl SetupPassword {
    /// This one.
    pub const fn new(password: Secret<String>) -> Self {
        Self(password)
    }

    /// Whether it is what somebody presents. Takes the same time whatever differs, but for the length.
    pub fn is(&self, presented: &Secret<String>) -> bool {
        self.0.expose().as_bytes().ct_eq(presented.expose().as_bytes()).into()
    }
}
