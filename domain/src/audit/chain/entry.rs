//! Entries with the hashes that link them.

use uuid::Uuid;

use super::erased::{EntryPart, ErasedParts};
use super::head::{ChainHead, ChainPlace};
use super::key::ChainKey;
use crate::audit::{AuditAction, AuditEntry};
use crate::identity::MerchantId;
use crate::people::Login;
use crate::text::hex;
use crate::time::Timestamp;

/// Random bytes of one salt.
pub const SALT_BYTES: usize = 16;

/// Previous hash of an entry written while the head record was missing. No entry hashes to it, so every later check
/// reports the gap.
const LOST: &str = "";

/// Random texts of one entry, each 32 hexadecimal digits. Without its salt, a hash reveals nothing about its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salts {
    initiator: String,
    person: String,
    content: String,
}

impl Salts {
    /// Creates salts from random bytes.
    pub fn new([initiator, person, content]: [[u8; SALT_BYTES]; 3]) -> Self {
        Self { initiator: hex(&initiator), person: hex(&person), content: hex(&content) }
    }
}

/// An entry that has no index yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditEntry {
    /// Content of the entry.
    pub entry: AuditEntry,
    /// Its salts, used only once.
    pub salts: Salts,
}

impl NewAuditEntry {
    /// Returns the entry with these parts of other entries as its subject: it accounts for their erasure.
    #[must_use]
    pub fn accounting_for(&self, parts: &ErasedParts) -> Self {
        let entry = AuditEntry { subject: parts.to_string(), ..self.entry.clone() };
        Self { entry, salts: self.salts.clone() }
    }
}

/// Author of the change, and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initiator {
    /// Salt, erased with the part.
    pub salt: String,
    /// See [`AuditEntry::who`].
    pub who: String,
    /// See [`AuditEntry::from`].
    pub from: String,
}

/// Person that the change concerned, if that person can sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Salt, erased with the part.
    pub salt: String,
    /// See [`AuditEntry::subject`].
    pub subject: String,
}

/// State before and after, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Salt, erased with the part.
    pub salt: String,
    /// See [`AuditEntry::before`].
    pub before: Option<String>,
    /// See [`AuditEntry::after`].
    pub after: Option<String>,
}

/// Keyed hashes, 64 hexadecimal digits each. They are kept when the parts are erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// Hash of the initiator.
    pub initiator: String,
    /// Hash of the person; absent if there never was one.
    pub person: Option<String>,
    /// Hash of the previous and new state; absent if there never was any.
    pub content: Option<String>,
    /// Hash of the entry, without its index.
    pub body: String,
    /// Hash of the entry and its index.
    pub place: String,
    /// Hash of the entry, its index, and the hash of the entry before.
    pub hash: String,
}

/// An entry at its index. Its three parts may be erased; everything else never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedEntry {
    /// Index in the log: 1, 2, 3, …
    pub sequence: u64,
    /// See [`AuditEntry::id`].
    pub id: Uuid,
    /// See [`AuditEntry::at`].
    pub at: Timestamp,
    /// See [`AuditEntry::merchant`].
    pub merchant: Option<MerchantId>,
    /// See [`AuditEntry::action`].
    pub action: AuditAction,
    /// See [`AuditEntry::subject`]; absent if that is a person.
    pub subject: Option<String>,
    /// Hashes that link it to its index and to the entry before.
    pub links: Links,
    /// Absent once it is erased.
    pub initiator: Option<Initiator>,
    /// Absent once it is erased.
    pub person: Option<Person>,
    /// Absent once it is erased.
    pub content: Option<Content>,
}

impl ChainedEntry {
    /// Appends the entry to the head. `last` is the index of the last stored entry. The head may be lost, not sealed
    /// with the key, or older than the log. Then the entry follows the last stored one without a previous hash, which
    /// [`super::ChainCheck`] reports.
    pub fn after(head: Option<&ChainHead>, last: u64, new: &NewAuditEntry, key: &ChainKey) -> Self {
        let NewAuditEntry { entry, salts } = new;
        let head = head.filter(|head| head.sequence >= last && head.is_sealed_with(key));
        let sequence = head.map_or(last, |head| head.sequence).saturating_add(1);
        // A login is personal data, so it is stored in a separate part that can be erased later (LGPD, Art. 18).
        let (person, subject) = match Login::parse(&entry.subject) {
            Some(_) => (Some(Person { salt: salts.person.clone(), subject: entry.subject.clone() }), None),
            None => (None, Some(entry.subject.clone())),
        };
        let before = entry.before.clone();
        let after = entry.after.clone();
        let has_content = before.is_some() || after.is_some();
        let mut chained = Self {
            sequence,
            id: entry.id,
            at: entry.at,
            merchant: entry.merchant.clone(),
            action: entry.action,
            subject,
            links: Links {
                initiator: String::new(),
                person: None,
                content: None,
                body: String::new(),
                place: String::new(),
                hash: String::new(),
            },
            initiator: Some(Initiator {
                salt: salts.initiator.clone(),
                who: entry.who.clone(),
                from: entry.from.clone(),
            }),
            person,
            content: has_content.then(|| Content { salt: salts.content.clone(), before, after }),
        };
        chained.link(head.map_or(LOST, |head| &head.hash), key);
        chained
    }

    fn link(&mut self, previous: &str, key: &ChainKey) {
        self.links.initiator =
            self.initiator.as_ref().map(|part| of_initiator(part, key)).unwrap_or_default();
        self.links.person = self.person.as_ref().map(|part| of_person(part, key));
        self.links.content = self.content.as_ref().map(|part| of_content(part, key));
        self.links.body = self.body(key);
        self.links.place = self.place(key);
        self.links.hash = self.hash_after(previous, key);
    }

    fn body(&self, key: &ChainKey) -> String {
        let Self { id, at, merchant, action, subject, links, .. } = self;
        let merchant = stated(merchant.as_ref().map(MerchantId::as_str));
        let [subject, person, content] =
            [subject, &links.person, &links.content].map(|text| stated(text.as_deref()));
        key.hash(
            "body",
            &[
                id.as_bytes(),
                &at.millis().to_be_bytes(),
                merchant.as_bytes(),
                action.as_str().as_bytes(),
                subject.as_bytes(),
                links.initiator.as_bytes(),
                person.as_bytes(),
                content.as_bytes(),
            ],
        )
    }

    fn place(&self, key: &ChainKey) -> String {
        key.hash("place", &[&self.sequence.to_be_bytes(), self.links.body.as_bytes()])
    }

    fn hash_after(&self, previous: &str, key: &ChainKey) -> String {
        key.hash("link", &[previous.as_bytes(), self.links.place.as_bytes()])
    }

    /// Returns true if its content is unchanged. Erased parts are not checked.
    pub(super) fn is_as_written(&self, key: &ChainKey) -> bool {
        let Self { links, initiator, person, content, .. } = self;
        // An erased part has left its hash behind, which the body covers.
        let fits = |hash: Option<&str>, of: Option<String>| of.is_none_or(|of| hash == Some(&of));
        fits(Some(&links.initiator), initiator.as_ref().map(|part| of_initiator(part, key)))
            && fits(links.person.as_deref(), person.as_ref().map(|part| of_person(part, key)))
            && fits(links.content.as_deref(), content.as_ref().map(|part| of_content(part, key)))
            && self.body(key) == links.body
    }

    /// Returns true if it is at its original index, and after the entry with this hash if that is known.
    pub(super) fn is_where_written(&self, previous: Option<&str>, key: &ChainKey) -> bool {
        let follows = previous.is_none_or(|previous| self.hash_after(previous, key) == self.links.hash);
        follows && self.place(key) == self.links.place
    }

    /// Returns index and hash of the entry.
    pub fn position(&self) -> ChainPlace {
        ChainPlace { sequence: self.sequence, hash: self.links.hash.clone() }
    }

    /// Returns the parts that were written and later erased.
    pub fn erased_parts(&self) -> impl Iterator<Item = EntryPart> {
        let Self { links, initiator, person, content, .. } = self;
        let is_erased = |part| match part {
            EntryPart::Initiator => initiator.is_none(),
            EntryPart::Person => links.person.is_some() && person.is_none(),
            EntryPart::Content => links.content.is_some() && content.is_none(),
        };
        EntryPart::ALL.into_iter().filter(move |part| is_erased(*part))
    }

    /// Returns the parts of earlier entries whose erasure this entry accounts for.
    pub fn accounted(&self) -> Option<ErasedParts> {
        let accounts = matches!(self.action, AuditAction::LogErased | AuditAction::ErasureAccepted);
        self.subject.as_deref().filter(|_| accounts).and_then(ErasedParts::parse)
    }

    /// Returns its content without the erased parts: an erased text is empty.
    pub fn entry(&self) -> AuditEntry {
        let initiator = self.initiator.clone();
        let (who, from) = initiator.map(|part| (part.who, part.from)).unwrap_or_default();
        let person = self.person.as_ref().map(|part| part.subject.clone());
        let content = self.content.clone();
        let (before, after) = content.map(|part| (part.before, part.after)).unwrap_or_default();
        AuditEntry {
            id: self.id,
            at: self.at,
            merchant: self.merchant.clone(),
            who,
            from,
            action: self.action,
            subject: self.subject.clone().or(person).unwrap_or_default(),
            before,
            after,
        }
    }

    /// Returns true if it was created from this entry, whatever has been erased since.
    pub fn was(&self, entry: &AuditEntry) -> bool {
        let mut mine = self.entry();
        if self.initiator.is_none() {
            (mine.who, mine.from) = (entry.who.clone(), entry.from.clone());
        }
        if self.links.person.is_some() && self.person.is_none() {
            mine.subject.clone_from(&entry.subject);
        }
        if self.links.content.is_some() && self.content.is_none() {
            (mine.before, mine.after) = (entry.before.clone(), entry.after.clone());
        }
        mine == *entry
    }
}

fn of_initiator(part: &Initiator, key: &ChainKey) -> String {
    let Initiator { salt, who, from } = part;
    key.hash("initiator", &[salt, who, from].map(String::as_bytes))
}

fn of_person(part: &Person, key: &ChainKey) -> String {
    key.hash("person", &[&part.salt, &part.subject].map(|text| text.as_bytes()))
}

fn of_content(part: &Content, key: &ChainKey) -> String {
    let [before, after] = [&part.before, &part.after].map(|text| stated(text.as_deref()));
    key.hash("content", &[part.salt.as_bytes(), before.as_bytes(), after.as_bytes()])
}

/// Distinguishes an absent text from an empty one.
fn stated(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!("={text}"))
}
