//! Erasing personal data from the audit log.

use quita_domain::audit::AuditErasure;
use quita_domain::audit::chain::{EntryPart, ErasedParts};
use rusqlite::{Params, Transaction};

use crate::failure::Failure;
use quita_stored_form::{signed, unsigned};

const OF_SUBJECT: &str = "SELECT sequence FROM audit JOIN audit_contents USING (sequence) \
    WHERE audit.subject = ?1 LIMIT ?2";
const AT_PLACE: &str = "SELECT sequence FROM audit_contents WHERE sequence = ?1 LIMIT ?2";
const DONE_BY: &str = "SELECT sequence FROM audit_initiators WHERE who = ?1 LIMIT ?2";
const DONE_TO: &str = "SELECT sequence FROM audit_persons WHERE subject = ?1 LIMIT ?2";

/// Erases at most `limit` parts of each kind, and returns them.
pub(super) fn erase(
    transaction: &Transaction<'_>,
    what: &AuditErasure,
    limit: i64,
) -> Result<ErasedParts, Failure> {
    let mut erased = ErasedParts::default();
    match what {
        AuditErasure::ContentOf(subjects) => {
            for subject in subjects {
                let room = limit.saturating_sub(signed(erased.count()));
                let found = places(transaction, OF_SUBJECT, (subject, room))?;
                take(transaction, EntryPart::Content, &found, &mut erased)?;
            }
        }
        AuditErasure::ContentAt(wanted) => {
            for place in wanted {
                let room = limit.saturating_sub(signed(erased.count()));
                let found = places(transaction, AT_PLACE, (signed(*place), room))?;
                take(transaction, EntryPart::Content, &found, &mut erased)?;
            }
        }
        AuditErasure::Person(person) => {
            let found = places(transaction, DONE_BY, (person, limit))?;
            take(transaction, EntryPart::Initiator, &found, &mut erased)?;
            let found = places(transaction, DONE_TO, (person, limit))?;
            take(transaction, EntryPart::Person, &found, &mut erased)?;
        }
    }
    Ok(erased)
}

fn places(transaction: &Transaction<'_>, sql: &str, bounds: impl Params) -> Result<Vec<i64>, Failure> {
    let mut statement = transaction.prepare_cached(sql)?;
    let found = statement.query_map(bounds, |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Removes one part from the entries at these places.
fn take(
    transaction: &Transaction<'_>,
    part: EntryPart,
    places: &[i64],
    erased: &mut ErasedParts,
) -> Result<(), Failure> {
    let mut delete = transaction.prepare_cached(match part {
        EntryPart::Initiator => "DELETE FROM audit_initiators WHERE sequence = ?1",
        EntryPart::Person => "DELETE FROM audit_persons WHERE sequence = ?1",
        EntryPart::Content => "DELETE FROM audit_contents WHERE sequence = ?1",
    })?;
    for place in places {
        if delete.execute([place])? > 0 {
            erased.insert(part, unsigned(*place));
        }
    }
    Ok(())
}
