//! Notices from acquirers that wait to be processed.

use async_trait::async_trait;
use quita_domain::acquiring::Notice;
use quita_domain::time::Timestamp;
use quita_ports::{InboxStore, StoreError};
use rusqlite::{OptionalExtension, Transaction};

use super::failure::Failure;
use super::{EmbeddedStore, MAX_FORGOTTEN_AT_ONCE};
use quita_stored_form::rules::KEEP_FINISHED_MS;
use quita_stored_form::{decode, encode, readable, signed};

#[async_trait]
impl InboxStore for EmbeddedStore {
    async fn put_notices(&self, notices: &[Notice]) -> Result<Vec<bool>, StoreError> {
        let mut rows = Vec::with_capacity(notices.len());
        for notice in notices {
            rows.push((notice.id.clone(), notice.received_at.millis(), encode(notice)?));
        }
        self.write(move |transaction| {
            let sql = "INSERT INTO inbox (id, due_at, tries, notice) VALUES (?1, ?2, 0, ?3) \
                ON CONFLICT (id) DO NOTHING";
            let mut insert = transaction.prepare_cached(sql)?;
            rows.into_iter().map(|row| Ok(insert.execute(row)? == 1)).collect()
        })
        .await
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<(Notice, u32)>, StoreError> {
        self.read(move |transaction| {
            // Notices that can't be read don't count towards the limit.
            let sql = "SELECT id, notice, tries FROM inbox WHERE due_at <= ?1 ORDER BY due_at, id";
            let mut statement = transaction.prepare_cached(sql)?;
            let mut rows = statement.query((now.millis(),))?;
            let mut found = Vec::new();
            let mut count = 0;
            while count < limit
                && let Some(row) = rows.next()?
            {
                let (id, notice): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
                let tries = row.get(2)?;
                let notice = decode(&notice, &format!("notice {id}")).map(|notice| (notice, tries));
                count = count.saturating_add(usize::from(notice.is_ok()));
                found.push(notice);
            }
            Ok(readable(found)?)
        })
        .await
    }

    async fn waiting_notices(&self, ids: &[String]) -> Result<Vec<String>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |transaction| {
            let mut waits =
                transaction.prepare_cached("SELECT due_at IS NOT NULL FROM inbox WHERE id = ?1")?;
            let mut waiting = Vec::new();
            for id in ids {
                if waits.query_row((&id,), |row| row.get(0)).optional()?.unwrap_or(false) {
                    waiting.push(id);
                }
            }
            Ok(waiting)
        })
        .await
    }

    async fn finish_notices(&self, ids: &[String], now: Timestamp) -> Result<(), StoreError> {
        let ids = ids.to_vec();
        self.write(move |transaction| {
            let sql = "UPDATE inbox SET due_at = NULL, finished_at = ?2 WHERE id = ?1 AND due_at IS NOT NULL";
            let mut finish = transaction.prepare_cached(sql)?;
            for id in ids {
                finish.execute((id, now.millis()))?;
            }
            // Old notices are deleted together with a write that happens anyway, so no separate job takes the write
            // lock for them.
            forget_old(transaction, now)
        })
        .await
    }

    async fn postpone_notice(&self, id: &str, tried: u32, until: Timestamp) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let sql = "UPDATE inbox SET due_at = ?2, tries = tries + 1 WHERE id = ?1 AND tries = ?3 AND due_at IS NOT NULL";
            transaction.prepare_cached(sql)?.execute((id, until.millis(), tried))?;
            Ok(())
        })
        .await
    }
}

/// Deletes notices that were finished so long ago that no acquirer repeats them.
fn forget_old(transaction: &Transaction<'_>, now: Timestamp) -> Result<(), Failure> {
    let before = now.millis().saturating_sub(signed(KEEP_FINISHED_MS));
    let sql = "DELETE FROM inbox WHERE rowid IN \
        (SELECT rowid FROM inbox WHERE finished_at < ?1 ORDER BY finished_at LIMIT ?2)";
    transaction.prepare_cached(sql)?.execute((before, MAX_FORGOTTEN_AT_ONCE))?;
    Ok(())
}
