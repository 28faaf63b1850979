//! The second factor: a secret in an authenticator app (TOTP, RFC 6238), and recovery codes in case it is lost.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::secret::Secret;
use crate::secret_key::SealedSecret;
use crate::text::hex;
use crate::time::Timestamp;

/// Seconds for which an authenticator shows a code (RFC 6238, section 4: X).
pub const CODE_STEP_SECONDS: u64 = 30;
/// Number of recovery codes of one person.
pub const RECOVERY_CODES: usize = 10;
/// Random bytes of each code: 120 bits. It can't be found by brute force, so its hash needs no salt and need not be
/// slow (OWASP ASVS 5.0, 6.5.2: from 112 bits).
pub const RECOVERY_CODE_BYTES: usize = 15;

/// Letters and digits that can't be confused on paper (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Number of characters of a code: five bits each.
const CODE_CHARACTERS: usize = RECOVERY_CODE_BYTES * 8 / 5;
/// Number of characters of an older code, which has 80 bits.
const OLD_CODE_CHARACTERS: usize = 16;
/// Number of characters between two dashes.
const GROUP: usize = 4;

/// Stored data of a person's second factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactor {
    /// The authenticator's secret, sealed for this person alone.
    pub secret: SealedSecret,
    /// Hashes of the remaining recovery codes: [`RecoveryCode::hash`].
    pub recovery_codes: Vec<String>,
    /// Last step whose code was accepted: no code of this or an earlier step is accepted again (RFC 6238, section 5.2).
    pub last_step: i64,
    /// Time since which it is required.
    pub since: Timestamp,
}

impl SecondFactor {
    /// Accepts the code of a step, once. Returns true if it did.
    pub fn take_step(&mut self, step: i64) -> bool {
        let is_new = step > self.last_step;
        if is_new {
            self.last_step = step;
        }
        is_new
    }

    /// Accepts a recovery code, once. Returns true if it did.
    pub fn take_recovery_code(&mut self, code: &RecoveryCode) -> bool {
        let hash = code.hash();
        let before = self.recovery_codes.len();
        self.recovery_codes.retain(|known| !bool::from(known.as_bytes().ct_eq(hash.as_bytes())));
        self.recovery_codes.len() < before
    }
}

/// A code that replaces the authenticator, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryCode(Secret<String>);

impl RecoveryCode {
    /// Creates a code from random bytes.
    pub fn of(random: &[u8; RECOVERY_CODE_BYTES]) -> Self {
        let bits = random.iter().fold(0_u128, |bits, byte| (bits << 8) | u128::from(*byte));
        let letter = |place: usize| {
            let five = usize::try_from((bits >> (place * 5)) & 31).unwrap_or_default();
            ALPHABET.get(five).map_or('0', |letter| char::from(*letter))
        };
        Self(Secret::new((0..CODE_CHARACTERS).rev().map(letter).collect()))
    }

    /// Reads a code as typed by a person. Case, blanks and dashes are ignored; `o`, `i` and `l` count as the digits
    /// that they look like.
    pub fn parse(text: &str) -> Option<Self> {
        let typed = text.chars().filter(|character| !character.is_whitespace() && *character != '-');
        let meant = typed.map(|character| match character.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        });
        let code: String = meant.take(CODE_CHARACTERS + 1).collect();
        let is_code = [CODE_CHARACTERS, OLD_CODE_CHARACTERS].contains(&code.len())
            && code.bytes().all(|byte| ALPHABET.contains(&byte));
        is_code.then(|| Self(Secret::new(code)))
    }

    /// Returns the form that is shown, once: `0000-0000-0000-0000-0000-0000`.
    pub fn reveal(&self) -> String {
        let letters: Vec<char> = self.0.expose().chars().collect();
        letters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
    }

    /// Returns the form that is stored: SHA-256, in hexadecimal.
    pub fn hash(&self) -> String {
        let hash =
            Sha256::new_with_prefix(b"quita recovery code 1 ").chain_update(self.0.expose().as_bytes());
        hex(&hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret_key::SecretKeyId;

    fn factor(codes: &[RecoveryCode]) -> SecondFactor {
        SecondFactor {
            secret: SealedSecret { key: SecretKeyId::of(b"key"), text: String::from("sealed") },
            recovery_codes: codes.iter().map(RecoveryCode::hash).collect(),
            last_step: 7,
            since: Timestamp::default(),
        }
    }

    #[test]
    fn a_step_is_taken_once_and_none_before_it() {
        let mut factor = factor(&[]);
        assert!(!factor.take_step(6) && !factor.take_step(7));
        assert!(factor.take_step(8) && !factor.take_step(8));
        assert_eq!(factor.last_step, 8);
    }

    #[test]
    fn a_recovery_code_is_taken_once() {
        let [one, other] = [1, 2].map(|byte| RecoveryCode::of(&[byte; RECOVERY_CODE_BYTES]));
        let mut factor = factor(&[one.clone(), other.clone()]);
        assert!(factor.take_recovery_code(&one) && !factor.take_recovery_code(&one));
        assert_eq!(factor.recovery_codes, [other.hash()]);
    }

    #[test]
    fn a_recovery_code_is_read_as_people_type_it() {
        let bytes =
            [0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf, 0x84, 0x65, 0x3a, 0x56, 0xd7];
        let code = RecoveryCode::of(&bytes);
        assert_eq!(code.reveal(), "0123-4567-89ab-cdef-ghjk-mnpq");
        for typed in [
            "0123-4567-89ab-cdef-ghjk-mnpq",
            " 0123 4567 89AB CDEF GHJK MNPQ ",
            "o123456789abcdefghjkmnpq",
            "0l23456789abcdefghjkmnpq",
        ] {
            assert_eq!(RecoveryCode::parse(typed), Some(code.clone()), "{typed}");
        }
        for wrong in ["", "123456", "0123-4567-89ab-cde", "0123-4567-89ab-cdef0", "0123-4567-89ab-cdeu", "é"]
        {
            assert_eq!(RecoveryCode::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_code_from_when_they_were_shorter_still_works() {
        let old = RecoveryCode::parse("0123-4567-89ab-cdef").unwrap();
        let mut factor = factor(std::slice::from_ref(&old));
        assert_eq!(old.hash(), "d1196f0861c7b5ffde0f0db4707f9beffad8785ef7e4293f05714f5d627ad05c");
        assert!(factor.take_recovery_code(&old));
    }

    #[test]
    fn a_recovery_code_is_neither_printed_nor_stored() {
        let code = RecoveryCode::of(&[9; RECOVERY_CODE_BYTES]);
        let shown = code.reveal();
        assert!(!format!("{code:?}").contains(&shown.replace('-', "")));
        assert_eq!(code.hash().len(), 64);
        assert_ne!(code.hash(), RecoveryCode::of(&[8; RECOVERY_CODE_BYTES]).hash());
    }
}
