//! Entries of the audit log as rows.

use quita_domain::audit::AuditAction;
use quita_domain::audit::chain::{ChainedEntry, Content, Initiator, Links, Person};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::{AuditRead, StoreError};
use rusqlite::{OptionalExtension, Params, Row, Transaction};
use uuid::Uuid;

use crate::failure::Failure;
use quita_stored_form::{signed, unsigned};

/// Columns that are read.
pub(super) const COLUMNS: &str = "SELECT sequence, id, at, merchant, action, subject, \
    initiator, person, content, body, place, hash FROM audit";

/// A page in the order of the chain.
pub(super) const IN_ORDER: &str = "SELECT sequence, id, at, merchant, action, subject, \
    initiator, person, content, body, place, hash FROM audit WHERE sequence > ?1 ORDER BY sequence LIMIT ?2";

/// Returns the entries of a query, in order.
pub(super) fn find(
    transaction: &Transaction<'_>,
    sql: &str,
    bounds: impl Params,
) -> Result<Vec<AuditRead>, Failure> {
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query(bounds)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let sequence: i64 = row.get(0)?;
        let entry = match entry_in(row) {
            Ok(Some(entry)) => Ok(with_parts(transaction, entry)?),
            // An unreadable entry keeps its place, so that it neither hides the others nor looks like a gap in the
            // chain.
            Ok(None) | Err(_) => Err(unreadable(sequence)),
        };
        found.push((unsigned(sequence), entry));
    }
    Ok(found)
}

/// Returns the entry with this id, if there is one.
pub(super) fn with_id(transaction: &Transaction<'_>, id: Uuid) -> Result<Option<ChainedEntry>, Failure> {
    let sql = format!("{COLUMNS} WHERE id = ?1");
    let found = find(transaction, &sql, [id.as_bytes()])?.pop();
    Ok(found.map(|(_, entry)| entry).transpose()?)
}

fn unreadable(sequence: i64) -> StoreError {
    StoreError::Unreadable(format!("entry {sequence} of the audit log can't be decoded"))
}

/// Reads an entry from a row. Returns `None` if it was not written by this service.
fn entry_in(row: &Row<'_>) -> rusqlite::Result<Option<ChainedEntry>> {
    let (id, action): (Vec<u8>, String) = (row.get(1)?, row.get(4)?);
    let (Ok(id), Some(action)) = (Uuid::from_slice(&id), AuditAction::parse(&action)) else {
        return Ok(None);
    };
    let merchant: Option<String> = row.get(3)?;
    Ok(Some(ChainedEntry {
        sequence: unsigned(row.get(0)?),
        id,
        at: Timestamp::from_millis(row.get(2)?),
        merchant: merchant.map(MerchantId::new),
        action,
        subject: row.get(5)?,
        links: Links {
            initiator: row.get(6)?,
            person: row.get(7)?,
            content: row.get(8)?,
            body: row.get(9)?,
            place: row.get(10)?,
            hash: row.get(11)?,
        },
        initiator: None,
        person: None,
        content: None,
    }))
}

/// Adds the parts that are not erased.
fn with_parts(transaction: &Transaction<'_>, entry: ChainedEntry) -> Result<ChainedEntry, Failure> {
    let at = [signed(entry.sequence)];
    let mut find =
        transaction.prepare_cached("SELECT salt, who, address FROM audit_initiators WHERE sequence = ?1")?;
    let read = |row: &Row<'_>| Ok(Initiator { salt: row.get(0)?, who: row.get(1)?, from: row.get(2)? });
    let initiator = find.query_row(at, read).optional()?;
    let mut find =
        transaction.prepare_cached("SELECT salt, subject FROM audit_persons WHERE sequence = ?1")?;
    let read = |row: &Row<'_>| Ok(Person { salt: row.get(0)?, subject: row.get(1)? });
    let person = find.query_row(at, read).optional()?;
    let mut find =
        transaction.prepare_cached("SELECT salt, before, after FROM audit_contents WHERE sequence = ?1")?;
    let read = |row: &Row<'_>| Ok(Content { salt: row.get(0)?, before: row.get(1)?, after: row.get(2)? });
    let content = find.query_row(at, read).optional()?;
    Ok(ChainedEntry { initiator, person, content, ..entry })
}

/// Stores an entry at its place, which must be free.
pub(super) fn insert(transaction: &Transaction<'_>, entry: &ChainedEntry) -> Result<(), Failure> {
    let sequence = signed(entry.sequence);
    let links = &entry.links;
    let sql = "INSERT INTO audit (sequence, id, at, merchant, action, subject, \
        initiator, person, content, body, place, hash) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let merchant = entry.merchant.as_ref().map(MerchantId::as_str);
    let inserted = transaction.prepare_cached(sql)?.execute((
        sequence,
        entry.id.as_bytes(),
        entry.at.millis(),
        merchant,
        entry.action.as_str(),
        &entry.subject,
        &links.initiator,
        &links.person,
        &links.content,
        &links.body,
        &links.place,
        &links.hash,
    ))?;
    if inserted != 1 {
        return Err(StoreError::Unavailable(format!("place {sequence} of the audit log is taken")).into());
    }
    if let Some(Initiator { salt, who, from }) = &entry.initiator {
        let sql = "INSERT INTO audit_initiators (sequence, salt, who, address) VALUES (?1, ?2, ?3, ?4)";
        transaction.prepare_cached(sql)?.execute((sequence, salt, who, from))?;
    }
    if let Some(Person { salt, subject }) = &entry.person {
        let sql = "INSERT INTO audit_persons (sequence, salt, subject) VALUES (?1, ?2, ?3)";
        transaction.prepare_cached(sql)?.execute((sequence, salt, subject))?;
    }
    if let Some(Content { salt, before, after }) = &entry.content {
        let sql = "INSERT INTO audit_contents (sequence, salt, before, after) VALUES (?1, ?2, ?3, ?4)";
        transaction.prepare_cached(sql)?.execute((sequence, salt, before, after))?;
    }
    Ok(())
}
