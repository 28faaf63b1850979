//! Passwords, hashed with Argon2id: a few at a time, off the serving threads.
//!
//! Each queue is bounded, and an attempt that finds it full is refused at once. So a flood of attempts delays nobody
//! by more than one queue.
//!
//! Attempts from unknown browsers have a queue of their own. At any time, only as many of them compete for hashing
//! slots as there are slots. So known users wait little longer than for each other.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_domain::secret::Secret;
use quita_machine::{NoRandomness, random_bytes};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Maximum number of hashes under way at once. Each takes 19 MiB and a core for some 30 ms.
const MOST_AT_ONCE: usize = 4;
/// Maximum number of attempts in one queue, hashed or waiting. One core hashes this many within two seconds.
const PLACES: usize = 64;
/// Longest wait for a turn, in case hashing is slower.
const WAIT: Duration = Duration::from_secs(5);
/// Random bytes in a generated password.
const RANDOM_BYTES: usize = 15;

/// Hash of a password that nobody has, so that an unknown login takes as long as a wrong password.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$cXVpdGEtbm9ib2R5$UZ+kTNbn7+dqIc1Y0x1gUChS5sVYMYFqZTlGnKEHvLQ";

/// Hasher of passwords: Argon2id with 19 MiB, two passes, one lane (OWASP, Password Storage Cheat Sheet).
#[derive(Clone)]
pub(super) struct Passwords {
    turns: Arc<Semaphore>,
    known: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
    /// Slots for strangers who compete for a turn with known users.
    gate: Arc<Semaphore>,
    line: Line,
}

/// Permits that are released when a hash is done.
struct Turn {
    _place: OwnedSemaphorePermit,
    _gate: Option<OwnedSemaphorePermit>,
    _turn: OwnedSemaphorePermit,
}

/// Queue in which a password waits to be hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Queue of users who are signed in, or whose browser was signed in before.
    Known,
    /// Queue of everyone else.
    Strangers,
}

/// Reason why a password was neither hashed nor verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PasswordError {
    /// Too many others are being hashed or are waiting.
    #[error("too many are signing in, try again")]
    Crowded,
    /// The hasher failed.
    #[error("the password could not be hashed")]
    Failed,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self::with_turns(turns_of(std::thread::available_parallelism().map_or(1, NonZero::get)))
    }

    fn with_turns(turns: usize) -> Self {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Self {
            turns: semaphore(turns),
            known: semaphore(PLACES),
            strangers: semaphore(PLACES),
            gate: semaphore(turns),
            line: Line::Known,
        }
    }

    /// Returns a handle that waits in this queue.
    pub(super) fn in_line(&self, line: Line) -> Self {
        Self { line, ..self.clone() }
    }

    /// Returns the hash to be stored, in the PHC string format.
    pub(super) async fn hash(&self, password: &Secret<String>) -> Result<String, PasswordError> {
        let password = password.clone();
        self.in_turn(move || {
            let hash = Argon2::default().hash_password(password.expose().as_bytes());
            hash.map(|hash| hash.to_string()).map_err(|_| PasswordError::Failed)
        })
        .await?
    }

    /// Returns true if this is the password of that hash. Without a hash it returns false, after the same time.
    pub(super) async fn verify(
        &self,
        password: &Secret<String>,
        hash: Option<String>,
    ) -> Result<bool, PasswordError> {
        let password = password.clone();
        self.in_turn(move || {
            let expected = hash.as_deref().unwrap_or(NOBODYS);
            let is_right = Argon2::default().verify_password(password.expose().as_bytes(), expected).is_ok();
            // An account that does not exist never verifies, whatever was typed.
            is_right && hash.is_some()
        })
        .await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let turn = timeout(WAIT, self.turn()).await.map_err(|_| PasswordError::Crowded)??;
        // If the caller hangs up, the turn is still held until the work is done.
        let worked = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(turn);
            result
        });
        worked.await.map_err(|_| PasswordError::Failed)
    }

    /// Waits for a turn, if the queue has room.
    async fn turn(&self) -> Result<Turn, PasswordError> {
        let (places, gate) = match self.line {
            Line::Known => (&self.known, None),
            Line::Strangers => (&self.strangers, Some(&self.gate)),
        };
        let place = Arc::clone(places).try_acquire_owned().map_err(|_| PasswordError::Crowded)?;
        // In this order, strangers queue at the gate instead of ahead of known users.
        let gate = match gate {
            Some(gate) => Some(of(gate).await?),
            None => None,
        };
        Ok(Turn { _place: place, _gate: gate, _turn: of(&self.turns).await? })
    }
}

async fn of(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, PasswordError> {
    Arc::clone(semaphore).acquire_owned().await.map_err(|_| PasswordError::Failed)
}

/// Returns the number of hashes at once. One core is left for other work, if there are several.
fn turns_of(cores: usize) -> usize {
    cores.saturating_sub(1).clamp(1, MOST_AT_ONCE)
}

/// Returns a password that can't be guessed, to be shown once.
pub(super) fn random_password() -> Result<Secret<String>, NoRandomness> {
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(random_bytes::<RANDOM_BYTES>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.into())
    }

    #[tokio::test]
    async fn a_password_verifies_against_its_own_hash_alone() {
        let passwords = Passwords::new();
        let hash = passwords.hash(&secret("correct horse battery")).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_eq!(passwords.verify(&secret("correct horse battery"), Some(hash.clone())).await, Ok(true));
        assert_eq!(passwords.verify(&secret("correct horse batterx"), Some(hash)).await, Ok(false));
        assert_eq!(passwords.verify(&secret("x"), Some("nonsense".into())).await, Ok(false));
    }

    #[test]
    fn one_core_at_least_is_left_to_others() {
        assert_eq!([1, 2, 3, 64].map(turns_of), [1, 1, 2, MOST_AT_ONCE]);
    }

    #[tokio::test]
    async fn a_flood_of_strangers_is_refused_beyond_the_places_and_delays_no_known_one_by_more_than_a_hash() {
        let passwords = Passwords::with_turns(1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let done = Arc::new(std::sync::Mutex::new(Vec::new()));
        let stranger = passwords.in_line(Line::Strangers);
        let held = Arc::new(std::sync::Mutex::new(held));
        let wait = |passwords: Passwords, who: &'static str| {
            let held = Arc::clone(&held);
            let done = Arc::clone(&done);
            let work = move || {
                held.lock().unwrap().recv().unwrap();
                done.lock().unwrap().push(who);
            };
            tokio::spawn(async move { passwords.in_turn(work).await })
        };
        let strangers: Vec<_> = (0..PLACES).map(|_| wait(stranger.clone(), "stranger")).collect();
        while passwords.strangers.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let begun = std::time::Instant::now();
        assert_eq!(stranger.in_turn(|| ()).await, Err(PasswordError::Crowded));
        assert!(begun.elapsed() < WAIT / 2, "refused at once");
        let known = wait(passwords.clone(), "known");
        while passwords.known.available_permits() == PLACES {
            tokio::task::yield_now().await;
        }
        (0..=PLACES).for_each(|_| release.send(()).unwrap());
        assert_eq!(known.await.unwrap(), Ok(()));
        for stranger in strangers {
            assert_eq!(stranger.await.unwrap(), Ok(()));
        }
        let place = done.lock().unwrap().iter().position(|who| *who == "known").unwrap();
        assert!(place <= 2, "behind the one that is hashed and the next: {place}");
        assert_eq!(stranger.in_turn(|| 7).await, Ok(7), "places are given back");
    }

    #[test]
    fn an_unknown_login_takes_as_long() {
        let nobody_s = argon2::PasswordHash::new(NOBODYS).unwrap();
        let fresh = Argon2::default().hash_password(b"x").unwrap();
        assert_eq!((nobody_s.algorithm, nobody_s.version), (fresh.algorithm, fresh.version));
        assert_eq!(nobody_s.params.to_string(), fresh.params.to_string());
        assert_eq!(nobody_s.hash.map(|hash| hash.len()), fresh.hash.map(|hash| hash.len()));
    }

    #[tokio::test]
    async fn nobody_has_no_password() {
        assert_eq!(Passwords::new().verify(&secret(""), None).await, Ok(false));
    }

    #[test]
    fn a_random_password_is_long_enough_to_be_one() {
        let password = random_password().unwrap();
        assert!(quita_domain::people::is_password(password.expose()));
    }
}
