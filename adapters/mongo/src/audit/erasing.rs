//! Erasing what the audit log says of people.

use bson::{Bson, Document, RawDocumentBuf, doc};
use mongodb::Collection;
use mongodb::options::FindOptions;
use quita_domain::audit::AuditErasure;
use quita_ports::StoreError;

use crate::failure::within_time;
use crate::indexes::{DONE_BY, DONE_TO, OF_SUBJECT, SEQUENCE, named};
use crate::reading::find_all;
use quita_stored_form::{signed, signed_limit};

/// Erases at most `limit` parts of each kind, and tells how many.
pub(super) async fn erase(
    audit: &Collection<RawDocumentBuf>,
    what: &AuditErasure,
    limit: usize,
) -> Result<u64, StoreError> {
    const CONTENT: &str = "parts.content";
    const INITIATOR: &str = "parts.initiator";
    const PERSON: &str = "parts.person";
    match what {
        AuditErasure::ContentOf(subject) => {
            let filter = doc! { "subject": subject, CONTENT: { "$exists": true } };
            take(audit, CONTENT, (filter, OF_SUBJECT), limit).await
        }
        AuditErasure::ContentAt(places) => {
            let places: Vec<_> = places.iter().map(|place| Bson::from(signed(*place))).collect();
            let filter = doc! { "sequence": { "$in": places }, CONTENT: { "$exists": true } };
            take(audit, CONTENT, (filter, SEQUENCE), limit).await
        }
        AuditErasure::Person(person) => {
            let (did, was) =
                (doc! { "parts.initiator.who": person }, doc! { "parts.person.subject": person });
            let did = take(audit, INITIATOR, (did, DONE_BY), limit).await?;
            Ok(did.saturating_add(take(audit, PERSON, (was, DONE_TO), limit).await?))
        }
    }
}

/// Takes one part of the first entries that an index finds.
async fn take(
    audit: &Collection<RawDocumentBuf>,
    part: &str,
    (filter, index): (Document, &str),
    limit: usize,
) -> Result<u64, StoreError> {
    let options = FindOptions::builder()
        .projection(doc! { "_id": 1 })
        .limit(signed_limit(limit))
        .hint(named(index))
        .build();
    let nameless = |_| StoreError::Unreadable("an entry of the audit log has no id".into());
    let id = |found: &bson::RawDocument| {
        let id = found.get("_id").ok().flatten().map(Bson::try_from);
        id.transpose().map_err(nameless)
    };
    let ids: Vec<Bson> = find_all(audit, filter, options, id).await?.into_iter().flatten().collect();
    if ids.is_empty() {
        return Ok(0);
    }
    let taken = audit.update_many(doc! { "_id": { "$in": ids } }, doc! { "$unset": { part: "" } });
    Ok(within_time(taken).await?.modified_count)
}
