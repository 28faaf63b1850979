//! Logins.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest e-mail address (RFC 5321, section 4.5.3.1.3).
const MAX_EMAIL_CHARACTERS: usize = 254;

/// E-mail address for signing in: in lower case, unique among all users, and among all operators.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Login(String);

impl Login {
    /// Reads an address: visible ASCII, so that no two look the same, with one `@` and text on both sides.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (name, host) = text.split_once('@')?;
        let is_visible = text.chars().all(|character| character.is_ascii_graphic());
        let is_sane = !name.is_empty() && !host.is_empty() && !host.contains('@') && is_visible;
        (is_sane && text.chars().count() <= MAX_EMAIL_CHARACTERS).then_some(Self(text))
    }

    /// Returns the address itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_in_lower_case_and_nonsense_is_not() {
        assert_eq!(Login::parse(" Ana@Loja.COM.br ").unwrap().as_str(), "ana@loja.com.br");
        for text in ["", "ana", "@loja.com", "ana@", "a@b@c", "a b@c.d", "a@b\u{0}c", &"a".repeat(260)] {
            assert_eq!(Login::parse(text), None, "{text:?}");
        }
    }
}
