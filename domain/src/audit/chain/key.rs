//! The key of the chain.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::secret::Secret;
use crate::secret_key::mac;
use crate::text::hex;

/// Bytes of the key.
pub const CHAIN_KEY_BYTES: usize = 32;

/// Key that links the entries of one log. It is random, and does not change with the secret key of the service, so that
/// old links stay verifiable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainKey(Secret<Vec<u8>>);

impl ChainKey {
    /// Creates a key from random bytes.
    pub fn new(bytes: [u8; CHAIN_KEY_BYTES]) -> Self {
        Self(Secret::new(bytes.to_vec()))
    }

    /// Returns a keyed hash of these parts, 64 hexadecimal digits. The label keeps a hash of one kind from passing as
    /// another. Each part follows its length, so that no byte can move to another part unnoticed.
    pub(super) fn hash(&self, label: &str, parts: &[&[u8]]) -> String {
        let parts: Vec<_> = std::iter::once(label.as_bytes()).chain(parts.iter().copied()).collect();
        let lengths: Vec<_> = parts.iter().map(|part| length(part)).collect();
        let woven = lengths.iter().zip(&parts).flat_map(|(length, part)| [length.as_slice(), part]);
        hex(&mac(self.0.expose(), &woven.collect::<Vec<_>>()))
    }
}

fn length(part: &[u8]) -> [u8; 8] {
    u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes()
}

/// Key of a log, and whether that log has begun, so that the loss of a whole log is detected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditKey {
    /// The key.
    pub key: ChainKey,
    /// True if the head of an empty log was stored once.
    pub has_begun: bool,
}

impl AuditKey {
    /// Returns both in clear text, to be sealed.
    pub fn reveal(&self) -> Secret<String> {
        let word = if self.has_begun { "begun" } else { "new" };
        Secret::new(format!("{word}:{}", STANDARD.encode(self.key.0.expose())))
    }

    /// Reads the form of [`AuditKey::reveal`].
    pub fn parse(text: &Secret<String>) -> Option<Self> {
        let (word, key) = text.expose().split_once(':')?;
        let key = Secret::new(STANDARD.decode(key).ok()?);
        let has_begun = match word {
            "begun" => true,
            "new" => false,
            _ => return None,
        };
        let has_length = key.expose().len() == CHAIN_KEY_BYTES;
        has_length.then_some(Self { key: ChainKey(key), has_begun })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_revealed_reads_back_and_nothing_else_does() {
        for has_begun in [true, false] {
            let key = AuditKey { key: ChainKey::new([7; CHAIN_KEY_BYTES]), has_begun };
            assert_eq!(AuditKey::parse(&key.reveal()), Some(key));
        }
        let short = STANDARD.encode([7; 31]);
        for wrong in ["", "begun", "begun:", "begun:*", "old:AAAA", &format!("new:{short}")] {
            assert_eq!(AuditKey::parse(&Secret::new((*wrong).to_owned())), None, "{wrong}");
        }
    }

    #[test]
    fn no_part_moves_into_the_next_unseen() {
        let key = ChainKey::new([7; CHAIN_KEY_BYTES]);
        let one = key.hash("link", &[b"ab", b"c"]);
        for (label, first, second) in [("link", "a", "bc"), ("place", "ab", "c"), ("lin", "kab", "c")] {
            assert_ne!(one, key.hash(label, &[first.as_bytes(), second.as_bytes()]));
        }
        assert_eq!(one.len(), 64);
    }
}
