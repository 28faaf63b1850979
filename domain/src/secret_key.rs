//! Keys derived from a secret key of the service, one for each purpose, and the records about them in the store.
//!
//! A secret key itself is never used for anything but derivation. A derived key reveals nothing about the keys of other
//! purposes, or about the secret key.

mod id_keys;
mod sealed;

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::secret::Secret;
use crate::text::hex;

pub use id_keys::IdKeys;
pub use sealed::{SealedSecret, SecretPlace, StoredSecret};

/// Bytes of a secret key's id.
const ID_BYTES: usize = 8;

/// Derives the key for one purpose, 32 bytes: HMAC-SHA256 of the purpose's name. Another use needs another name.
pub fn derive(secret_key: &[u8], purpose: &str) -> Secret<Vec<u8>> {
    Secret::new(mac(secret_key, &[purpose.as_bytes()]))
}

/// Returns the HMAC-SHA256 of the parts, one after the other.
pub fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // Never fails: HMAC takes keys of any length. The fallback would only make the hash unkeyed.
    let unkeyed = |_| Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::default());
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(unkeyed);
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Public id of a secret key, 16 hexadecimal digits, which reveals nothing about the key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretKeyId(String);

impl SecretKeyId {
    /// Computes the id of a secret key.
    pub fn of(secret_key: &[u8]) -> Self {
        let id = derive(secret_key, "quita key id 1");
        Self(hex(id.expose().get(..ID_BYTES).unwrap_or_default()))
    }
}

impl fmt::Display for SecretKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Record of the secret key that a store uses. A store has one such record, and every node follows it, whatever its own
/// configuration says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRecord {
    /// The key for everything new.
    pub current: SecretKeyId,
    /// Keys that derive the ids of payments, sealed with `current`: [`IdKeys::reveal`]. They never change when the key
    /// does, so an `Idempotency-Key` has one payment for ever.
    pub id_keys: SealedSecret,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_has_a_key_of_its_own() {
        let one = derive(b"secret", "quita page 1");
        assert_eq!(one, derive(b"secret", "quita page 1"));
        assert_eq!(one.expose().len(), 32);
        assert_ne!(one, derive(b"secret", "quita card 1"));
        assert_ne!(one, derive(b"another", "quita page 1"));
    }

    #[test]
    fn the_id_of_a_key_tells_it_from_others_and_is_short_enough_to_be_read_out() {
        let id = SecretKeyId::of(b"secret");
        assert_eq!(id, SecretKeyId::of(b"secret"));
        assert_ne!(id, SecretKeyId::of(b"another"));
        assert_eq!(id.to_string().len(), 16);
    }
}
