//! The key behind what must not be guessed: ids of keyed requests and addresses of pages.

use quita_domain::secret::Secret;

use super::secret_text;
use super::settings::Settings;

/// The least number of characters of a secret key.
pub const MIN_SECRET_KEY_CHARACTERS: usize = 32;

/// The key that development uses if none is set. It is public, and production refuses it.
const DEVELOPMENT_KEY: &str = "quita-development-key-known-to-everybody";

/// The secret key of the service. Every node of one store needs the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKey(Secret<String>);

impl SecretKey {
    /// The key itself.
    pub fn expose(&self) -> &[u8] {
        self.0.expose().as_bytes()
    }

    /// Whether it is the one that everybody knows.
    pub fn is_default(&self) -> bool {
        self.0.expose() == DEVELOPMENT_KEY
    }

    /// Whether it is too short to be safe.
    pub fn is_short(&self) -> bool {
        self.0.expose().chars().count() < MIN_SECRET_KEY_CHARACTERS
    }

    pub(super) fn read(settings: &mut Settings) -> Self {
        let text = secret_text::read(settings, "secret-key", "secret-key-file");
        Self(Secret::new(text.unwrap_or_else(|| DEVELOPMENT_KEY.into())))
    }
}
