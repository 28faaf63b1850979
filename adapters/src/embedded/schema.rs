//! The schema, version by version, and how a file that an older version made is brought up to it.

use std::path::Path;

use quita_domain::access::ApiKey;
use quita_domain::money::Money;
use quita_domain::time::Timestamp;
use quita_ports::StoreError;
use rusqlite::{Connection, Transaction};
use serde::Deserialize;
use uuid::Uuid;

use super::failure::Failure;
use super::sole_writer::SoleWriter;
use super::transaction;
use crate::stored_form::{decode, signed};

/// The schema that this version makes and understands, kept in `user_version`.
const VERSION: i64 = 2;
const VERSION_1: &str = include_str!("schema/version_1.sql");
const VERSION_2: &str = include_str!("schema/version_2.sql");
const VERSION_2_INDEXES: &str = include_str!("schema/version_2_indexes.sql");

/// Payments that are in memory at once while a file is brought up to date.
const PAYMENTS_AT_ONCE: i64 = 200;

/// Makes the schema in a new file, and brings that of an older version up to date: all of it, or nothing.
///
/// Nobody may serve the file meanwhile, because an older service would go on writing as it knows it.
pub(super) fn bring_up_to_date(
    connection: &mut Connection,
    path: &Path,
    sole_writer: Option<&SoleWriter>,
) -> Result<(), StoreError> {
    // Indexes are sorted here, and those of a large file need more than memory should be taken for.
    connection.pragma_update(None, "temp_store", "FILE").map_err(Failure::from)?;
    // Given up only once the transaction has ended.
    let mut lock = None;
    let brought = transaction::run(connection, |transaction| {
        let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match found {
            VERSION => return Ok(()),
            0 => transaction.execute_batch(VERSION_1)?,
            1 => {
                if sole_writer.is_none() {
                    lock = Some(SoleWriter::lock(path)?);
                }
            }
            newer => {
                let why = format!("its schema is version {newer}, this program knows {VERSION}");
                return Err(StoreError::Unreadable(why).into());
            }
        }
        to_version_2(transaction)?;
        Ok(transaction.pragma_update(None, "user_version", VERSION)?)
    });
    drop(lock);
    connection.pragma_update(None, "temp_store", "MEMORY").map_err(Failure::from)?;
    Ok(brought?)
}

fn to_version_2(transaction: &Transaction<'_>) -> Result<(), Failure> {
    transaction.execute_batch(VERSION_2)?;
    let count = fill_in_payments(transaction)?;
    fill_in_keys(transaction)?;
    transaction.execute_batch(VERSION_2_INDEXES)?;
    if count > 0 {
        tracing::info!(payments = count, "the embedded store was brought to schema version 2");
    }
    Ok(())
}

/// The parts of a payment's document that became columns.
#[derive(Deserialize)]
struct Stated {
    order: StatedOrder,
    state: StatedState,
}

#[derive(Deserialize)]
struct StatedOrder {
    amount: Money,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatedState {
    paid_at: Option<Timestamp>,
}

/// How many payments there were. One that can't be read is left as it is: it keeps nobody from the others.
fn fill_in_payments(transaction: &Transaction<'_>) -> Result<u64, Failure> {
    let (mut last, mut count) = (i64::MIN, 0_u64);
    loop {
        let rows = payments_after(transaction, last)?;
        let Some((newest, ..)) = rows.last() else { return Ok(count) };
        last = *newest;
        for (row, id, document) in &rows {
            count = count.saturating_add(1);
            match decode::<Stated>(document, &format!("payment {id}")) {
                Ok(stated) => fill_in(transaction, *row, &stated)?,
                Err(error) => tracing::error!(%error, "its amount stays unknown"),
            }
            if count.is_multiple_of(100_000) {
                tracing::info!(payments = count, "the embedded store is being brought to schema version 2");
            }
        }
    }
}

fn payments_after(transaction: &Transaction<'_>, last: i64) -> Result<Vec<(i64, Uuid, Vec<u8>)>, Failure> {
    let sql = "SELECT rowid, id, payment FROM payments WHERE rowid > ?1 ORDER BY rowid LIMIT ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map((last, PAYMENTS_AT_ONCE), |row| {
        Ok((row.get(0)?, Uuid::from_bytes(row.get(1)?), row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn fill_in(transaction: &Transaction<'_>, row: i64, stated: &Stated) -> Result<(), Failure> {
    let mut update =
        transaction.prepare_cached("UPDATE payments SET amount = ?2, paid_at = ?3 WHERE rowid = ?1")?;
    let paid_at = stated.state.paid_at.map(Timestamp::millis);
    update.execute((row, signed(stated.order.amount.cents()), paid_at))?;
    Ok(())
}

/// A key that can't be read belongs to nobody: it opens nothing, and keeps nobody from the others.
fn fill_in_keys(transaction: &Transaction<'_>) -> Result<(), Failure> {
    let mut statement = transaction.prepare("SELECT id, api_key FROM api_keys")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows: Vec<(String, Vec<u8>)> = rows.collect::<rusqlite::Result<_>>()?;
    for (id, document) in rows {
        match decode::<ApiKey>(&document, &format!("API key {id}")) {
            Ok(key) => {
                let mut update =
                    transaction.prepare_cached("UPDATE api_keys SET merchant = ?2 WHERE id = ?1")?;
                update.execute((id, key.owner.merchant.as_str()))?;
            }
            Err(error) => tracing::error!(%error, "its merchant stays unknown"),
        }
    }
    Ok(())
}
