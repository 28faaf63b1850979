//! Operators, and how the first of them gets in.

use quita_domain::people::{
    Credentials, Login, Operator, OperatorRole, Origin, Session, SessionOf, SessionStage,
};
use quita_domain::secret::Secret;
use quita_domain::secret_key::mac;
use quita_domain::text::hex;
use subtle::ConstantTimeEq;

use super::{People, PeopleError, next_version, password};

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
        let password = password::random_password()?;
        let hash = self.passwords.hash(&password).await?;
        let created_at = self.clock.now();
        let credentials = Credentials::new(hash, next_version(0, created_at), true);
        let operator = Operator { login, role, credentials, created_at };
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
        let (before, _) = self.change(login, change).await?;
        Ok(before.role)
    }

    /// Removes an operator, whose sessions end by that. Two who remove each other at the same moment both do; the password
    /// of the configuration then lets the next one in.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], [`PeopleError::LastOperator`], and when the store does not answer.
    pub async fn remove_operator(&self, login: &Login) -> Result<(), PeopleError> {
        self.must_leave_another(login).await?;
        for _ in 0..super::MAX_RACES {
            let operator: Operator = self.find_someone(login).await?;
            if self.store.remove_operator(&operator).await? {
                return Ok(());
            }
        }
        Err(PeopleError::Raced)
    }

    async fn must_leave_another(&self, login: &Login) -> Result<(), PeopleError> {
        let mut operators = self.store.operators().await?;
        let is_one = operators
            .iter()
            .any(|operator| operator.login == *login && operator.role == OperatorRole::Operator);
        operators.retain(|operator| operator.login != *login);
        if is_one && directors(&operators) == 0 { Err(PeopleError::LastOperator) } else { Ok(()) }
    }

    /// Lets in whoever has the password of the configuration. Once there are named operators, only
    /// [`People::is_setting_up`] says whether that opens anything.
    ///
    /// # Errors
    /// When store or randomness fail.
    pub async fn sign_operator_in(
        &self,
        credential: &OperatorCredential,
        presented: &Secret<String>,
        origin: Origin,
    ) -> Result<Option<Secret<String>>, PeopleError> {
        if !credential.is(presented) {
            return Ok(None);
        }
        let Some(fingerprint) = credential.fingerprints.first() else { return Ok(None) };
        let of = SessionOf::Setup { credential: fingerprint.clone() };
        self.begin_of(of, SessionStage::Whole, origin, self.clock.now()).await.map(Some)
    }

    /// Whether a session with this token was begun with this credential. Looking keeps no session alive.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn is_still_operator(
        &self,
        credential: &OperatorCredential,
        token: &str,
    ) -> Result<bool, PeopleError> {
        Ok(self.operator_session(credential, token).await?.is_some())
    }

    /// The same of one in which something is done now: it goes on.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn is_operator(
        &self,
        credential: &OperatorCredential,
        token: &str,
    ) -> Result<bool, PeopleError> {
        let Some(session) = self.operator_session(credential, token).await? else { return Ok(false) };
        self.note_use(session).await?;
        Ok(true)
    }

    async fn operator_session(
        &self,
        credential: &OperatorCredential,
        token: &str,
    ) -> Result<Option<Session>, PeopleError> {
        let session = self.live_session(token).await?;
        Ok(session.filter(|session| match &session.of {
            SessionOf::Setup { credential: begun } => credential.fingerprints.contains(begun),
            SessionOf::User { .. } | SessionOf::Operator { .. } => false,
        }))
    }

    /// Whether a session with this token may make the first operator: while there is none.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn is_setting_up(
        &self,
        credential: &OperatorCredential,
        token: &str,
    ) -> Result<bool, PeopleError> {
        Ok(self.is_operator(credential, token).await? && !self.has_operators().await?)
    }
}

/// Those who may do everything.
fn directors(operators: &[Operator]) -> usize {
    operators.iter().filter(|operator| operator.role == OperatorRole::Operator).count()
}

/// What lets the first operator in, from the configuration.
#[derive(Clone)]
pub struct OperatorCredential {
    password: Secret<String>,
    /// Under each secret key that is held, the newest first.
    fingerprints: Vec<String>,
}

impl OperatorCredential {
    /// The credential, and under the service's secret keys what is stored of it in sessions.
    pub fn new<'a>(password: Secret<String>, secret_keys: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let parts = [b"quita operator 1", password.expose().as_bytes()];
        let fingerprints = secret_keys.into_iter().map(|key| hex(&mac(key, &parts))).collect();
        Self { password, fingerprints }
    }

    /// Takes the same time whatever differs, but for the length.
    pub(crate) fn is(&self, presented: &Secret<String>) -> bool {
        self.password.expose().as_bytes().ct_eq(presented.expose().as_bytes()).into()
    }
}
