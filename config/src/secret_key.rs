//! The keys for values that must not be guessed or read: ids of keyed requests, addresses of pages, secrets in the
//! store.

use std::sync::Arc;

use quita_domain::secret::Secret;
use quita_domain::secret_key::{IdKeys, SecretKeyId};
use quita_machine::vault::AeadVault;
use quita_ports::SecretKeyStore;
use quita_services::secret_keys::Strongbox;

use super::secret_text;
use super::settings::Settings;

/// Minimum number of characters of a secret key.
pub const MIN_SECRET_KEY_CHARACTERS: usize = 32;

/// The key that development uses if none is set. It is public, and production refuses it.
const DEVELOPMENT_KEY: &str = "quita-development-key-known-to-everybody";

/// One secret key of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKey(Secret<String>);

impl SecretKey {
    /// Returns the key itself, from which others are derived.
    pub fn expose(&self) -> &[u8] {
        self.0.expose().as_bytes()
    }

    /// Returns an id that distinguishes the key from others, and reveals nothing else about it.
    pub fn id(&self) -> SecretKeyId {
        SecretKeyId::of(self.expose())
    }

    fn new(text: &str) -> Self {
        Self(Secret::new(text.into()))
    }
}

/// The secret keys of the service. Every node of a store needs the key that the store works with; the store records
/// which one it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKeys {
    newest: SecretKey,
    /// Earlier keys, newest first.
    older: Vec<SecretKey>,
}

impl SecretKeys {
    /// Returns the key to which a store moves.
    pub const fn newest(&self) -> &SecretKey {
        &self.newest
    }

    /// Returns the key with which a store without a record was served.
    pub fn oldest(&self) -> &SecretKey {
        self.older.last().unwrap_or(&self.newest)
    }

    /// Returns all keys, newest first.
    pub fn each(&self) -> impl Iterator<Item = &SecretKey> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    /// Returns true if one of them is the public development key.
    pub fn has_default(&self) -> bool {
        self.each().any(|key| key.0.expose() == DEVELOPMENT_KEY)
    }

    /// Returns true if one of them is too short to be safe.
    pub fn has_short(&self) -> bool {
        self.each().any(|key| key.0.expose().chars().count() < MIN_SECRET_KEY_CHARACTERS)
    }

    /// Returns the keys from which ids are derived in a store that records it now.
    pub fn id_keys(&self) -> IdKeys {
        IdKeys::of(self.oldest().expose())
    }

    /// Returns the keys from which ids are derived in a store that began with the public development key.
    pub fn public_id_keys() -> IdKeys {
        IdKeys::of(DEVELOPMENT_KEY.as_bytes())
    }

    /// Returns a vault that seals and opens with these keys. It also opens what the public development key sealed, so
    /// that a store that began with that key can leave it.
    pub fn vault(&self) -> AeadVault {
        let public = (!self.has_default()).then_some(DEVELOPMENT_KEY.as_bytes());
        AeadVault::new(self.each().map(SecretKey::expose), public)
    }

    /// Returns the secrets of this store.
    pub fn strongbox(&self, store: Arc<dyn SecretKeyStore>) -> Strongbox {
        Strongbox::new(store, Arc::new(self.vault()))
    }

    /// Reads one key or several, one per line, newest first.
    pub(super) fn read(settings: &mut Settings) -> Self {
        let text = secret_text::read(settings, "secret-key", "secret-key-file").map(Secret::new);
        let text = text.unwrap_or_else(|| Secret::new(DEVELOPMENT_KEY.into()));
        let mut lines = text.expose().lines().filter(|line| !line.trim().is_empty());
        match (lines.next(), lines.next()) {
            (Some(newest), Some(second)) => {
                let older = std::iter::once(second).chain(lines).map(SecretKey::new).collect();
                Self { newest: SecretKey::new(newest), older }
            }
            (Some(_), None) | (None, _) => Self { newest: SecretKey::new(text.expose()), older: Vec::new() },
        }
    }
}
