//! The keys behind what must not be guessed or read: ids of keyed requests, addresses of pages, secrets in the store.

use std::sync::Arc;

use quita_domain::secret::Secret;
use quita_domain::secret_key::{IdKeys, SecretKeyId};
use quita_machine::vault::AeadVault;
use quita_ports::SecretKeyStore;
use quita_services::secret_keys::Strongbox;

use super::secret_text;
use super::settings::Settings;

/// The least number of characters of a secret key.
pub const MIN_SECRET_KEY_CHARACTERS: usize = 32;

/// The key that development uses if none is set. It is public, and production refuses it.
const DEVELOPMENT_KEY: &str = "quita-development-key-known-to-everybody";

/// One secret key of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKey(Secret<String>);

impl SecretKey {
    /// The key itself, from which others are derived.
    pub fn expose(&self) -> &[u8] {
        self.0.expose().as_bytes()
    }

    /// Tells it from others, and nothing else of it.
    pub fn id(&self) -> SecretKeyId {
        SecretKeyId::of(self.expose())
    }

    fn new(text: &str) -> Self {
        Self(Secret::new(text.into()))
    }
}

/// The secret keys of the service. Every node of one store needs the one that the store works with; which that is, the
/// store says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKeys {
    newest: SecretKey,
    /// Those before it, the newest first.
    older: Vec<SecretKey>,
}

impl SecretKeys {
    /// The one that a store moves to.
    pub const fn newest(&self) -> &SecretKey {
        &self.newest
    }

    /// The one that a store without a record was served with.
    pub fn oldest(&self) -> &SecretKey {
        self.older.last().unwrap_or(&self.newest)
    }

    /// All of them, the newest first.
    pub fn each(&self) -> impl Iterator<Item = &SecretKey> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    /// Returns whether one is the key that everybody knows.
    pub fn has_default(&self) -> bool {
        self.each().any(|key| key.0.expose() == DEVELOPMENT_KEY)
    }

    /// Returns whether one is too short to be safe.
    pub fn has_short(&self) -> bool {
        self.each().any(|key| key.0.expose().chars().count() < MIN_SECRET_KEY_CHARACTERS)
    }

    /// Returns the keys from which ids are derived in a store that notes it now.
    pub fn id_keys(&self) -> IdKeys {
        IdKeys::of(self.oldest().expose())
    }

    /// Seals and opens with these keys. What was sealed with the public one of development is opened too, so that a store
    /// that began with that leaves it.
    pub fn vault(&self) -> AeadVault {
        let public = (!self.has_default()).then_some(DEVELOPMENT_KEY.as_bytes());
        AeadVault::new(self.each().map(SecretKey::expose), public)
    }

    /// The secrets of this store.
    pub fn strongbox(&self, store: Arc<dyn SecretKeyStore>) -> Strongbox {
        Strongbox::new(store, Arc::new(self.vault()))
    }

    /// One key, or several: a line for each, the newest first.
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
