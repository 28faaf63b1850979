//! The audit log.

mod erasing;
mod rows;

use async_trait::async_trait;
use quita_domain::audit::chain::{ChainHead, ChainKey, ChainPlace, ChainedEntry, NewAuditEntry};
use quita_domain::audit::{AuditCursor, AuditErasure, AuditScope};
use quita_ports::{AuditRead, AuditStore, StoreError};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Transaction, params_from_iter};

use super::EmbeddedStore;
use super::failure::Failure;
use super::page_query::PageQuery;
use quita_stored_form::rules::entry_exists;
use quita_stored_form::{signed, signed_limit, unsigned};

#[async_trait]
impl AuditStore for EmbeddedStore {
    async fn begin_audit(&self, head: &ChainHead) -> Result<(), StoreError> {
        let head = head.clone();
        self.write(move |transaction| {
            if find_head(transaction)?.is_none() {
                put_head(transaction, &head)?;
            }
            Ok(())
        })
        .await
    }

    async fn append_audit(&self, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, StoreError> {
        let new = new.clone();
        let key = key.clone();
        self.write(move |transaction| append(transaction, &new, &key)).await
    }

    async fn audit_head(&self) -> Result<Option<ChainHead>, StoreError> {
        self.read(find_head).await
    }

    async fn chained_audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRead>, StoreError> {
        let bounds: [Value; 2] = [signed(after).into(), signed_limit(limit).into()];
        self.read(move |transaction| rows::find(transaction, rows::IN_ORDER, params_from_iter(bounds))).await
    }

    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<ChainedEntry>, StoreError> {
        let PageQuery { sql, values } = page(scope, after, limit);
        let found = self.read(move |transaction| rows::find(transaction, &sql, params_from_iter(values)));
        found.await?.into_iter().map(|(_, entry)| entry).collect()
    }

    async fn erase_audit(
        &self,
        what: &AuditErasure,
        limit: usize,
        account: &NewAuditEntry,
        key: &ChainKey,
    ) -> Result<u64, StoreError> {
        let what = what.clone();
        let account = account.clone();
        let key = key.clone();
        self.write(move |transaction| {
            if let Some(known) = rows::with_id(transaction, account.entry.id)? {
                let accounted = known.accounted().ok_or_else(|| entry_exists(known.id))?;
                return Ok(accounted.count());
            }
            // The order only matters on MongoDB: here one transaction contains the parts and the entry that accounts
            // for them.
            let erased = erasing::erase(transaction, &what, signed_limit(limit))?;
            if !erased.is_empty() {
                append(transaction, &account.accounting_for(&erased), &key)?;
            }
            Ok(erased.count())
        })
        .await
    }
}

fn append(transaction: &Transaction<'_>, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, Failure> {
    // An entry with this id exists. It is the same one if the caller repeats the call because the answer was lost.
    if let Some(known) = rows::with_id(transaction, new.entry.id)? {
        let is_same = known.was(&new.entry);
        return if is_same { Ok(known.position()) } else { Err(entry_exists(new.entry.id).into()) };
    }
    let last = "SELECT coalesce(max(sequence), 0) FROM audit";
    let last: i64 = transaction.prepare_cached(last)?.query_row([], |row| row.get(0))?;
    let head = find_head(transaction)?;
    let chained = ChainedEntry::after(head.as_ref(), unsigned(last), new, key);
    // Here, entry and head are one transaction. Unlike a MongoDB transaction, it ends with its process (decision 47).
    rows::insert(transaction, &chained)?;
    put_head(transaction, &ChainHead::of(&chained, key))?;
    Ok(chained.position())
}

fn find_head(transaction: &Transaction<'_>) -> Result<Option<ChainHead>, Failure> {
    let mut find = transaction.prepare_cached("SELECT sequence, hash, seal FROM audit_head WHERE id = 1")?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(ChainHead { sequence: unsigned(row.get(0)?), hash: row.get(1)?, seal: row.get(2)? })
    };
    Ok(find.query_row([], read).optional()?)
}

fn put_head(transaction: &Transaction<'_>, head: &ChainHead) -> Result<(), Failure> {
    let sql = "INSERT INTO audit_head (id, sequence, hash, seal) VALUES (1, ?1, ?2, ?3) ON CONFLICT (id) \
        DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash, seal = excluded.seal";
    transaction.prepare_cached(sql)?.execute((signed(head.sequence), &head.hash, &head.seal))?;
    Ok(())
}

fn page(scope: &AuditScope, after: Option<AuditCursor>, limit: usize) -> PageQuery {
    let mut sql = format!("{} WHERE ", rows::COLUMNS);
    let mut values: Vec<Value> = Vec::new();
    match scope {
        AuditScope::Merchant(merchant) => {
            sql.push_str("merchant = ?");
            values.push(merchant.as_str().to_owned().into());
        }
        AuditScope::Everything => sql.push_str("true"),
    }
    if let Some(AuditCursor { at, id }) = after {
        sql.push_str(" AND (at, id) < (?, ?)");
        values.extend([at.millis().into(), id.as_bytes().to_vec().into()]);
    }
    sql.push_str(" ORDER BY at DESC, id DESC LIMIT ?");
    values.push(signed_limit(limit).into());
    PageQuery { sql, values }
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::MerchantId;
    use quita_domain::time::Timestamp;
    use uuid::Uuid;

    use super::super::reading::plan;
    use super::*;

    #[test]
    fn pages_walk_an_index_and_never_sort() {
        let after = Some(AuditCursor { at: Timestamp::from_millis(9), id: Uuid::nil() });
        let of_merchant = AuditScope::Merchant(MerchantId::new("loja"));
        for (scope, after, index) in [
            (&of_merchant, None, "audit_of_merchant "),
            (&of_merchant, after, "audit_of_merchant "),
            (&AuditScope::Everything, after, "audit_newest "),
        ] {
            let PageQuery { sql, values } = page(scope, after, 10);
            plan::check(&sql, params_from_iter(values), index);
        }
        plan::check(rows::IN_ORDER, (1, 10), "INTEGER PRIMARY KEY");
    }
}
