//! Erasing what the audit log says of people, with the entry that accounts for it.

use async_trait::async_trait;
use bson::{Bson, Document, RawDocumentBuf, doc};
use mongodb::{ClientSession, Collection, Database};
use quita_domain::audit::AuditErasure;
use quita_domain::audit::chain::{ChainKey, EntryPart, ErasedParts, NewAuditEntry};

use super::appending::{Append, Change, Failed, with_id};
use super::sequence_of;
use crate::form::Form;
use crate::indexes::{AUDIT, DONE_BY, DONE_TO, OF_SUBJECT, SEQUENCE, named};
use quita_stored_form::rules::entry_exists;
use quita_stored_form::{signed, signed_limit};

/// At most `limit` parts of each kind, and the entry that accounts for them.
pub(super) struct Erase<'a> {
    pub(super) what: &'a AuditErasure,
    pub(super) limit: usize,
    pub(super) account: &'a NewAuditEntry,
    pub(super) key: &'a ChainKey,
    pub(super) form: &'a Form,
}

#[async_trait]
impl Change for Erase<'_> {
    type Done = u64;

    fn entry(&self) -> &NewAuditEntry {
        self.account
    }

    async fn make(&self, database: &Database, session: &mut ClientSession) -> Result<u64, Failed> {
        // It was done, and the answer was lost.
        if let Some(known) = with_id(database, session, self.account).await? {
            let accounted = known.accounted().ok_or_else(|| entry_exists(known.id))?;
            return Ok(accounted.count());
        }
        let audit = database.collection(AUDIT);
        let mut erased = ErasedParts::default();
        for kind in kinds(self.what) {
            self.take((&audit, session), kind, &mut erased).await?;
        }
        if !erased.is_empty() {
            let account = self.account.accounting_for(&erased);
            Append { new: &account, key: self.key, form: self.form }.make(database, session).await?;
        }
        Ok(erased.count())
    }
}

/// One kind of part, of the entries that a filter finds along an index.
struct Kind {
    part: EntryPart,
    filter: Document,
    index: &'static str,
}

fn kinds(what: &AuditErasure) -> Vec<Kind> {
    let content = field_of(EntryPart::Content);
    match what {
        AuditErasure::ContentOf(subjects) => {
            let filter = doc! { "subject": { "$in": subjects }, content: { "$exists": true } };
            vec![Kind { part: EntryPart::Content, filter, index: OF_SUBJECT }]
        }
        AuditErasure::ContentAt(places) => {
            let places: Vec<_> = places.iter().map(|place| Bson::from(signed(*place))).collect();
            let filter = doc! { "sequence": { "$in": places }, content: { "$exists": true } };
            vec![Kind { part: EntryPart::Content, filter, index: SEQUENCE }]
        }
        AuditErasure::Person(person) => vec![
            Kind {
                part: EntryPart::Initiator,
                filter: doc! { "parts.initiator.who": person },
                index: DONE_BY,
            },
            Kind { part: EntryPart::Person, filter: doc! { "parts.person.subject": person }, index: DONE_TO },
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

impl Erase<'_> {
    /// Takes one part of the first entries that are found.
    async fn take(
        &self,
        (audit, session): (&Collection<RawDocumentBuf>, &mut ClientSession),
        Kind { part, filter, index }: Kind,
        erased: &mut ErasedParts,
    ) -> Result<(), Failed> {
        let find = audit.find(filter).projection(doc! { "_id": 0, "sequence": 1 });
        let find = find.limit(signed_limit(self.limit)).hint(named(index));
        let mut found = find.session(&mut *session).await?;
        let mut places = Vec::new();
        while found.advance(&mut *session).await? {
            places.push(sequence_of(found.current())?);
        }
        if places.is_empty() {
            return Ok(());
        }
        let taken: Vec<_> = places.iter().map(|place| Bson::from(signed(*place))).collect();
        let taken = doc! { "sequence": { "$in": taken } };
        let change = self.form.with(doc! { "$unset": { field_of(part): "" } });
        let taken = audit.update_many(taken, change).hint(named(SEQUENCE));
        taken.session(&mut *session).await?;
        places.into_iter().for_each(|place| erased.insert(part, place));
        Ok(())
    }
}
