//! People who sign in: users of merchants and operators, their passwords, second factors and sessions.

mod duty;
mod first_operator;
mod inactive;
mod mailings;
mod message_webhooks;
mod operators;
mod password;
mod passwords_of;
mod refunds;
mod second_factors;
mod sessions;
mod someone;
mod strength;
#[cfg(test)]
mod tests;
mod totp;
mod users;

use std::sync::Arc;
use std::time::Duration;

use crate::secret_keys::SecretKeyError;
use quita_domain::people::{
    DEFAULT_IDLE_MS, Login, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, SessionStage,
};
use quita_domain::secret::Secret;
use quita_domain::time::{Timestamp, millis_in};
use quita_machine::NoRandomness;
use quita_ports::{Clock, PeopleStore, StoreError};
use thiserror::Error;

pub use duty::Duty;
pub use inactive::InactiveAccounts;
pub use mailings::Channel;
pub use mailings::mailing_in_words;
pub use message_webhooks::{ChangedWebhook, MessageWebhooks, message_webhook_in_words};
pub use operators::SetupPassword;
use password::Passwords;
pub use password::{Line, PasswordError};
pub use second_factors::{Given, SecondFactors};
pub use sessions::{CONFIRMED_FOR_MS, Signed};
pub use someone::Someone;
pub use strength::Weakness;

/// Lost races in a row after which a change of a person is given up.
const MAX_RACES: usize = 8;

/// Management of people: signs them in and out, and changes them.
#[derive(Clone)]
pub struct People {
    store: Arc<dyn PeopleStore>,
    clock: Arc<dyn Clock>,
    passwords: Passwords,
    idle_ms: u64,
    memory: Option<Arc<dyn SessionMemory>>,
}

/// Cache of sessions in front of the store. It forgets sessions that a write may have ended, so that no ended session
/// is accepted.
pub trait SessionMemory: Send + Sync + 'static {
    /// Forgets every session of this login.
    fn forget_person(&self, login: &Login);

    /// Forgets the session with this id.
    fn forget_session(&self, id: &str);
}

/// Reason why a request was not carried out.
#[derive(Debug, Clone, Error)]
pub enum PeopleError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// No secret could be generated.
    #[error("{0}")]
    NoRandomness(#[from] NoRandomness),
    /// A password was not hashed.
    #[error("{0}")]
    Password(#[from] PasswordError),
    /// The secret of a second factor was not sealed or opened.
    #[error("{0}")]
    SecretKey(#[from] SecretKeyError),
    /// Another person already has this login, perhaps at another merchant.
    #[error("{0} is taken; a login belongs to one user of one merchant")]
    Taken(Login),
    /// There is nobody with this login.
    #[error("there is no user {0}")]
    NoSuchUser(Login),
    /// The new password is too short or too long.
    #[error("a password has {MIN_PASSWORD_CHARACTERS} to {MAX_PASSWORD_CHARACTERS} characters")]
    NotAPassword,
    /// The new password is easily guessed.
    #[error("the password is easily guessed")]
    Weak(Weakness),
    /// The new password is the current one, or one of those before.
    #[error("the new password is one of the last four")]
    SamePassword,
    /// The password given as proof of identity is wrong.
    #[error("the current password is wrong")]
    WrongPassword,
    /// The code given as proof of identity is wrong, or was used before.
    #[error("the code is wrong, or was used before")]
    WrongCode,
    /// No code is checked for so many seconds, after several wrong ones.
    #[error("too many wrong codes; the next one is looked at in {0} s")]
    CodesWait(u64),
    /// The password is required again, after several wrong codes.
    #[error("too many wrong codes; sign in again")]
    SignInOver,
    /// The session has ended meanwhile.
    #[error("the session is over; sign in again")]
    SessionOver,
    /// There is no second factor.
    #[error("there is no second factor")]
    NoFactor,
    /// There already is an operator, or another first one is being created at the same time.
    #[error("there is an operator already")]
    NotFirst,
    /// The account was disabled because it was not used for 90 days.
    #[error("the account was not used for 90 days and is disabled; a new password enables it")]
    Disabled,
    /// No operator with full rights would be left.
    #[error("this is the last operator; make another one first")]
    LastOperator,
    /// Other writers kept changing the same record.
    #[error("others changed the same {MAX_RACES} times in a row; try again")]
    Raced,
}

/// Session that has just begun. Its token goes into a cookie and nowhere else.
pub struct NewSession<S> {
    /// Person who signed in.
    pub person: S,
    /// Token for the cookie.
    pub token: Secret<String>,
    /// Stage of the session: whole, or half while the second factor is missing.
    pub stage: SessionStage,
}

impl People {
    /// Works on this store. An `Arc` of a whole store coerces to an `Arc<dyn PeopleStore>`.
    pub fn new(store: Arc<dyn PeopleStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, passwords: Passwords::new(), idle_ms: DEFAULT_IDLE_MS, memory: None }
    }

    /// Ends sessions that were idle for this long.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        Self { idle_ms: millis_in(idle), ..self }
    }

    /// Reports every write to a person or session to this cache.
    #[must_use]
    pub fn with_memory(self, memory: Arc<dyn SessionMemory>) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Hashes passwords in this queue. The default is that of known users.
    #[must_use]
    pub fn in_line(&self, line: Line) -> Self {
        Self { passwords: self.passwords.in_line(line), ..self.clone() }
    }

    async fn find_someone<S: Someone>(&self, login: &Login) -> Result<S, PeopleError> {
        let found = S::find(self.store.as_ref(), login).await?;
        found.ok_or_else(|| PeopleError::NoSuchUser(login.clone()))
    }

    /// Changes a person; returns the states before and after.
    async fn change<S: Someone>(
        &self,
        login: &Login,
        change: impl Fn(&mut S) -> Result<(), PeopleError>,
    ) -> Result<(S, S), PeopleError> {
        for _ in 0..MAX_RACES {
            let before: S = self.find_someone(login).await?;
            let mut after = before.clone();
            change(&mut after)?;
            if self.replace(&before, &after).await? {
                return Ok((before, after));
            }
        }
        Err(PeopleError::Raced)
    }

    /// Replaces a person, if no other writer was faster.
    async fn replace<S: Someone>(&self, before: &S, after: &S) -> Result<bool, StoreError> {
        let replaced = S::replace(self.store.as_ref(), before, after).await;
        // A write whose answer was lost may have been made, so the cache forgets after a failure too.
        self.forget_person(before.login());
        replaced
    }

    /// Removes a session from the store.
    async fn remove_session(&self, id: &str) -> Result<(), StoreError> {
        let removed = self.store.remove_session(id).await;
        if let Some(memory) = &self.memory {
            memory.forget_session(id);
        }
        removed
    }

    /// Makes the cache forget a person.
    fn forget_person(&self, login: &Login) {
        if let Some(memory) = &self.memory {
            memory.forget_person(login);
        }
    }
}

/// Returns a password version that was never used for this login.
fn next_version(before: u32, now: Timestamp) -> u32 {
    // Based on the time, because of removed people with the same login: their sessions must stay ended.
    let seconds = u32::try_from(now.millis().div_euclid(1_000)).unwrap_or_default();
    before.saturating_add(1).max(seconds)
}
