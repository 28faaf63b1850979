//! The chain of the audit log: each entry carries keyed hashes of itself, of its place, and of the entry before.
//!
//! Without the key nobody can make an entry that fits. What an entry says of people is covered by a salted hash alone, so
//! that erasing it with its salt leaves the chain whole. The end is guarded by a sealed head; an old head that is put
//! back together with the log as it was then is found only by who kept a later sequence number elsewhere.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use uuid::Uuid;

use super::AuditEntry;
use crate::secret::Secret;
use crate::text::hex;

/// Names the purpose of the key: another way of hashing needs another name.
const PURPOSE: &str = "quita audit chain 1";

/// What the first entry follows on.
const BEGINNING: &str = "";

/// The key of the chain, derived from the secret key for this purpose alone.
#[derive(Debug, Clone)]
pub struct ChainKey(Secret<Vec<u8>>);

impl ChainKey {
    /// The one that belongs to a secret key.
    pub fn derive(secret_key: &[u8]) -> Self {
        Self(Secret::new(mac(secret_key, PURPOSE, &[]).to_vec()))
    }

    /// A keyed hash of these parts, 64 hexadecimal digits. The label keeps hashes of one kind from passing as another.
    fn hash(&self, label: &str, parts: &[&[u8]]) -> String {
        hex(&mac(self.0.expose(), label, parts))
    }

    fn personal(&self, entry: &AuditEntry, salt: &str) -> String {
        let [before, after] = [&entry.before, &entry.after].map(|text| stated(text.as_deref()));
        let plain = [salt, &entry.who, &entry.from, &entry.subject, &before, &after];
        self.hash("personal", &plain.map(str::as_bytes))
    }

    fn content(&self, entry: &AuditEntry, personal: &str) -> String {
        let merchant = stated(entry.merchant.as_ref().map(|merchant| merchant.as_str()));
        let at = entry.at.millis().to_be_bytes();
        let action = entry.action.as_str().as_bytes();
        self.hash("content", &[entry.id.as_bytes(), &at, merchant.as_bytes(), action, personal.as_bytes()])
    }

    fn place(&self, sequence: u64, content: &str) -> String {
        self.hash("place", &[&sequence.to_be_bytes(), content.as_bytes()])
    }

    fn link(&self, previous: &str, place: &str) -> String {
        self.hash("link", &[previous.as_bytes(), place.as_bytes()])
    }

    fn seal(&self, sequence: u64, hash: &str) -> String {
        self.hash("head", &[&sequence.to_be_bytes(), hash.as_bytes()])
    }
}

/// Tells an absent text from an empty one.
fn stated(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!("={text}"))
}

/// Each part goes in behind its length, so that nothing moves from one to the next unseen.
fn mac(key: &[u8], label: &str, parts: &[&[u8]]) -> [u8; 32] {
    // Fails for no length of key; a key of zeros would only make the hash unkeyed.
    let unkeyed = |_| Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::default());
    let mut hash = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(unkeyed);
    for part in std::iter::once(label.as_bytes()).chain(parts.iter().copied()) {
        hash.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into_bytes().into()
}

/// What ties an entry to its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The place in the log: 1, 2, 3, …
    pub sequence: u64,
    /// Random text that the hash of the personal part starts with; absent once that part is erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// Hash of who, from where, to what, before and after.
    pub personal: String,
    /// Hash of the entry, wherever it stands.
    pub content: String,
    /// Hash of the entry at this place.
    pub place: String,
    /// Hash of the above and of this hash of the entry before.
    pub hash: String,
}

/// An entry with what ties it to its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainedEntry {
    /// The entry.
    pub entry: AuditEntry,
    /// Its place.
    pub link: Link,
}

impl ChainedEntry {
    /// Makes the entry follow on the head; the first one when there is none.
    pub fn after(head: Option<&ChainHead>, entry: AuditEntry, salt: String, key: &ChainKey) -> Self {
        let (last, previous) = head.map_or((0, BEGINNING), |head| (head.sequence, head.hash.as_str()));
        let sequence = last.saturating_add(1);
        let personal = key.personal(&entry, &salt);
        let content = key.content(&entry, &personal);
        let place = key.place(sequence, &content);
        let hash = key.link(previous, &place);
        Self { entry, link: Link { sequence, salt: Some(salt), personal, content, place, hash } }
    }

    /// Without its personal part, which nobody can tell from the hash that stays.
    #[must_use]
    pub fn erased(mut self) -> Self {
        (self.entry.before, self.entry.after, self.link.salt) = (None, None, None);
        for text in [&mut self.entry.who, &mut self.entry.from, &mut self.entry.subject] {
            text.clear();
        }
        self
    }

    /// Whether it says what it said when it was written. What is erased says nothing at all.
    fn is_as_written(&self, key: &ChainKey) -> bool {
        let Self { entry, link } = self;
        let personal = match &link.salt {
            Some(salt) => key.personal(entry, salt) == link.personal,
            None => self.clone().erased().entry == *entry,
        };
        personal && key.content(entry, &link.personal) == link.content
    }
}

/// The end of the log, sealed, so that a log that was cut is told from a short one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainHead {
    /// The place of the last entry.
    pub sequence: u64,
    /// The hash of the last entry.
    pub hash: String,
    /// Keyed hash of both.
    pub seal: String,
}

impl ChainHead {
    /// The head when this entry is the last.
    pub fn of(link: &Link, key: &ChainKey) -> Self {
        let seal = key.seal(link.sequence, &link.hash);
        Self { sequence: link.sequence, hash: link.hash.clone(), seal }
    }
}

/// What is wrong with the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainFault {
    /// An entry says something else than when it was written.
    Changed {
        /// Its place.
        sequence: u64,
        /// Its id.
        id: Uuid,
    },
    /// An entry stands where another was written, or follows on another than it did.
    Swapped {
        /// The place where it stands.
        sequence: u64,
        /// Its id.
        id: Uuid,
    },
    /// Entries are not there.
    Missing {
        /// The first place without an entry.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// The head is absent, was changed, or is older than the log.
    Head,
}

/// Checks the log from its first entry on, in pages of any size; keeps one entry's hash and nothing more.
#[derive(Debug)]
pub struct ChainCheck {
    key: ChainKey,
    last: u64,
    previous: String,
    /// Whether the entry before was one that the next can be held against.
    sound: bool,
    verified: u64,
    erased: u64,
}

impl ChainCheck {
    /// Before the first entry.
    pub const fn new(key: ChainKey) -> Self {
        Self { key, last: 0, previous: String::new(), sound: true, verified: 0, erased: 0 }
    }

    /// Takes the next entry, in the order of their sequence, and says what is wrong up to it.
    pub fn next(&mut self, chained: &ChainedEntry) -> Vec<ChainFault> {
        let ChainedEntry { entry, link } = chained;
        let (sequence, id) = (link.sequence, entry.id);
        let mut faults: Vec<_> = self.gap_before(sequence).into_iter().collect();
        self.sound &= faults.is_empty();
        // After a fault the next entry cannot fit, and that is no fault of its own.
        let follows = !self.sound || self.key.link(&self.previous, &link.place) == link.hash;
        let own = if !chained.is_as_written(&self.key) {
            Some(ChainFault::Changed { sequence, id })
        } else if self.key.place(sequence, &link.content) != link.place || !follows {
            Some(ChainFault::Swapped { sequence, id })
        } else {
            None
        };
        self.sound = own.is_none();
        self.verified = self.verified.saturating_add(u64::from(self.sound));
        self.erased = self.erased.saturating_add(u64::from(link.salt.is_none()));
        (self.last, self.previous) = (sequence, link.hash.clone());
        faults.extend(own);
        faults
    }

    fn gap_before(&self, sequence: u64) -> Option<ChainFault> {
        let first = self.last.saturating_add(1);
        (sequence > first).then(|| ChainFault::Missing { first, last: sequence.saturating_sub(1) })
    }

    /// Holds the end against the head as it was read before the first entry: what is written meanwhile lies beyond it, so
    /// hand in no entry after the head's.
    pub fn end(&self, head: Option<&ChainHead>) -> Option<ChainFault> {
        let Some(head) = head else { return (self.last > 0).then_some(ChainFault::Head) };
        if self.key.seal(head.sequence, &head.hash) != head.seal {
            return Some(ChainFault::Head);
        }
        let cut = self.gap_before(head.sequence.saturating_add(1));
        cut.or_else(|| {
            (self.last != head.sequence || (self.sound && self.previous != head.hash))
                .then_some(ChainFault::Head)
        })
    }

    /// How many entries were found as they were written, where they were written.
    pub const fn verified(&self) -> u64 {
        self.verified
    }

    /// How many entries have no personal part any more.
    pub const fn erased(&self) -> u64 {
        self.erased
    }
}

#[cfg(test)]
mod tests {
    use super::super::AuditAction;
    use super::*;
    use crate::time::Timestamp;

    fn key() -> ChainKey {
        ChainKey::derive(b"a secret key")
    }

    fn entry(number: u8) -> AuditEntry {
        AuditEntry {
            id: Uuid::from_u128(number.into()),
            at: Timestamp::from_millis(number.into()),
            merchant: None,
            who: String::from("ana@loja.com.br"),
            from: String::from("203.0.113.7"),
            action: AuditAction::KeyRevoked,
            subject: String::from("key"),
            before: Some(String::from("live")),
            after: None,
        }
    }

    fn log() -> (Vec<ChainedEntry>, ChainHead) {
        let (mut log, mut head) = (Vec::new(), None);
        for number in 1..=6 {
            let next = ChainedEntry::after(head.as_ref(), entry(number), format!("salt {number}"), &key());
            head = Some(ChainHead::of(&next.link, &key()));
            log.push(next);
        }
        (log, head.unwrap())
    }

    fn faults(log: &[ChainedEntry], head: Option<&ChainHead>) -> Vec<ChainFault> {
        let mut check = ChainCheck::new(key());
        let mut faults: Vec<_> = log.iter().flat_map(|entry| check.next(entry)).collect();
        faults.extend(check.end(head));
        faults
    }

    #[test]
    fn an_untouched_log_is_clean_and_counted() {
        let (log, head) = log();
        assert_eq!(faults(&log, Some(&head)), []);
        assert_eq!(faults(&[], None), []);
        let mut check = ChainCheck::new(key());
        log.iter().for_each(|entry| assert_eq!(check.next(entry), []));
        assert_eq!((check.verified(), check.erased()), (6, 0));
    }

    #[test]
    fn each_changed_field_is_found_at_its_entry_alone() {
        let changes: [fn(&mut ChainedEntry); 11] = [
            |it| it.entry.id = Uuid::from_u128(77),
            |it| it.entry.at = Timestamp::from_millis(77),
            |it| it.entry.merchant = Some(crate::identity::MerchantId::new("")),
            |it| it.entry.who.push('x'),
            |it| it.entry.from.clear(),
            |it| it.entry.action = AuditAction::KeyCreated,
            |it| it.entry.subject.push('x'),
            |it| it.entry.before = None,
            |it| it.entry.after = Some(String::new()),
            |it| it.link.salt = None,
            |it| it.link.personal.clear(),
        ];
        for change in changes {
            let (mut log, head) = log();
            change(&mut log[2]);
            let id = log[2].entry.id;
            assert_eq!(faults(&log, Some(&head)), [ChainFault::Changed { sequence: 3, id }]);
        }
    }

    #[test]
    fn swapped_entries_are_found_both() {
        let (mut log, head) = log();
        log.swap(2, 3);
        (log[2].link.sequence, log[3].link.sequence) = (3, 4);
        let [first, second] =
            [(3, 4), (4, 3)].map(|(sequence, id)| ChainFault::Swapped { sequence, id: Uuid::from_u128(id) });
        assert_eq!(faults(&log, Some(&head)), [first, second]);
    }

    #[test]
    fn missing_entries_are_found_at_the_start_between_and_at_the_end() {
        for (gone, first, last) in [(0..2, 1, 2), (2..3, 3, 3), (4..6, 5, 6), (0..6, 1, 6)] {
            let (mut log, head) = log();
            log.drain(gone);
            assert_eq!(faults(&log, Some(&head)), [ChainFault::Missing { first, last }]);
        }
    }

    #[test]
    fn a_removed_entry_is_found_although_the_later_ones_are_numbered_anew() {
        let (mut log, head) = log();
        log.remove(4);
        log[4].link.sequence = 5;
        let faults = faults(&log, Some(&head));
        assert_eq!(faults[0], ChainFault::Swapped { sequence: 5, id: Uuid::from_u128(6) });
        assert_eq!(faults[1], ChainFault::Missing { first: 6, last: 6 });
    }

    #[test]
    fn a_head_that_is_absent_forged_or_old_is_found() {
        let (log, head) = log();
        let forged = ChainHead { sequence: 4, hash: log[3].link.hash.clone(), seal: head.seal.clone() };
        let old = ChainHead::of(&log[3].link, &key());
        for (log, head) in [(&log[..], None), (&log[..4], Some(&forged)), (&log[..], Some(&old))] {
            assert_eq!(faults(log, head), [ChainFault::Head]);
        }
    }

    #[test]
    fn an_erased_entry_says_nothing_of_people_and_the_log_stays_clean() {
        let (mut log, head) = log();
        log[2] = log[2].clone().erased();
        let text = serde_json::to_string(&log[2]).unwrap();
        assert!(!["ana", "203.0", "salt", "live"].iter().any(|personal| text.contains(personal)), "{text}");
        assert_eq!(faults(&log, Some(&head)), []);
    }

    #[test]
    fn another_key_fits_no_entry() {
        let (log, head) = log();
        let mut check = ChainCheck::new(ChainKey::derive(b"another"));
        assert!(log.iter().all(|entry| !check.next(entry).is_empty()));
        assert_eq!(check.end(Some(&head)), Some(ChainFault::Head));
    }
}
