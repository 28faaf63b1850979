//! Passwords: hashed with Argon2id, a few at a time, away from the threads that serve.

use std::sync::Arc;
use std::time::Duration;

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_adapters::system::{NoRandomness, random_bytes};
use quita_domain::secret::Secret;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Hashes under way at once. Each takes 19 MiB and a core for some 30 ms.
const AT_ONCE: usize = 2;
/// How long somebody waits for a turn.
const WAIT: Duration = Duration::from_secs(5);
/// Bytes of randomness in a password that is made here.
const RANDOM_BYTES: usize = 15;

/// The hash of a password that nobody has: an unknown user takes as long as a wrong password.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$cXVpdGEtbm9ib2R5$UZ+kTNbn7+dqIc1Y0x1gUChS5sVYMYFqZTlGnKEHvLQ";

/// Hashes and verifies passwords: Argon2id with 19 MiB, two passes, one lane (OWASP, Password Storage Cheat Sheet).
#[derive(Clone)]
pub(super) struct Passwords {
    turns: Arc<Semaphore>,
}

/// Why a password was neither hashed nor verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PasswordError {
    /// Too many others are being hashed.
    #[error("too many are signing in, try again")]
    Busy,
    /// The hasher failed.
    #[error("the password could not be hashed")]
    Failed,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// The hash to be stored, in the PHC string format.
    pub(super) async fn hash(&self, password: &Secret<String>) -> Result<String, PasswordError> {
        let password = password.clone();
        self.in_turn(move || {
            let hash = Argon2::default().hash_password(password.expose().as_bytes());
            hash.map(|hash| hash.to_string()).map_err(|_| PasswordError::Failed)
        })
        .await?
    }

    /// Whether this is the password of that hash; without a hash it is nobody's, after the same time.
    pub(super) async fn verify(
        &self,
        password: &Secret<String>,
        hash: Option<String>,
    ) -> Result<bool, PasswordError> {
        let password = password.clone();
        self.in_turn(move || {
            let expected = hash.as_deref().unwrap_or(NOBODYS);
            let is_right = Argon2::default().verify_password(password.expose().as_bytes(), expected).is_ok();
            is_right && hash.is_some()
        })
        .await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let turn = timeout(WAIT, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.map_err(|_| PasswordError::Busy)?.map_err(|_| PasswordError::Failed)?;
        // A caller that hangs up gives no turn away before the work is done.
        let worked = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(turn);
            result
        });
        worked.await.map_err(|_| PasswordError::Failed)
    }
}

/// A password that nobody can guess, to be shown once.
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
