//! Secrets as they are stored: sealed with a key, for one place.

use serde::{Deserialize, Serialize};

use super::SecretKeyId;
use crate::identity::{ApplicationName, MerchantId, Mode};
use crate::people::Login;
use crate::secret::Secret;

/// A secret that only who holds the key can read, and only as what it was sealed for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedSecret {
    /// With which secret key.
    pub key: SecretKeyId,
    /// The nonce, and behind it the encrypted text with its tag, in base64.
    pub text: String,
}

/// A secret as the store has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoredSecret {
    /// As everything was stored once; the next start seals it.
    #[serde(rename = "secret")]
    Clear(#[serde(with = "in_clear")] Secret<String>),
    /// As everything is stored now.
    #[serde(rename = "sealed")]
    Sealed(SealedSecret),
}

impl StoredSecret {
    /// One that is not sealed: of an old store, or of a test.
    pub fn clear(text: impl Into<String>) -> Self {
        Self::Clear(Secret::new(text.into()))
    }

    /// With which key it is sealed; `None` if it is in clear.
    pub const fn key(&self) -> Option<&SecretKeyId> {
        match self {
            Self::Clear(_) => None,
            Self::Sealed(sealed) => Some(&sealed.key),
        }
    }
}

/// What a secret is for, and whose it is: sealed for one place, it can't be read at another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPlace(Vec<u8>);

impl SecretPlace {
    /// A webhook secret of an application, in one mode.
    pub fn webhook(merchant: &MerchantId, application: &ApplicationName, mode: Mode) -> Self {
        Self::of(&["quita webhook secret 1", merchant.as_str(), application.as_str(), mode.as_str()])
    }

    /// What the authenticator of a user has.
    pub fn user_factor(login: &Login) -> Self {
        Self::of(&["quita second factor of a user 1", login.as_str()])
    }

    /// What the authenticator of an operator has.
    pub fn operator_factor(login: &Login) -> Self {
        Self::of(&["quita second factor of an operator 1", login.as_str()])
    }

    /// What derives the ids of payments.
    pub fn id_keys() -> Self {
        Self::of(&["quita id keys 1"])
    }

    /// What links the entries of the audit log.
    pub fn audit_key() -> Self {
        Self::of(&["quita audit key 1"])
    }

    /// Different parts never give the same bytes: each follows its length.
    fn of(parts: &[&str]) -> Self {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend(part.len().to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        Self(bytes)
    }

    /// The associated data of the encryption.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

mod in_clear {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::secret::Secret;

    pub(super) fn serialize<S: Serializer>(
        secret: &Secret<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Secret<String>, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_place_counts() {
        let place = |merchant: &str, application: &str, mode| {
            SecretPlace::webhook(&MerchantId::new(merchant), &ApplicationName::new(application), mode)
        };
        let one = place("demo", "shop", Mode::Test);
        assert_eq!(one, place("demo", "shop", Mode::Test));
        for other in [
            place("demos", "hop", Mode::Test),
            place("demo", "shop", Mode::Live),
            place("other", "shop", Mode::Test),
            SecretPlace::id_keys(),
            SecretPlace::audit_key(),
        ] {
            assert_ne!(one.bytes(), other.bytes());
        }
    }

    #[test]
    fn a_secret_in_clear_is_not_printed() {
        assert!(!format!("{:?}", StoredSecret::clear("whsec_a")).contains("whsec"));
    }
}
