//! Card fingerprints, which show that two payments were tried with the same card.

use std::fmt;

use hmac::digest::FixedOutputReset;
use hmac::{HmacReset, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::CardNumber;
use crate::identity::Mode;
use crate::text::hex;

/// Prefix of every hash: another encoding needs another name.
const VERSION: &str = "quita card 1";

/// Number of bytes of the hash that are kept.
const BYTES: usize = 16;

/// A keyed hash of a card's number, 32 hexadecimal digits: the same for the same card in one mode. A number has so few
/// digits that an unkeyed hash could be reversed; this one is useless without the key.
///
/// It is stored while tries of a card are counted, and never shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CardFingerprint(String);

impl CardFingerprint {
    /// Computes the fingerprint of a card. Tries with test keys reach no brand, so they do not count among the others.
    pub fn of(number: &CardNumber, mode: Mode, key: &[u8]) -> Self {
        // Never fails: HMAC takes keys of any length. The fallback would only make the hash unkeyed.
        let unkeyed = |_| HmacReset::new(&hmac::digest::Key::<HmacReset<Sha256>>::default());
        // Boxed, so that it is never moved until it is zeroed: moves would leave the number behind on the stack.
        let mut hash = Box::new(HmacReset::<Sha256>::new_from_slice(key).unwrap_or_else(unkeyed));
        // No part contains a line end, so different parts never give the same bytes.
        for part in [VERSION, mode.as_str(), number.expose()] {
            Mac::update(&mut *hash, part.as_bytes());
            Mac::update(&mut *hash, b"\n");
        }
        Self(hex(hash.finalize_fixed_reset().get(..BYTES).unwrap_or_default()))
    }

    /// Returns the digits, for the store and nothing else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CardFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CardFingerprint(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: &str, mode: Mode, key: &str) -> CardFingerprint {
        CardFingerprint::of(&CardNumber::parse(number).unwrap(), mode, key.as_bytes())
    }

    #[test]
    fn a_card_has_one_fingerprint_in_each_mode_under_each_key() {
        let one = of("4242424242424242", Mode::Live, "key");
        assert_eq!(one, of("4242424242424242", Mode::Live, "key"));
        assert_eq!(one.as_str().len(), 32);
        for other in [
            of("4111111111111111", Mode::Live, "key"),
            of("4242424242424242", Mode::Test, "key"),
            of("4242424242424242", Mode::Live, "another"),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn nothing_of_it_is_printed() {
        let one = of("4242424242424242", Mode::Live, "key");
        assert_eq!(format!("{one:?}"), "CardFingerprint(***)");
    }
}
