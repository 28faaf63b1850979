//! Verification of a log from its first entry.

use std::fmt;

use uuid::Uuid;

use super::entry::ChainedEntry;
use super::erased::{EntryPart, ErasedParts};
use super::head::{ChainHead, ChainPlace};
use super::key::ChainKey;
use crate::audit::AuditAction;

/// Fault of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainFault {
    /// The content of an entry was changed.
    Changed {
        /// Its index.
        sequence: u64,
        /// Its id.
        id: Uuid,
    },
    /// An entry is not at its original index, or not after its original predecessor.
    Moved {
        /// Index at which it is.
        sequence: u64,
        /// Its id.
        id: Uuid,
    },
    /// The record is not an entry in the form that this service writes.
    Unreadable {
        /// Its index.
        sequence: u64,
    },
    /// Entries are missing.
    Missing {
        /// First index without an entry.
        first: u64,
        /// Last index without an entry.
        last: u64,
    },
    /// The record of the log's end is lost.
    NoHead,
    /// The record of the log's end was changed, or restored to an earlier state.
    WrongHead,
    /// The entry at a position that was seen before is missing or different.
    NotContinued(ChainPlace),
    /// Parts of entries are erased, and no entry accounts for them.
    Unaccounted {
        /// The kind of part.
        part: EntryPart,
        /// First index without it.
        first: u64,
        /// Last index without it.
        last: u64,
    },
    /// A running node had seen a later end, or a different entry at an index, and recorded that in this entry.
    CutFound {
        /// Index of that entry.
        sequence: u64,
        /// Position that was seen.
        seen: String,
    },
}

/// Names what an entry no longer states.
const fn words_for(part: EntryPart) -> &'static str {
    match part {
        EntryPart::Initiator => "who did it",
        EntryPart::Person => "to whom it was done",
        EntryPart::Content => "what it was before and became",
    }
}

impl fmt::Display for ChainFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { sequence, id } => write!(f, "entry {sequence} ({id}) was changed"),
            Self::Moved { sequence, id } => {
                write!(f, "entry {sequence} ({id}) was written at another place, or behind another entry")
            }
            Self::Unreadable { sequence } => write!(f, "entry {sequence} was changed: it can't be read"),
            Self::Missing { first, last } if first == last => write!(f, "entry {first} is missing"),
            Self::Missing { first, last } => write!(f, "entries {first} to {last} are missing"),
            Self::NoHead => f.write_str("the record of the log's end is missing"),
            Self::WrongHead => {
                f.write_str("the record of the log's end was changed or rolled back to an earlier one")
            }
            Self::NotContinued(place) => write!(f, "the log no longer continues from {place}"),
            Self::Unaccounted { part, first, last } if first == last => {
                write!(
                    f,
                    "entry {first} no longer states {}, and no entry accounts for that",
                    words_for(*part)
                )
            }
            Self::Unaccounted { part, first, last } => {
                let part = words_for(*part);
                write!(f, "entries {first} to {last} no longer state {part}, and no entry accounts for that")
            }
            Self::CutFound { sequence, seen } => {
                write!(
                    f,
                    "entry {sequence} reports that the log no longer continued from {seen}, which a node had seen"
                )
            }
        }
    }
}

/// Verifier of a log from its first entry, in pages of any size. Keeps little more than one entry's hash.
#[derive(Debug)]
pub struct ChainCheck {
    key: ChainKey,
    seen_before: Option<ChainPlace>,
    last: ChainPlace,
    /// Position before the last one, if an entry was checked.
    before_last: Option<ChainPlace>,
    /// True if the next entry can be checked against the entry before.
    is_sound: bool,
    read: u64,
    erased: u64,
    /// Erased parts, without those that an entry accounts for.
    unaccounted: ErasedParts,
}

impl ChainCheck {
    /// Starts before the first entry. The log must still contain the position that was seen before.
    pub fn new(key: ChainKey, seen_before: Option<ChainPlace>) -> Self {
        let beginning = ChainHead::beginning(&key).position();
        Self { seen_before, ..Self::going_on(key, beginning) }
    }

    /// Continues after an entry that was checked before.
    pub fn going_on(key: ChainKey, last: ChainPlace) -> Self {
        let unaccounted = ErasedParts::default();
        Self {
            key,
            seen_before: None,
            last,
            before_last: None,
            is_sound: true,
            read: 0,
            erased: 0,
            unaccounted,
        }
    }

    /// Checks the next entry, in index order, and returns the faults up to it.
    pub fn next(&mut self, entry: &ChainedEntry) -> Vec<ChainFault> {
        let mut faults: Vec<_> = self.gap_before(entry.sequence).into_iter().collect();
        // After a gap the hash of the predecessor is unknown, so only content and index are checked.
        self.is_sound &= faults.is_empty();
        let fault = self.fault_of(entry);
        let is_changed = matches!(fault, Some(ChainFault::Changed { .. }));
        faults.extend(fault);
        // After a fault the next entry can't fit, which is not a fault of its own.
        self.is_sound = faults.last().is_none_or(|fault| matches!(fault, ChainFault::Missing { .. }));
        self.move_to(entry.position());
        self.read = self.read.saturating_add(1);
        self.account(entry, is_changed);
        faults.extend(self.cut_found_by(entry));
        faults.extend(self.not_continued());
        faults
    }

    /// Records an index at which there is no readable entry.
    pub fn unreadable(&mut self, sequence: u64) -> Vec<ChainFault> {
        let mut faults: Vec<_> = self.gap_before(sequence).into_iter().collect();
        faults.push(ChainFault::Unreadable { sequence });
        self.is_sound = false;
        self.move_to(ChainPlace { sequence, hash: String::new() });
        self.read = self.read.saturating_add(1);
        faults.extend(self.not_continued());
        faults
    }

    fn move_to(&mut self, place: ChainPlace) {
        self.before_last = Some(std::mem::replace(&mut self.last, place));
    }

    fn fault_of(&self, entry: &ChainedEntry) -> Option<ChainFault> {
        let sequence = entry.sequence;
        let id = entry.id;
        let previous = self.is_sound.then_some(self.last.hash.as_str());
        match (entry.is_as_written(&self.key), entry.is_where_written(previous, &self.key)) {
            (false, _) => Some(ChainFault::Changed { sequence, id }),
            (true, false) => Some(ChainFault::Moved { sequence, id }),
            (true, true) => None,
        }
    }

    /// Counts the erased parts of the entry; those of a changed entry are not known. A genuine entry may account for
    /// erased parts of earlier ones.
    fn account(&mut self, entry: &ChainedEntry, is_changed: bool) {
        // Anyone with write access to the store could add such an entry, but not with the right hashes.
        if let Some(accounted) = entry.accounted()
            && self.is_genuine(entry)
        {
            self.unaccounted.subtract(&accounted);
        }
        for part in entry.erased_parts() {
            self.erased = self.erased.saturating_add(1);
            if !is_changed {
                self.unaccounted.insert(part, entry.sequence);
            }
        }
    }

    fn cut_found_by(&self, entry: &ChainedEntry) -> Option<ChainFault> {
        let tells = entry.action == AuditAction::LogCutFound && self.is_genuine(entry);
        let seen = entry.subject.clone().unwrap_or_default();
        tells.then_some(ChainFault::CutFound { sequence: entry.sequence, seen })
    }

    /// Returns true if the entry was created with the key, for this index.
    fn is_genuine(&self, entry: &ChainedEntry) -> bool {
        entry.is_as_written(&self.key) && entry.is_where_written(None, &self.key)
    }

    fn gap_before(&self, sequence: u64) -> Option<ChainFault> {
        let first = self.last.sequence.saturating_add(1);
        (sequence > first).then(|| ChainFault::Missing { first, last: sequence.saturating_sub(1) })
    }

    /// Compares the position that was seen before, once its index is reached.
    fn not_continued(&mut self) -> Option<ChainFault> {
        let seen = self.seen_before.take_if(|seen| seen.sequence <= self.last.sequence)?;
        (seen != self.last).then_some(ChainFault::NotContinued(seen))
    }

    /// Returns the position of the last entry taken.
    pub const fn last(&self) -> &ChainPlace {
        &self.last
    }

    /// Compares the end with the head. The head was read after the last entry, and before a read found no further
    /// entry.
    pub fn end(&mut self, head: Option<&ChainHead>) -> Vec<ChainFault> {
        let mut faults: Vec<_> = self.at_end(head).into_iter().collect();
        let unaccounted = self.unaccounted.ranges();
        faults.extend(unaccounted.map(|(part, first, last)| ChainFault::Unaccounted { part, first, last }));
        let seen = self.seen_before.take().filter(|seen| *seen != self.last);
        faults.extend(seen.map(ChainFault::NotContinued));
        faults
    }

    /// Compares the end with the head, which was read before a read found no further entry. Ignores positions seen and
    /// erased parts.
    ///
    /// The head may be one entry behind: some stores move it in a separate write.
    pub fn at_end(&self, head: Option<&ChainHead>) -> Option<ChainFault> {
        let Some(head) = head else { return Some(ChainFault::NoHead) };
        if !head.is_sealed_with(&self.key) {
            return Some(ChainFault::WrongHead);
        }
        if self.is_sound && self.before_last.as_ref() == Some(&head.position()) {
            return None;
        }
        let cut = self.gap_before(head.sequence.saturating_add(1));
        let differs = self.last.sequence != head.sequence || (self.is_sound && self.last.hash != head.hash);
        cut.or_else(|| differs.then_some(ChainFault::WrongHead))
    }

    /// Returns the number of entries taken.
    pub const fn read(&self) -> u64 {
        self.read
    }

    /// Returns the number of their erased parts.
    pub const fn erased(&self) -> u64 {
        self.erased
    }

    /// Returns the erased parts that no entry so far accounts for.
    pub const fn unaccounted(&self) -> &ErasedParts {
        &self.unaccounted
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Content, NewAuditEntry, SALT_BYTES, Salts};
    use super::*;
    use crate::audit::{AuditAction, AuditEntry};
    use crate::identity::MerchantId;
    use crate::time::Timestamp;

    fn key() -> ChainKey {
        ChainKey::new([7; 32])
    }

    fn new(number: u8, subject: &str) -> NewAuditEntry {
        let entry = AuditEntry {
            id: Uuid::from_u128(number.into()),
            at: Timestamp::from_millis(number.into()),
            merchant: None,
            who: String::from("ana@loja.com.br"),
            from: String::from("203.0.113.7"),
            action: AuditAction::KeyRevoked,
            subject: subject.into(),
            before: Some(String::from("live")),
            after: None,
        };
        NewAuditEntry { entry, salts: Salts::new([[number; SALT_BYTES]; 3]) }
    }

    fn log() -> (Vec<ChainedEntry>, ChainHead) {
        let mut log = Vec::new();
        let mut head = ChainHead::beginning(&key());
        for number in 1..=6 {
            let new = new(number, if number == 4 { "bia@loja.com.br" } else { "key" });
            let next = ChainedEntry::after(Some(&head), head.sequence, &new, &key());
            head = ChainHead::of(&next, &key());
            log.push(next);
        }
        (log, head)
    }

    fn check(log: &[ChainedEntry], head: Option<&ChainHead>, seen: Option<ChainPlace>) -> Vec<ChainFault> {
        let mut check = ChainCheck::new(key(), seen);
        let mut faults: Vec<_> = log.iter().flat_map(|entry| check.next(entry)).collect();
        faults.extend(check.end(head));
        faults
    }

    fn faults(log: &[ChainedEntry], head: Option<&ChainHead>) -> Vec<ChainFault> {
        check(log, head, None)
    }

    #[test]
    fn an_untouched_log_is_clean_and_counted() {
        let (log, head) = log();
        assert_eq!(faults(&log, Some(&head)), []);
        assert_eq!(faults(&[], Some(&ChainHead::beginning(&key()))), []);
        let mut check = ChainCheck::new(key(), None);
        log.iter().for_each(|entry| assert_eq!(check.next(entry), []));
        assert_eq!((check.read(), check.erased(), check.last().sequence), (6, 0, 6));
    }

    #[test]
    fn each_changed_field_is_found_at_its_entry_alone() {
        let changes: [fn(&mut ChainedEntry); 14] = [
            |it| it.id = Uuid::from_u128(77),
            |it| it.at = Timestamp::from_millis(77),
            |it| it.merchant = Some(MerchantId::new("")),
            |it| it.action = AuditAction::KeyCreated,
            |it| it.subject = Some(String::new()),
            |it| it.subject = None,
            |it| it.initiator.as_mut().unwrap().who.push('x'),
            |it| it.initiator.as_mut().unwrap().from.clear(),
            |it| it.initiator.as_mut().unwrap().salt.clear(),
            |it| it.content.as_mut().unwrap().before = None,
            |it| it.content.as_mut().unwrap().after = Some(String::new()),
            |it| it.links.content = None,
            |it| it.links.initiator.clear(),
            |it| it.links.person = Some(String::new()),
        ];
        for change in changes {
            let (mut log, head) = log();
            change(&mut log[2]);
            let id = log[2].id;
            assert_eq!(faults(&log, Some(&head)), [ChainFault::Changed { sequence: 3, id }]);
        }
    }

    #[test]
    fn a_part_that_was_added_is_found() {
        let (mut log, head) = log();
        log[3].links.content = None;
        log[3].content = None;
        assert_eq!(faults(&log, Some(&head)).len(), 1);
        let (mut log, head) = self::log();
        let content = Content { salt: String::new(), before: None, after: Some(String::from("owner")) };
        log[3].content = Some(content);
        assert_eq!(faults(&log, Some(&head)).len(), 1);
    }

    #[test]
    fn swapped_entries_are_found_both() {
        let (mut log, head) = log();
        log.swap(2, 3);
        (log[2].sequence, log[3].sequence) = (3, 4);
        let [first, second] =
            [(3, 4), (4, 3)].map(|(sequence, id)| ChainFault::Moved { sequence, id: Uuid::from_u128(id) });
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
        log[4].sequence = 5;
        let faults = faults(&log, Some(&head));
        assert_eq!(faults[0], ChainFault::Moved { sequence: 5, id: Uuid::from_u128(6) });
        assert_eq!(faults[1], ChainFault::Missing { first: 6, last: 6 });
    }

    #[test]
    fn a_head_that_is_absent_forged_or_old_is_found() {
        let (log, head) = log();
        let forged = ChainHead { sequence: 4, hash: log[3].links.hash.clone(), seal: head.seal.clone() };
        let old = ChainHead::of(&log[3], &key());
        assert_eq!(faults(&log, None), [ChainFault::NoHead]);
        assert_eq!(faults(&[], None), [ChainFault::NoHead]);
        for (log, head) in [(&log[..4], &forged), (&log[..], &old)] {
            assert_eq!(faults(log, Some(head)), [ChainFault::WrongHead]);
        }
    }

    #[test]
    fn a_head_is_one_entry_behind_at_most_and_moves_to_the_next_one_alone() {
        let (log, head) = log();
        let behind = ChainHead::of(&log[4], &key());
        assert_eq!(faults(&log, Some(&behind)), []);
        assert_eq!(faults(&log[..1], Some(&ChainHead::beginning(&key()))), []);
        assert_eq!(behind.moved_to(&log[5], &key()), Some(head.clone()));
        for other in [&log[3], &log[4]] {
            assert_eq!(behind.moved_to(other, &key()), None);
        }
        assert_eq!(ChainHead::of(&log[3], &key()).moved_to(&log[5], &key()), None);
        let unsealed = ChainHead { seal: head.seal, ..behind.clone() };
        assert_eq!(unsealed.moved_to(&log[5], &key()), None);
        // Nobody without the key can have the head behind an entry of his own.
        let mut forged = log.clone();
        forged[5].subject = Some(String::from("another"));
        assert_eq!(behind.moved_to(&forged[5], &key()), None);
        assert_eq!(faults(&forged, Some(&behind)).len(), 2);
    }

    #[test]
    fn what_is_written_after_the_head_is_gone_tells_where_it_was() {
        let (mut log, head) = log();
        let gone = None;
        let old = Some(ChainHead::of(&log[1], &key()));
        for lost in [gone, old] {
            let next = ChainedEntry::after(lost.as_ref(), 6, &new(7, "key"), &key());
            assert_eq!(next.sequence, 7);
            log.push(next);
            let head = ChainHead::of(&log[6], &key());
            let moved = ChainFault::Moved { sequence: 7, id: Uuid::from_u128(7) };
            assert_eq!(faults(&log, Some(&head)), [moved]);
            log.pop();
        }
        // The last entry is cut off, and the head restored by hand to the one before.
        let lowered = ChainHead { sequence: 5, hash: log[4].links.hash.clone(), seal: head.seal.clone() };
        let next = ChainedEntry::after(Some(&lowered), 5, &new(6, "key"), &key());
        let told =
            faults(&[&log[..5], std::slice::from_ref(&next)].concat(), Some(&ChainHead::of(&next, &key())));
        assert_eq!(told, [ChainFault::Moved { sequence: 6, id: Uuid::from_u128(6) }]);
        // Everything is deleted, and a new log begun.
        let first = ChainedEntry::after(None, 0, &new(1, "key"), &key());
        let anew = ChainHead::of(&first, &key());
        assert_eq!(faults(&[first], Some(&anew)).len(), 1);
        // Cut, but the head is there: the gap stays.
        let next = ChainedEntry::after(Some(&head), 4, &new(7, "key"), &key());
        assert_eq!(next.sequence, 7);
    }

    #[test]
    fn what_is_erased_is_said_nowhere_and_the_log_stays_clean() {
        let (mut log, head) = log();
        for place in [2, 3] {
            (log[place].initiator, log[place].person, log[place].content) = (None, None, None);
            let text = format!("{:?}", log[place]);
            let salt = "03".repeat(SALT_BYTES);
            assert!(!["ana", "bia", "203.0", "live", &salt].iter().any(|told| text.contains(told)), "{text}");
        }
        assert_eq!((log[2].erased_parts().count(), log[3].erased_parts().count()), (2, 3));
        let unaccounted = |part, first, last| ChainFault::Unaccounted { part, first, last };
        let untold = [
            unaccounted(EntryPart::Initiator, 3, 4),
            unaccounted(EntryPart::Person, 4, 4),
            unaccounted(EntryPart::Content, 3, 4),
        ];
        assert_eq!(faults(&log, Some(&head)), untold, "nothing but that it is gone");
        assert!(log[3].was(&new(4, "bia@loja.com.br").entry));
        assert!(!log[3].was(&new(5, "bia@loja.com.br").entry));
    }

    /// Returns the log with one more entry.
    fn appended(
        mut log: Vec<ChainedEntry>,
        action: AuditAction,
        subject: &str,
    ) -> (Vec<ChainedEntry>, ChainHead) {
        let last = log.last().unwrap();
        let mut new = new(9, subject);
        (new.entry.action, new.entry.before) = (action, None);
        let next = ChainedEntry::after(Some(&ChainHead::of(last, &key())), last.sequence, &new, &key());
        let head = ChainHead::of(&next, &key());
        log.push(next);
        (log, head)
    }

    #[test]
    fn what_an_entry_accounts_for_is_clean_and_what_none_does_is_told() {
        let told = |account: &str, action| {
            let (mut log, _) = log();
            (log[2].initiator, log[3].person, log[3].content) = (None, None, None);
            let (log, head) = appended(log, action, account);
            faults(&log, Some(&head))
        };
        let unaccounted = |part, first, last| ChainFault::Unaccounted { part, first, last };
        for action in [AuditAction::LogErased, AuditAction::ErasureAccepted] {
            assert_eq!(told("initiator 3; person 4; content 4", action), []);
            assert_eq!(
                told("initiator 3; content 3-6", action),
                [unaccounted(EntryPart::Person, 4, 4)],
                "a part is no other part"
            );
        }
        assert_eq!(told("initiator 3; person 4; content 4", AuditAction::KeyRevoked).len(), 3);
        assert_eq!(told("nothing", AuditAction::LogErased).len(), 3);
    }

    #[test]
    fn nothing_is_accounted_for_in_advance_nor_by_an_entry_that_was_forged() {
        let (log, _) = log();
        let (log, _) = appended(log, AuditAction::LogErased, "initiator 8");
        let (mut log, head) = appended(log, AuditAction::KeyRevoked, "key");
        log[7].initiator = None;
        let told = [ChainFault::Unaccounted { part: EntryPart::Initiator, first: 8, last: 8 }];
        assert_eq!(faults(&log, Some(&head)), told);
        let (log, _) = self::log();
        let (mut log, head) = appended(log, AuditAction::LogErased, "initiator 2");
        log[2].initiator = None;
        log[6].subject = Some(String::from("initiator 3"));
        let id = log[6].id;
        let told = [
            ChainFault::Changed { sequence: 7, id },
            ChainFault::Unaccounted { part: EntryPart::Initiator, first: 3, last: 3 },
        ];
        assert_eq!(faults(&log, Some(&head)), told);
    }

    #[test]
    fn an_entry_about_a_log_that_was_cut_is_told_for_ever() {
        let (log, _) = log();
        let (log, _) = appended(log, AuditAction::LogCutFound, "9:00");
        let (log, head) = appended(log, AuditAction::KeyRevoked, "key");
        let told = ChainFault::CutFound { sequence: 7, seen: String::from("9:00") };
        assert_eq!(faults(&log, Some(&head)), [told]);
    }

    #[test]
    fn a_check_goes_on_from_an_entry_that_was_checked() {
        let (log, head) = log();
        let mut check = ChainCheck::going_on(key(), log[3].position());
        assert_eq!(check.next(&log[4]), []);
        assert_eq!(check.at_end(Some(&head)), Some(ChainFault::Missing { first: 6, last: 6 }));
        assert_eq!(check.next(&log[5]), []);
        assert_eq!(check.at_end(Some(&head)), None);
        let mut check = ChainCheck::going_on(key(), log[2].position());
        assert_eq!(check.next(&log[4]).len(), 1, "one is missing");
    }

    #[test]
    fn a_log_that_was_seen_must_go_on_from_there() {
        let (log, head) = log();
        let place =
            |entry: &ChainedEntry| ChainPlace { sequence: entry.sequence, hash: entry.links.hash.clone() };
        for seen in [&log[0], &log[3], &log[5]] {
            assert_eq!(check(&log, Some(&head), Some(place(seen))), []);
        }
        let shorter = ChainHead::of(&log[3], &key());
        let seen = place(&log[5]);
        assert_eq!(check(&log[..4], Some(&shorter), Some(seen.clone())), [ChainFault::NotContinued(seen)]);
        let other = ChainPlace { sequence: 3, hash: "0".repeat(64) };
        assert_eq!(check(&log, Some(&head), Some(other.clone())), [ChainFault::NotContinued(other)]);
    }

    #[test]
    fn what_cannot_be_read_is_found_at_its_place_alone() {
        let (log, head) = log();
        let mut check = ChainCheck::new(key(), None);
        let mut faults = Vec::new();
        for entry in &log {
            faults.extend(match entry.sequence {
                3 => check.unreadable(3),
                _ => check.next(entry),
            });
        }
        faults.extend(check.end(Some(&head)));
        assert_eq!(faults, [ChainFault::Unreadable { sequence: 3 }]);
    }

    #[test]
    fn another_key_fits_no_entry() {
        let (log, head) = log();
        let mut check = ChainCheck::new(ChainKey::new([8; 32]), None);
        assert!(log.iter().all(|entry| !check.next(entry).is_empty()));
        assert_eq!(check.end(Some(&head)), [ChainFault::WrongHead]);
    }
}
