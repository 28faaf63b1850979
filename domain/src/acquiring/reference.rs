//! Names that a provider gives to a charge, stored together with our own notes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The provider's own ids of a charge: a payment id, a transaction id, an end-to-end id. Opaque here, kept with the
/// attempt, and sent with every later call about it. Shown as `acquirerReference`, except our own notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reference(BTreeMap<String, String>);

impl Reference {
    /// Our own note of the key that receives the charge's money. It is kept even if another key is configured later.
    pub const KEY: &str = "_key";

    /// Our own note of the number that the acquirer put on a slip (nº do documento), in place of the usual one.
    pub const DOCUMENT_NUMBER: &str = "_documentNumber";

    /// Name of the number of a slip at its bank (nosso número), if the bank leaves that to us.
    pub const OUR_NUMBER: &str = "ourNumber";

    /// Prefix of our own notes, which are shown to nobody else.
    const NOTE: char = '_';

    /// Limits on the number of ids of one charge and on their length, so that a provider can't make a document grow.
    const MAX_NAMES: usize = 40;
    const MAX_CHARACTERS: usize = 255;

    /// Returns a reference without ids.
    pub const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns the reference with one more id; an empty or overlong one is left out.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.insert(name, value);
        self
    }

    /// Returns the provider's id under this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the name of our own note about how the split with this index, from 0, was sent. The note has the
    /// acquirer's name of the recipient, a blank, and the cents.
    pub fn split(index: usize) -> String {
        format!("_split.{index}")
    }

    /// Returns the acquirer's name of the recipient of the split with this index, if it was noted.
    pub fn recipient(&self, index: usize) -> Option<&str> {
        let (recipient, _) = self.get(&Self::split(index))?.split_once(' ')?;
        Some(recipient)
    }

    /// Returns the reference without the ids whose values match.
    #[must_use]
    pub(crate) fn without(mut self, is_meant: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|_, value| !is_meant(value));
        self
    }

    /// Returns every id from the provider with its name, without our own notes.
    pub fn shown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(|(name, _)| !name.starts_with(Self::NOTE))
    }

    /// Returns every id with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if both have this name, with different values.
    pub fn differs_in(&self, name: &str, other: &Self) -> bool {
        self.get(name).zip(other.get(name)).is_some_and(|(own, theirs)| own != theirs)
    }

    /// Returns true if this is one of its ids, under any name.
    pub fn has(&self, id: &str) -> bool {
        self.0.values().any(|known| known == id)
    }

    /// Returns true if all ids of `other` are already known.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.iter().all(|(name, value)| self.get(name) == Some(value))
    }

    /// Adds the ids of `other`. An id that is known under another value is replaced.
    pub(crate) fn learn(&mut self, other: &Self) {
        for (name, value) in &other.0 {
            self.insert(name, value);
        }
    }

    fn insert(&mut self, name: &str, value: &str) {
        let fits = |text: &str| (1..=Self::MAX_CHARACTERS).contains(&text.chars().count());
        let has_room = self.0.len() < Self::MAX_NAMES || self.0.contains_key(name);
        if fits(name) && fits(value) && has_room {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }
}
