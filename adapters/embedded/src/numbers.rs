//! Numbers of slips: one counter for each range.

use async_trait::async_trait;
use quita_ports::{NumberBlock, NumberRange, NumberStore, StoreError};
use rusqlite::OptionalExtension;

use super::EmbeddedStore;
use quita_stored_form::unsigned;

#[async_trait]
impl NumberStore for EmbeddedStore {
    async fn take_numbers(&self, range: &NumberRange, count: u32) -> Result<Option<NumberBlock>, StoreError> {
        let range = range.clone();
        self.write(move |transaction| {
            let sql = "SELECT next FROM number_counters WHERE range = ?1";
            let counter =
                transaction.prepare_cached(sql)?.query_row([&range.key], |row| row.get(0)).optional()?;
            // Taken numbers are never returned: a lost answer leaves a gap, which banks allow.
            let Some((block, next)) = range.block_at(counter.map(unsigned), count) else { return Ok(None) };
            let sql = "INSERT INTO number_counters (range, next) VALUES (?1, ?2) \
                ON CONFLICT (range) DO UPDATE SET next = excluded.next";
            transaction
                .prepare_cached(sql)?
                .execute((&range.key, i64::try_from(next).unwrap_or(i64::MAX)))?;
            Ok(Some(block))
        })
        .await
    }
}
