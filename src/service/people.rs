//! People who sign in: users of merchants and operators, their passwords, second factors and sessions.

mod duty;
mod first_operator;
mod mailings;
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

use quita_actors::SecretKeyError;
use quita_domain::people::{Login, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, SessionStage};
use quita_domain::secret::Secret;
use quita_domain::time::{Timestamp, millis_in};
use quita_machine::NoRandomness;
use quita_ports::{Clock, PeopleStore, StoreError};
use thiserror::Error;

pub use duty::Duty;
pub use mailings::mailing_in_words;
pub use operators::SetupPassword;
use password::Passwords;
pub use password::{Line, PasswordError};
pub use second_factors::{Given, SecondFactors};
pub use sessions::{CONFIRMED_FOR_MS, Signed};
pub use someone::Someone;
pub use strength::Weakness;

/// Others that may be faster in a row before a change of somebody is given up.
const MAX_RACES: usize = 8;

/// Signs people in and out, and manages them.
#[derive(Clone)]
pub struct People {
    store: Arc<dyn PeopleStore>,
    clock: Arc<dyn Clock>,
    passwords: Passwords,
    idle_ms: u64,
    memory: Option<Arc<dyn SessionMemory>>,
}

/// Memory of sessions beside the store. It forgets what a write may have ended, so that nobody is believed for longer.
pub trait SessionMemory: Send + Sync + 'static {
    /// Forgets every session of this login.
    fn forget_person(&self, login: &Login);

    /// Forgets the session with this id.
    fn forget_session(&self, id: &str);
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
    /// The secret of a second factor was not sealed or opened.
    #[error("{0}")]
    SecretKey(#[from] SecretKeyError),
    /// Somebody has this login already, perhaps at another merchant.
    #[error("{0} is taken; a login belongs to one user of one merchant")]
    Taken(Login),
    /// There is nobody with this login.
    #[error("there is no user {0}")]
    NoSuchUser(Login),
    /// What is to be the new password is too short or too long.
    #[error("a password has {MIN_PASSWORD_CHARACTERS} to {MAX_PASSWORD_CHARACTERS} characters")]
    NotAPassword,
    /// What is to be the new password is easily guessed.
    #[error("the password is easily guessed")]
    Weak(Weakness),
    /// The new password is the one that there is, or one of those before.
    #[error("the new password is one of the last four")]
    SamePassword,
    /// The password that was to prove who asks is wrong.
    #[error("the current password is wrong")]
    WrongPassword,
    /// The code that was to prove who asks is wrong, or was used before.
    #[error("the code is wrong, or was used before")]
    WrongCode,
    /// After several wrong codes none is looked at for so many seconds.
    #[error("too many wrong codes; the next one is looked at in {0} s")]
    CodesWait(u64),
    /// After several wrong codes the password is asked for again.
    #[error("too many wrong codes; sign in again")]
    SignInOver,
    /// The session has ended meanwhile.
    #[error("the session is over; sign in again")]
    SessionOver,
    /// There is no second factor.
    #[error("there is no second factor")]
    NoFactor,
    /// There is an operator already, or somebody makes the first one at the same moment.
    #[error("there is an operator already")]
    NotFirst,
    /// Nobody would be left who may do everything.
    #[error("this is the last operator; make another one first")]
    LastOperator,
    /// Others kept changing the same.
    #[error("others changed the same {MAX_RACES} times in a row; try again")]
    Raced,
}

/// A session that has just begun: its token goes into a cookie and nowhere else.
pub struct NewSession<S> {
    /// Who signed in.
    pub person: S,
    /// What the cookie carries.
    pub token: Secret<String>,
    /// Whether the second factor is still to be given.
    pub stage: SessionStage,
}

impl People {
    /// Works on this store. An `Arc` of a whole store becomes an `Arc<dyn PeopleStore>` by itself.
    pub fn new(store: Arc<dyn PeopleStore>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            passwords: Passwords::new(),
            idle_ms: millis_in(quita_config::DEFAULT_SESSION_IDLE),
            memory: None,
        }
    }

    /// The same, whose sessions end when nothing was done in them for so long.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        Self { idle_ms: millis_in(idle), ..self }
    }

    /// The same, whose every write to somebody or a session reaches this memory.
    #[must_use]
    pub fn with_memory(self, memory: Arc<dyn SessionMemory>) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// The same, whose passwords wait in this line to be hashed. Otherwise they wait among those of who is signed in.
    #[must_use]
    pub fn in_line(&self, line: Line) -> Self {
        Self { passwords: self.passwords.in_line(line), ..self.clone() }
    }

    async fn find_someone<S: Someone>(&self, login: &Login) -> Result<S, PeopleError> {
        let found = S::find(self.store.as_ref(), login).await?;
        found.ok_or_else(|| PeopleError::NoSuchUser(login.clone()))
    }

    /// Changes somebody; returns how they were before and after.
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

    /// Replaces somebody, if nobody was faster.
    async fn replace<S: Someone>(&self, before: &S, after: &S) -> Result<bool, StoreError> {
        let replaced = S::replace(self.store.as_ref(), before, after).await;
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

    /// A write whose answer was lost may have been made, so the memory forgets after a failure too.
    fn forget_person(&self, login: &Login) {
        if let Some(memory) = &self.memory {
            memory.forget_person(login);
        }
    }
}

/// Another version than any before, also of somebody of the same login who was removed: that one's sessions stay over.
fn next_version(before: u32, now: Timestamp) -> u32 {
    let seconds = u32::try_from(now.millis().div_euclid(1_000)).unwrap_or_default();
    before.saturating_add(1).max(seconds)
}
