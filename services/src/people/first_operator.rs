//! Creation of the first operator.

use quita_domain::people::{
    Credentials, Login, Mailing, Operator, OperatorRole, SessionOrigin, SessionStage,
};
use quita_domain::secret::Secret;

use super::someone::Someone;
use super::strength::must_be_strong;
use super::{NewSession, People, PeopleError, next_version};

impl People {
    /// Creates the first operator, with a chosen password, and begins a session. The caller has proven knowledge of the
    /// configured password.
    ///
    /// # Errors
    /// [`PeopleError::NotFirst`] if there is an operator, or another first one is made at the same moment;
    /// [`PeopleError::NotAPassword`], [`PeopleError::Weak`], and if store, randomness or hasher fail.
    pub async fn create_first_operator(
        &self,
        login: Login,
        password: &Secret<String>,
        origin: SessionOrigin,
    ) -> Result<NewSession<Operator>, PeopleError> {
        if self.has_operators().await? {
            return Err(PeopleError::NotFirst);
        }
        let created_at = self.clock.now();
        let credentials = Credentials::new(String::new(), next_version(0, created_at), false);
        let mut operator = Operator {
            login,
            role: OperatorRole::Operator,
            credentials,
            created_at,
            mailing: Mailing::default(),
            message_webhook: None,
        };
        must_be_strong(password, operator.known_words()).await?;
        operator.credentials.password_hash = self.passwords.hash(password).await?;
        if !self.store.insert_operator(&operator).await? {
            return Err(PeopleError::Taken(operator.login));
        }
        self.must_be_alone(&operator).await?;
        self.begin(operator, SessionStage::Whole, origin).await
    }

    /// Removes this operator again if another first one exists.
    async fn must_be_alone(&self, operator: &Operator) -> Result<(), PeopleError> {
        // If two are created at the same time, each sees the other, and both are removed. The next attempt succeeds.
        let mut others = self.store.operators().await?;
        others.retain(|other| other.login != operator.login && other.role == OperatorRole::Operator);
        if others.is_empty() {
            return Ok(());
        }
        self.remove_this_operator(operator).await?;
        Err(PeopleError::NotFirst)
    }
}
