//! The audit log.

use async_trait::async_trait;
use quita_domain::audit::chain::{
    ChainHead, ChainKey, ChainPlace, ChainedEntry, EntryPart, ErasedParts, NewAuditEntry,
};
use quita_domain::audit::{AuditCursor, AuditErasure, AuditScope};
use quita_ports::{AuditRead, AuditStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{Records, last_by, taken};

#[async_trait]
impl<C: Connection> AuditStore for MemoryStore<C> {
    async fn begin_audit(&self, head: &ChainHead) -> Result<(), StoreError> {
        self.0
            .change("begin_audit", |records| {
                records.audit_head.get_or_insert_with(|| head.clone());
                Ok(())
            })
            .await
    }

    async fn append_audit(&self, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, StoreError> {
        self.0.change("append_audit", |records| append(records, new, key)).await
    }

    async fn audit_head(&self) -> Result<Option<ChainHead>, StoreError> {
        self.0.read("audit_head", |records| Ok(records.audit_head.clone())).await
    }

    async fn chained_audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRead>, StoreError> {
        self.0
            .read("chained_audit", |records| {
                let later = records.audit.iter().filter(|(place, _)| **place > after);
                Ok(later.take(limit).map(|(place, entry)| (*place, Ok(entry.clone()))).collect())
            })
            .await
    }

    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<ChainedEntry>, StoreError> {
        let is_shown = |entry: &ChainedEntry| match scope {
            AuditScope::Merchant(merchant) => entry.merchant.as_ref() == Some(merchant),
            AuditScope::Everything => true,
        };
        let is_after =
            |entry: &ChainedEntry| after.is_none_or(|last| (entry.at, entry.id) < (last.at, last.id));
        self.0
            .read("audit", |records| {
                let found = records.audit.values().filter(|entry| is_shown(entry) && is_after(entry));
                Ok(last_by(found, |entry| (entry.at, entry.id), limit))
            })
            .await
    }

    async fn erase_audit(
        &self,
        what: &AuditErasure,
        limit: usize,
        account: &NewAuditEntry,
        key: &ChainKey,
    ) -> Result<u64, StoreError> {
        self.0
            .change("erase_audit", |records| {
                if let Some(known) = records.audit.values().find(|known| known.id == account.entry.id) {
                    return known.accounted().map(|parts| parts.count()).ok_or_else(|| taken(known.id));
                }
                let erased = erase(records, what, limit);
                if !erased.is_empty() {
                    append(records, &account.accounting_for(&erased), key)?;
                }
                Ok(erased.count())
            })
            .await
    }
}

fn append(records: &mut Records, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, StoreError> {
    // The same entry is appended again if its answer was lost.
    if let Some(known) = records.audit.values().find(|known| known.id == new.entry.id) {
        return if known.was(&new.entry) { Ok(known.position()) } else { Err(taken(known.id)) };
    }
    let last = records.audit.last_key_value().map_or(0, |(last, _)| *last);
    let chained = ChainedEntry::after(records.audit_head.as_ref(), last, new, key);
    let place = chained.position();
    records.audit_head = Some(ChainHead::of(&chained, key));
    records.audit.insert(chained.sequence, chained);
    Ok(place)
}

fn erase(records: &mut Records, what: &AuditErasure, limit: usize) -> ErasedParts {
    let mut erased = ErasedParts::default();
    let mut counts = [0_usize; 2];
    let mut take = |kind: usize, is_there: bool, part: EntryPart, place: u64| {
        let count = counts.get_mut(kind).filter(|count| is_there && **count < limit);
        let is_taken = count.map(|count| *count += 1).is_some();
        if is_taken {
            erased.insert(part, place);
        }
        is_taken
    };
    for (place, entry) in &mut records.audit {
        let (is_content, person) = match what {
            AuditErasure::ContentOf(subjects) => {
                (entry.subject.as_ref().is_some_and(|of| subjects.contains(of)), None)
            }
            AuditErasure::ContentAt(places) => (places.contains(place), None),
            AuditErasure::Person(person) => (false, Some(person)),
        };
        let did = entry.initiator.as_ref();
        let was = entry.person.as_ref();
        let is_by = did.is_some_and(|part| Some(&part.who) == person);
        let is_of = was.is_some_and(|part| Some(&part.subject) == person);
        if take(0, is_content && entry.content.is_some(), EntryPart::Content, *place) {
            entry.content = None;
        }
        if take(0, is_by, EntryPart::Initiator, *place) {
            entry.initiator = None;
        }
        if take(1, is_of, EntryPart::Person, *place) {
            entry.person = None;
        }
    }
    erased
}
