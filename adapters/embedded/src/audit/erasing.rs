//! Erasing what the audit log says of people.

use quita_domain::audit::AuditErasure;
use rusqlite::Transaction;

use crate::failure::Failure;
use quita_stored_form::signed;

const OF_SUBJECT: &str = "DELETE FROM audit_contents WHERE sequence IN (SELECT sequence FROM audit \
    JOIN audit_contents USING (sequence) WHERE audit.subject = ?1 LIMIT ?2)";
const AT_PLACE: &str = "DELETE FROM audit_contents WHERE sequence = ?1";
const DONE_BY: &str = "DELETE FROM audit_initiators WHERE sequence IN \
    (SELECT sequence FROM audit_initiators WHERE who = ?1 LIMIT ?2)";
const DONE_TO: &str = "DELETE FROM audit_persons WHERE sequence IN \
    (SELECT sequence FROM audit_persons WHERE subject = ?1 LIMIT ?2)";

/// Erases at most `limit` parts of each kind, and tells how many.
pub(super) fn erase(transaction: &Transaction<'_>, what: &AuditErasure, limit: i64) -> Result<u64, Failure> {
    let delete = |sql: &str, of: &str| Ok(transaction.prepare_cached(sql)?.execute((of, limit))?);
    let erased: Result<usize, Failure> = match what {
        AuditErasure::ContentOf(subject) => delete(OF_SUBJECT, subject),
        AuditErasure::ContentAt(places) => {
            let mut statement = transaction.prepare_cached(AT_PLACE)?;
            let mut erased = 0_usize;
            for place in places {
                if i64::try_from(erased).is_ok_and(|erased| erased < limit) {
                    erased = erased.saturating_add(statement.execute([signed(*place)])?);
                }
            }
            Ok(erased)
        }
        AuditErasure::Person(person) => Ok(delete(DONE_BY, person)?.saturating_add(delete(DONE_TO, person)?)),
    };
    Ok(u64::try_from(erased?).unwrap_or(u64::MAX))
}
