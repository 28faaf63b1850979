//! People who sign in: users of merchants and the operator, their passwords and sessions.

mod password;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_adapters::system::{NoRandomness, random_bytes};
use quita_domain::identity::MerchantId;
use quita_domain::people::{
    Login, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, Role, SESSION_TOKEN_BYTES, Session, SessionOf,
    User, is_password,
};
use quita_domain::secret::Secret;
use quita_domain::secret_key::mac;
use quita_domain::text::hex;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, PeopleStore, StoreError};
use subtle::ConstantTimeEq;
use thiserror::Error;

use password::Passwords;
pub use password::{Line, PasswordError};

/// Others that may be faster in a row before a change of a user is given up.
const MAX_RACES: usize = 8;

/// Signs people in and out, and manages the users of merchants.
#[derive(Clone)]
pub struct People {
    store: Arc<dyn PeopleStore>,
    clock: Arc<dyn Clock>,
    passwords: Passwords,
}

/// Why something was not done.
#[derive(Debug, Clone, Error)]
pub enum PeopleError {
    /// The store did not do its part.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// No secret could be made.
    #[error("{0}")]
    NoRandomness(#[from] NoRandomness),
    /// A password was not hashed.
    #[error("{0}")]
    Password(#[from] PasswordError),
    /// Somebody has this login already, perhaps at another merchant.
    #[error("{0} is taken; a login belongs to one user of one merchant")]
    Taken(Login),
    /// There is no such user of this merchant.
    #[error("there is no user {0}")]
    NoSuchUser(Login),
    /// What is to be the new password is too short or too long.
    #[error("a password has {MIN_PASSWORD_CHARACTERS} to {MAX_PASSWORD_CHARACTERS} characters")]
    NotAPassword,
    /// The password that was to prove who asks is wrong.
    #[error("the current password is wrong")]
    WrongPassword,
    /// Others kept changing the user.
    #[error("the user was changed by others {MAX_RACES} times in a row; try again")]
    Raced,
}

/// A session that has just begun: its token goes into a cookie and nowhere else.
pub struct NewSession {
    /// Who signed in.
    pub user: User,
    /// What the cookie carries.
    pub token: Secret<String>,
}

impl People {
    /// Works on this store. An `Arc` of a whole store becomes an `Arc<dyn PeopleStore>` by itself.
    pub fn new(store: Arc<dyn PeopleStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, passwords: Passwords::new() }
    }

    /// The same, whose passwords wait in this line to be hashed. Otherwise they wait among those of who is signed in.
    #[must_use]
    pub fn in_line(&self, line: Line) -> Self {
        Self { passwords: self.passwords.in_line(line), ..self.clone() }
    }

    /// Makes a user with a password that is returned, to be shown once.
    ///
    /// # Errors
    /// [`PeopleError::Taken`], and when store, randomness or hasher fail.
    pub async fn create(
        &self,
        merchant: MerchantId,
        login: Login,
        role: Role,
    ) -> Result<Secret<String>, PeopleError> {
        let password = password::random_password()?;
        let password_hash = self.passwords.hash(&password).await?;
        let created_at = self.clock.now();
        let password_version = next_version(0, created_at);
        let user = User { login, merchant, role, password_hash, password_version, created_at };
        if self.store.insert_user(&user).await? { Ok(password) } else { Err(PeopleError::Taken(user.login)) }
    }

    /// The users of a merchant, by login.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, PeopleError> {
        Ok(self.store.users(merchant).await?)
    }

    /// Whether any merchant has a user.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn has_users(&self) -> Result<bool, PeopleError> {
        Ok(self.store.has_users().await?)
    }

    /// Signs a user in: `None` if login or password are wrong, without a word which.
    ///
    /// # Errors
    /// When store, randomness or hasher fail.
    pub async fn sign_in(
        &self,
        login: Option<&Login>,
        password: &Secret<String>,
    ) -> Result<Option<NewSession>, PeopleError> {
        let user = match login {
            Some(login) => self.store.user(login).await?,
            None => None,
        };
        let hash = user.as_ref().map(|user| user.password_hash.clone());
        let is_right = self.passwords.verify(password, hash).await?;
        let Some(user) = user.filter(|_| is_right) else { return Ok(None) };
        let of = SessionOf::User { login: user.login.clone(), password_version: user.password_version };
        Ok(Some(NewSession { token: self.begin(of).await?, user }))
    }

    /// Who is signed in with this token.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn user_of(&self, token: &str) -> Result<Option<User>, PeopleError> {
        let Some(session) = self.live_session(token).await? else { return Ok(None) };
        let SessionOf::User { login, password_version } = session.of else { return Ok(None) };
        let user = self.store.user(&login).await?;
        Ok(user.filter(|user| user.password_version == password_version))
    }

    /// Signs the operator in, if this is the credential.
    ///
    /// # Errors
    /// When store or randomness fail.
    pub async fn sign_operator_in(
        &self,
        credential: &OperatorCredential,
        presented: &Secret<String>,
    ) -> Result<Option<Secret<String>>, PeopleError> {
        if !credential.is(presented) {
            return Ok(None);
        }
        let Some(fingerprint) = credential.fingerprints.first() else { return Ok(None) };
        let of = SessionOf::Operator { credential: fingerprint.clone() };
        self.begin(of).await.map(Some)
    }

    /// Whether the operator is signed in with this token, under this credential.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn is_operator(
        &self,
        credential: &OperatorCredential,
        token: &str,
    ) -> Result<bool, PeopleError> {
        let Some(session) = self.live_session(token).await? else { return Ok(false) };
        Ok(match session.of {
            SessionOf::Operator { credential: begun } => credential.fingerprints.contains(&begun),
            SessionOf::User { .. } => false,
        })
    }

    /// Ends a session.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn sign_out(&self, token: &str) -> Result<(), PeopleError> {
        Ok(self.store.remove_session(&Session::id_of(token)).await?)
    }

    /// Changes the own password. Every session of the user ends; a new one is begun.
    ///
    /// # Errors
    /// [`PeopleError::WrongPassword`], [`PeopleError::NotAPassword`], and when store, randomness or hasher fail.
    pub async fn change_password(
        &self,
        user: &User,
        current: &Secret<String>,
        new: &Secret<String>,
    ) -> Result<NewSession, PeopleError> {
        if !self.passwords.verify(current, Some(user.password_hash.clone())).await? {
            return Err(PeopleError::WrongPassword);
        }
        if !is_password(new.expose()) {
            return Err(PeopleError::NotAPassword);
        }
        let user = self.set_password(user, new, Verified::Current).await?;
        let of = SessionOf::User { login: user.login.clone(), password_version: user.password_version };
        Ok(NewSession { token: self.begin(of).await?, user })
    }

    /// Gives a user a new password, which is returned, to be shown once. Every session of the user ends.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when store, randomness or hasher fail.
    pub async fn reset_password(
        &self,
        merchant: &MerchantId,
        login: &Login,
    ) -> Result<Secret<String>, PeopleError> {
        let (password, user) = (password::random_password()?, self.user(merchant, login).await?);
        self.set_password(&user, &password, Verified::Nothing).await?;
        Ok(password)
    }

    /// Gives a user another role; returns the one before.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when the store does not answer.
    pub async fn set_role(
        &self,
        merchant: &MerchantId,
        login: &Login,
        role: Role,
    ) -> Result<Role, PeopleError> {
        let before = self.change(merchant, login, |user| {
            user.role = role;
            Ok(())
        });
        let (before, _) = before.await?;
        Ok(before.role)
    }

    /// Removes a user, whose sessions end by that.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when the store does not answer.
    pub async fn remove(&self, merchant: &MerchantId, login: &Login) -> Result<(), PeopleError> {
        let user = self.user(merchant, login).await?;
        if self.store.remove_user(&user).await? {
            Ok(())
        } else {
            Err(PeopleError::NoSuchUser(login.clone()))
        }
    }

    /// The user of this merchant.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`] for another merchant's too, and when the store does not answer.
    pub async fn user(&self, merchant: &MerchantId, login: &Login) -> Result<User, PeopleError> {
        let user = self.store.user(login).await?.filter(|user| user.merchant == *merchant);
        user.ok_or_else(|| PeopleError::NoSuchUser(login.clone()))
    }

    /// Any merchant's user: for the command line, whose user may do everything.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when the store does not answer.
    pub async fn find(&self, login: &Login) -> Result<User, PeopleError> {
        self.store.user(login).await?.ok_or_else(|| PeopleError::NoSuchUser(login.clone()))
    }

    async fn set_password(
        &self,
        seen: &User,
        password: &Secret<String>,
        verified: Verified,
    ) -> Result<User, PeopleError> {
        let hash = self.passwords.hash(password).await?;
        let now = self.clock.now();
        let change = |user: &mut User| {
            // Hashing takes a while: what was verified may have been reset meanwhile, to lock somebody out.
            if verified == Verified::Current && user.password_version != seen.password_version {
                return Err(PeopleError::WrongPassword);
            }
            user.password_hash.clone_from(&hash);
            user.password_version = next_version(user.password_version, now);
            Ok(())
        };
        Ok(self.change(&seen.merchant, &seen.login, change).await?.1)
    }

    async fn change(
        &self,
        merchant: &MerchantId,
        login: &Login,
        change: impl Fn(&mut User) -> Result<(), PeopleError>,
    ) -> Result<(User, User), PeopleError> {
        for _ in 0..MAX_RACES {
            let before = self.user(merchant, login).await?;
            let mut after = before.clone();
            change(&mut after)?;
            if self.store.replace_user(&before, &after).await? {
                return Ok((before, after));
            }
        }
        Err(PeopleError::Raced)
    }

    async fn begin(&self, of: SessionOf) -> Result<Secret<String>, PeopleError> {
        let token = URL_SAFE_NO_PAD.encode(random_bytes::<SESSION_TOKEN_BYTES>()?);
        self.store.insert_session(&Session::begin(&token, of, self.clock.now())).await?;
        Ok(Secret::new(token))
    }

    async fn live_session(&self, token: &str) -> Result<Option<Session>, PeopleError> {
        let session = self.store.session(&Session::id_of(token)).await?;
        Ok(session.filter(|session| session.is_live(self.clock.now())))
    }
}

/// What was verified before a password is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verified {
    /// The password that the user had when it was seen.
    Current,
    /// None: somebody else may do it.
    Nothing,
}

/// Another version than any before, also of a user of the same login who was removed: that one's sessions stay over.
fn next_version(before: u32, now: Timestamp) -> u32 {
    let seconds = u32::try_from(now.millis().div_euclid(1_000)).unwrap_or_default();
    before.saturating_add(1).max(seconds)
}

/// What the operator signs in with, from the configuration.
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
    fn is(&self, presented: &Secret<String>) -> bool {
        self.password.expose().as_bytes().ct_eq(presented.expose().as_bytes()).into()
    }
}
