//! Keys from which the ids of payments are derived.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use uuid::Builder;

use super::{derive, mac};
use crate::identity::{Owner, TransactionId};
use crate::secret::Secret;

/// Bytes of each of the two keys.
const BYTES: usize = 32;

/// Two keys for an `Idempotency-Key`: one derives the payment's id, the other the fingerprint that distinguishes a
/// replay from another request. A store keeps its first pair for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdKeys {
    id: Secret<Vec<u8>>,
    fingerprint: Secret<Vec<u8>>,
}

impl IdKeys {
    /// Derives both from a secret key.
    pub fn of(secret_key: &[u8]) -> Self {
        let [id, fingerprint] =
            ["quita transaction id 1", "quita fingerprint 1"].map(|purpose| derive(secret_key, purpose));
        Self { id, fingerprint }
    }

    /// Returns the id of a payment that was requested with a key: the same on every node, for ever.
    pub fn transaction_id(&self, owner: &Owner, idempotency_key: &str) -> TransactionId {
        let parts = [owner.merchant.as_str(), owner.mode.as_str(), idempotency_key];
        // With the lengths in front, no other division of the same characters yields the same id.
        let lengths: Vec<u8> = parts.iter().flat_map(|part| part.len().to_be_bytes()).collect();
        let hash = mac(self.id.expose(), &[&lengths, parts.concat().as_bytes()]);
        let bytes = hash.first_chunk().copied().unwrap_or_default();
        TransactionId::new(Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns the key for fingerprints of requests.
    pub fn fingerprint(&self) -> &[u8] {
        self.fingerprint.expose()
    }

    /// Returns both in clear text, to be sealed.
    pub fn reveal(&self) -> Secret<String> {
        let both = Secret::new([self.id.expose().as_slice(), self.fingerprint.expose()].concat());
        Secret::new(STANDARD.encode(both.expose()))
    }

    /// Reads the form of [`IdKeys::reveal`].
    pub fn parse(text: &Secret<String>) -> Option<Self> {
        let both = Secret::new(STANDARD.decode(text.expose()).ok()?);
        let (id, fingerprint) = both.expose().split_at_checked(BYTES)?;
        let keys = Self { id: Secret::new(id.to_vec()), fingerprint: Secret::new(fingerprint.to_vec()) };
        (fingerprint.len() == BYTES).then_some(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{ApplicationName, MerchantId, Mode};

    fn owner(merchant: &str, mode: Mode) -> Owner {
        let application = ApplicationName::new("default");
        Owner { merchant: MerchantId::new(merchant), application, mode }
    }

    #[test]
    fn a_key_gives_the_same_id_for_one_merchant_and_mode_only() {
        let keys = IdKeys::of(b"secret");
        let id = keys.transaction_id(&owner("demo", Mode::Test), "a");
        assert_eq!(id, IdKeys::of(b"secret").transaction_id(&owner("demo", Mode::Test), "a"));
        assert_eq!(id.uuid().get_version_num(), 8);
        for (other, key) in [("demo", "b"), ("demoa", ""), ("other", "a")] {
            assert_ne!(id, keys.transaction_id(&owner(other, Mode::Test), key));
        }
        assert_ne!(id, keys.transaction_id(&owner("demo", Mode::Live), "a"));
        assert_ne!(id, IdKeys::of(b"another").transaction_id(&owner("demo", Mode::Test), "a"));
    }

    #[test]
    fn an_id_is_what_it_was_before_secret_keys_could_be_changed() {
        let id = IdKeys::of(b"quita-development-key-known-to-everybody")
            .transaction_id(&owner("demo", Mode::Test), "order-1");
        assert_eq!(id.to_string(), "b8dce7d1-192a-8b27-b154-a7cd95a28718");
    }

    #[test]
    fn what_is_revealed_reads_back_and_nothing_else_does() {
        let keys = IdKeys::of(b"secret");
        assert_eq!(IdKeys::parse(&keys.reveal()), Some(keys));
        for wrong in ["", "AAAA", "*", &STANDARD.encode([7; 63]), &STANDARD.encode([7; 65])] {
            assert_eq!(IdKeys::parse(&Secret::new((*wrong).to_owned())), None, "{wrong}");
        }
    }
}
