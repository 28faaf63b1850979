//! Operators, and the password with which the first one is created.

use quita_domain::people::{Login, Mailing, Operator, OperatorRole};
use quita_domain::secret::Secret;
use quita_ports::StoreError;
use subtle::ConstantTimeEq;

use super::passwords_of::Reader;
use super::{People, PeopleError};

impl People {
    /// Creates an operator with a generated password. It is returned, shown once, and changed at the first sign-in.
    ///
    /// # Errors
    /// [`PeopleError::Taken`], and if store, randomness or hasher fail.
    pub async fn create_operator(
        &self,
        login: Login,
        role: OperatorRole,
    ) -> Result<Secret<String>, PeopleError> {
        let (password, credentials) = self.new_credentials(Reader::Another).await?;
        let operator = Operator {
            login,
            role,
            credentials,
            created_at: self.clock.now(),
            mailing: Mailing::default(),
            message_webhook: None,
        };
        let is_new = self.store.insert_operator(&operator).await?;
        if is_new { Ok(password) } else { Err(PeopleError::Taken(operator.login)) }
    }

    /// Returns every operator, by login.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn operators(&self) -> Result<Vec<Operator>, PeopleError> {
        Ok(self.store.operators().await?)
    }

    /// Returns true if anyone has the role `operator`. From then on the configured password has no effect.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn has_operators(&self) -> Result<bool, PeopleError> {
        Ok(directors(&self.store.operators().await?) > 0)
    }

    /// Gives an operator a new password and ends all their sessions. The password is returned, shown once, and changed
    /// at the first sign-in.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and if store, randomness or hasher fail.
    pub async fn reset_operator_password(&self, login: &Login) -> Result<Secret<String>, PeopleError> {
        self.give_password::<Operator>(login).await
    }

    /// Gives an operator another role, and returns the previous one.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], [`PeopleError::LastOperator`], and if the store does not answer.
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
            // Another operator lost the role at the same time. If this can't be undone, someone else has changed this
            // operator.
            self.replace(&after, &before).await?;
            return Err(PeopleError::LastOperator);
        }
        Ok(before.role)
    }

    /// Removes an operator, which ends their sessions. If two remove each other at the same moment, at least one
    /// remains.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], [`PeopleError::LastOperator`], and if the store does not answer.
    pub async fn remove_operator(&self, login: &Login) -> Result<(), PeopleError> {
        self.must_leave_another(login).await?;
        for _ in 0..super::MAX_RACES {
            let operator: Operator = self.find_someone(login).await?;
            if !self.remove_this_operator(&operator).await? {
                continue;
            }
            if operator.role == OperatorRole::Operator && !self.has_operators().await? {
                // Another one was removed at the same time: the caller that finds nobody left undoes its removal.
                self.store.insert_operator(&operator).await?;
                return Err(PeopleError::LastOperator);
            }
            return Ok(());
        }
        Err(PeopleError::Raced)
    }

    /// Removes an operator, if the record is unchanged.
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

/// Counts the operators with full rights.
fn directors(operators: &[Operator]) -> usize {
    operators.iter().filter(|operator| operator.role == OperatorRole::Operator).count()
}

/// Password from the configuration with which the first operator is created.
#[derive(Clone)]
pub struct SetupPassword(Secret<String>);

impl SetupPassword {
    /// Wraps the configured password.
    pub const fn new(password: Secret<String>) -> Self {
        Self(password)
    }

    /// Returns true if the presented password is this one. Takes the same time wherever they differ, unless the lengths
    /// differ.
    pub fn is(&self, presented: &Secret<String>) -> bool {
        self.0.expose().as_bytes().ct_eq(presented.expose().as_bytes()).into()
    }
}
