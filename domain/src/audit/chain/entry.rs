//! An entry with what ties it to its place.

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

/// What an entry follows on that finds no head where it must be. Nothing has this hash, so the place is told for ever.
const LOST: &str = "";

/// Random texts of one entry, each 32 hexadecimal digits. Without its salt nobody can tell from a hash what it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salts {
    initiator: String,
    person: String,
    content: String,
}

impl Salts {
    /// Of random bytes.
    pub fn new([initiator, person, content]: [[u8; SALT_BYTES]; 3]) -> Self {
        Self { initiator: hex(&initiator), person: hex(&person), content: hex(&content) }
    }
}

/// An entry that has no place yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditEntry {
    /// What it says.
    pub entry: AuditEntry,
    /// Used once.
    pub salts: Salts,
}

impl NewAuditEntry {
    /// The same entry, about these parts of others: it accounts for their erasure.
    #[must_use]
    pub fn accounting_for(&self, parts: &ErasedParts) -> Self {
        let entry = AuditEntry { subject: parts.to_string(), ..self.entry.clone() };
        Self { entry, salts: self.salts.clone() }
    }
}

/// Who did it, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initiator {
    /// Goes with the part.
    pub salt: String,
    /// See [`AuditEntry::who`].
    pub who: String,
    /// See [`AuditEntry::from`].
    pub from: String,
}

/// To whom it was done, if that is somebody who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Goes with the part.
    pub salt: String,
    /// See [`AuditEntry::subject`].
    pub subject: String,
}

/// What it was before and became, if anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Goes with the part.
    pub salt: String,
    /// See [`AuditEntry::before`].
    pub before: Option<String>,
    /// See [`AuditEntry::after`].
    pub after: Option<String>,
}

/// Keyed hashes, 64 hexadecimal digits each. They stay when the parts are erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// Of the initiator.
    pub initiator: String,
    /// Of the person; absent if there never was one.
    pub person: Option<String>,
    /// Of before and after; absent if there never was anything.
    pub content: Option<String>,
    /// Of the entry, wherever it stands.
    pub body: String,
    /// Of the entry at this place.
    pub place: String,
    /// Of the entry at this place, and of this hash of the entry before.
    pub hash: String,
}

/// An entry at its place. The three parts may be erased; everything else stays as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedEntry {
    /// The place in the log: 1, 2, 3, …
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
    /// What ties it to its place.
    pub links: Links,
    /// Absent once it is erased.
    pub initiator: Option<Initiator>,
    /// Absent once it is erased.
    pub person: Option<Person>,
    /// Absent once it is erased.
    pub content: Option<Content>,
}

impl ChainedEntry {
    /// Makes the entry follow on the head. `last` is the place of the last entry that there is: with a head that is gone,
    /// not sealed with the key, or older than the log, the entry stands behind that one and follows on nothing, which [`super::ChainCheck`] tells.
    pub fn after(head: Option<&ChainHead>, last: u64, new: &NewAuditEntry, key: &ChainKey) -> Self {
        let NewAuditEntry { entry, salts } = new;
        let head = head.filter(|head| head.sequence >= last && head.is_sealed_with(key));
        let sequence = head.map_or(last, |head| head.sequence).saturating_add(1);
        let (person, subject) = match Login::parse(&entry.subject) {
            Some(_) => (Some(Person { salt: salts.person.clone(), subject: entry.subject.clone() }), None),
            None => (None, Some(entry.subject.clone())),
        };
        let (before, after) = (entry.before.clone(), entry.after.clone());
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

    /// Whether it says what it said when it was written. What is erased says nothing.
    pub(super) fn is_as_written(&self, key: &ChainKey) -> bool {
        let Self { links, initiator, person, content, .. } = self;
        let fits = |hash: Option<&str>, of: Option<String>| of.is_none_or(|of| hash == Some(&of));
        fits(Some(&links.initiator), initiator.as_ref().map(|part| of_initiator(part, key)))
            && fits(links.person.as_deref(), person.as_ref().map(|part| of_person(part, key)))
            && fits(links.content.as_deref(), content.as_ref().map(|part| of_content(part, key)))
            && self.body(key) == links.body
    }

    /// Whether it stands where it was written, behind the entry with this hash if that is known.
    pub(super) fn is_where_written(&self, previous: Option<&str>, key: &ChainKey) -> bool {
        let follows = previous.is_none_or(|previous| self.hash_after(previous, key) == self.links.hash);
        follows && self.place(key) == self.links.place
    }

    /// Place and hash of the entry.
    pub fn position(&self) -> ChainPlace {
        ChainPlace { sequence: self.sequence, hash: self.links.hash.clone() }
    }

    /// Parts that were written and are gone.
    pub fn erased_parts(&self) -> impl Iterator<Item = EntryPart> {
        let Self { links, initiator, person, content, .. } = self;
        let is_erased = |part| match part {
            EntryPart::Initiator => initiator.is_none(),
            EntryPart::Person => links.person.is_some() && person.is_none(),
            EntryPart::Content => links.content.is_some() && content.is_none(),
        };
        EntryPart::ALL.into_iter().filter(move |part| is_erased(*part))
    }

    /// Parts of earlier entries whose erasure this entry accounts for.
    pub fn accounted(&self) -> Option<ErasedParts> {
        let accounts = matches!(self.action, AuditAction::LogErased | AuditAction::ErasureAccepted);
        self.subject.as_deref().filter(|_| accounts).and_then(ErasedParts::parse)
    }

    /// What it says, as far as that is not erased: an erased text is empty.
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

    /// Whether this entry was written here, whatever of it is erased since.
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

/// Tells an absent text from an empty one.
fn stated(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!("={text}"))
}
