//! The end of the chain.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::entry::ChainedEntry;
use super::key::ChainKey;

/// The end of the log, sealed, so that a truncated log can be told from a short one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    /// Index of the last entry; 0 before the first one.
    pub sequence: u64,
    /// Hash of the last entry.
    pub hash: String,
    /// Keyed hash of both.
    pub seal: String,
}

impl ChainHead {
    /// Creates the head before the first entry.
    pub fn beginning(key: &ChainKey) -> Self {
        Self::at(0, &key.hash("beginning", &[]), key)
    }

    /// Creates the head after this last entry.
    pub fn of(last: &ChainedEntry, key: &ChainKey) -> Self {
        Self::at(last.sequence, &last.links.hash, key)
    }

    /// Returns the head moved to an entry; `None` if that entry is not the direct successor of this head.
    pub fn moved_to(&self, next: &ChainedEntry, key: &ChainKey) -> Option<Self> {
        let follows = self.is_sealed_with(key)
            && next.sequence == self.sequence.saturating_add(1)
            && next.is_as_written(key)
            && next.is_where_written(Some(&self.hash), key);
        follows.then(|| Self::of(next, key))
    }

    fn at(sequence: u64, hash: &str, key: &ChainKey) -> Self {
        let seal = key.hash("head", &[&sequence.to_be_bytes(), hash.as_bytes()]);
        Self { sequence, hash: hash.into(), seal }
    }

    /// Returns index and hash of the last entry.
    pub fn position(&self) -> ChainPlace {
        ChainPlace { sequence: self.sequence, hash: self.hash.clone() }
    }

    /// Returns true if it was sealed with this key.
    pub(super) fn is_sealed_with(&self, key: &ChainKey) -> bool {
        *self == Self::at(self.sequence, &self.hash, key)
    }
}

/// Index and hash of an entry. Kept elsewhere, they can later prove that the log continues from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainPlace {
    /// Its index.
    pub sequence: u64,
    /// Hash of the entry there.
    pub hash: String,
}

impl ChainPlace {
    /// Reads the form that `Display` writes; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (sequence, hash) = text.split_once(':')?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let sequence = sequence.parse().ok()?;
        is_hash.then(|| Self { sequence, hash: hash.to_ascii_lowercase() })
    }
}

impl fmt::Display for ChainPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.sequence, self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_nothing_else_does() {
        let place = ChainPlace { sequence: 41, hash: "0a".repeat(32) };
        assert_eq!(ChainPlace::parse(&place.to_string()), Some(place.clone()));
        for wrong in ["", "41", "41:", ":41", "x:aa", &format!("-{place}"), &format!("{place}0")] {
            assert_eq!(ChainPlace::parse(wrong), None, "{wrong}");
        }
    }
}
