//! Secrets as they are stored: sealed with a key, bound to one location.

use serde::{Deserialize, Serialize};

use super::SecretKeyId;
use crate::identity::{ApplicationName, MerchantId, Mode};
use crate::people::Login;
use crate::secret::Secret;

/// A secret that can be read only with the key, and only for the purpose for which it was sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedSecret {
    /// Id of the secret key.
    pub key: SecretKeyId,
    /// Nonce, then the encrypted text with its tag, in base64.
    pub text: String,
}

/// A secret as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoredSecret {
    /// In clear text, as earlier versions stored it. The next start seals it.
    #[serde(rename = "secret")]
    Clear(#[serde(with = "in_clear")] Secret<String>),
    /// Sealed.
    #[serde(rename = "sealed")]
    Sealed(SealedSecret),
}

impl StoredSecret {
    /// Creates a secret that is not sealed: from an old store, or in a test.
    pub fn clear(text: impl Into<String>) -> Self {
        Self::Clear(Secret::new(text.into()))
    }

    /// Returns the id of the key that sealed it; `None` if it is in clear text.
    pub const fn key(&self) -> Option<&SecretKeyId> {
        match self {
            Self::Clear(_) => None,
            Self::Sealed(sealed) => Some(&sealed.key),
        }
    }
}

/// Purpose and owner of a secret: sealed for one, it can't be read for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPlace(Vec<u8>);

impl SecretPlace {
    /// Names a webhook secret of an application, in one mode.
    pub fn webhook(merchant: &MerchantId, application: &ApplicationName, mode: Mode) -> Self {
        Self::of(&["quita webhook secret 1", merchant.as_str(), application.as_str(), mode.as_str()])
    }

    /// Names the authenticator's secret of a user.
    pub fn user_factor(login: &Login) -> Self {
        Self::of(&["quita second factor of a user 1", login.as_str()])
    }

    /// Names the authenticator's secret of an operator.
    pub fn operator_factor(login: &Login) -> Self {
        Self::of(&["quita second factor of an operator 1", login.as_str()])
    }

    /// Names the secret that signs the messages to a user.
    pub fn user_messages(login: &Login) -> Self {
        Self::of(&["quita message webhook of a user 1", login.as_str()])
    }

    /// Names the secret that signs the messages to an operator.
    pub fn operator_messages(login: &Login) -> Self {
        Self::of(&["quita message webhook of an operator 1", login.as_str()])
    }

    /// Names the keys that derive the ids of payments.
    pub fn id_keys() -> Self {
        Self::of(&["quita id keys 1"])
    }

    /// Names the key that links the entries of the audit log.
    pub fn audit_key() -> Self {
        Self::of(&["quita audit key 1"])
    }

    /// Joins parts so that different parts never give the same bytes: each follows its length.
    fn of(parts: &[&str]) -> Self {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend(part.len().to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        Self(bytes)
    }

    /// Returns the associated data of the encryption.
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
