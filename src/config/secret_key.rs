//! The key behind what must not be guessed: ids of keyed requests and addresses of pages.

use std::fs;

use quita_domain::secret::Secret;

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
        let text = settings.read("secret-key", "any text", |text| Some(text.to_owned()));
        let path = settings.read("secret-key-file", "a path", |path| Some(path.to_owned()));
        if text.is_some() && path.is_some() {
            let why = "QUITA_SECRET_KEY and secret-key-file are both set; leave one of them";
            settings.refuse("secret-key", why.into());
        }
        let from_file = path.and_then(|path| match fs::read_to_string(&path) {
            Ok(text) => Some(text.trim_end().to_owned()),
            Err(error) => {
                settings.refuse("secret-key-file", format!("{path} can't be read: {error}"));
                None
            }
        });
        Self(Secret::new(text.or(from_file).unwrap_or_else(|| DEVELOPMENT_KEY.into())))
    }
}
