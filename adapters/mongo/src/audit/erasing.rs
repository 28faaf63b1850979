//! Erasing personal data from the audit log, with the entry that accounts for it.

use bson::{Bson, Document, RawDocument, doc};
use mongodb::options::FindOptions;
use quita_domain::audit::AuditErasure;
use quita_domain::audit::chain::{ChainKey, EntryPart, ErasedParts, NewAuditEntry};
use quita_ports::StoreError;

use super::sequence_of;
use crate::MongoStore;
use crate::failure::within_time;
use crate::indexes::{AUDIT, DONE_BY, DONE_TO, OF_SUBJECT, SEQUENCE, named};
use crate::reading::find_all;
use quita_stored_form::rules::entry_exists;
use quita_stored_form::{signed, signed_limit};

impl MongoStore {
    /// Erases at most `limit` parts of each kind, and returns their number.
    pub(super) async fn erase(
        &self,
        what: &AuditErasure,
        limit: usize,
        account: &NewAuditEntry,
        key: &ChainKey,
    ) -> Result<u64, StoreError> {
        // The erasure was requested before, and the answer was lost.
        if let Some(known) = self.entry_with_id(account.entry.id).await? {
            let accounted = known.accounted().ok_or_else(|| entry_exists(known.id))?;
            // The node may have died between the entry and the erasure, so the parts are removed again; absent ones do
            // no harm.
            self.take_parts(&accounted).await?;
            return Ok(accounted.count());
        }
        let mut parts = ErasedParts::default();
        for kind in kinds(what) {
            self.find_parts(kind, limit, &mut parts).await?;
        }
        if parts.is_empty() {
            return Ok(0);
        }
        // In this order, a part that is gone always has an entry about it, even if this node dies between the two
        // steps.
        self.append(&account.accounting_for(&parts), key).await?;
        self.take_parts(&parts).await?;
        Ok(parts.count())
    }

    /// Finds one kind of part in the first entries that have it.
    async fn find_parts(
        &self,
        PartKind { part, filter, index }: PartKind,
        limit: usize,
        parts: &mut ErasedParts,
    ) -> Result<(), StoreError> {
        let options = FindOptions::builder()
            .projection(doc! { "_id": 0, "sequence": 1 })
            .limit(signed_limit(limit))
            .hint(named(index))
            .build();
        let place = |found: &RawDocument| sequence_of(found);
        let places = find_all(&self.collection(AUDIT), filter, options, place).await?;
        places.into_iter().for_each(|place| parts.insert(part, place));
        Ok(())
    }

    /// Removes these parts from their entries.
    async fn take_parts(&self, parts: &ErasedParts) -> Result<(), StoreError> {
        for part in EntryPart::ALL {
            // Ranges keep the query small: an erasure may concern thousands of entries in a row.
            let ranges = parts.ranges().filter(|(of, ..)| *of == part);
            let ranges: Vec<_> = ranges.map(|(_, first, last)| within(first, last)).collect();
            if ranges.is_empty() {
                continue;
            }
            let change = self.form.with(doc! { "$unset": { field_of(part): "" } });
            let audit = self.collection(AUDIT);
            within_time(audit.update_many(doc! { "$or": ranges }, change).hint(named(SEQUENCE))).await?;
        }
        Ok(())
    }
}

fn within(first: u64, last: u64) -> Document {
    doc! { "sequence": { "$gte": signed(first), "$lte": signed(last) } }
}

/// One kind of part, in the entries that a filter finds along an index.
struct PartKind {
    part: EntryPart,
    filter: Document,
    index: &'static str,
}

fn kinds(what: &AuditErasure) -> Vec<PartKind> {
    let content = field_of(EntryPart::Content);
    match what {
        AuditErasure::ContentOf(subjects) => {
            let filter = doc! { "subject": { "$in": subjects }, content: { "$exists": true } };
            vec![PartKind { part: EntryPart::Content, filter, index: OF_SUBJECT }]
        }
        AuditErasure::ContentAt(places) => {
            let places: Vec<_> = places.iter().map(|place| Bson::from(signed(*place))).collect();
            let filter = doc! { "sequence": { "$in": places }, content: { "$exists": true } };
            vec![PartKind { part: EntryPart::Content, filter, index: SEQUENCE }]
        }
        AuditErasure::Person(person) => vec![
            PartKind {
                part: EntryPart::Initiator,
                filter: doc! { "parts.initiator.who": person },
                index: DONE_BY,
            },
            PartKind {
                part: EntryPart::Person,
                filter: doc! { "parts.person.subject": person },
                index: DONE_TO,
            },
        ],
    }
}

const fn field_of(part: EntryPart) -> &'static str {
    match part {
        EntryPart::Initiator => "parts.initiator",
        EntryPart::Person => "parts.person",
        EntryPart::Content => "parts.content",
    }
}
