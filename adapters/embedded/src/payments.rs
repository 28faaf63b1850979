//! Payments: the journal's batch as one transaction, lookups, lists, due work.

use std::cmp::Reverse;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use quita_domain::card::CardFingerprint;
use quita_domain::delivery::Receiver;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::reconciliation::SlipNumber;
use quita_domain::routing::{CardTries, PAYMENTS_ARE_COUNTED_TO, TRIES_ARE_COUNTED_FOR_MS};
use quita_domain::time::Timestamp;
use quita_ports::{DueDelivery, Listed, OutboxPlace, PaymentStore, StoreError, Write, WriteError};
use rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params, params_from_iter};
use uuid::Uuid;

use super::archive::{self, of_archive, read_both};
use super::bound_pix;
use super::erasure;
use super::failure::Failure;
use super::open::READERS;
use super::page_query::PageQuery;
use super::transaction::Failed;
use super::trust::Trust;
use super::{EmbeddedStore, listing, movements};
use quita_stored_form::PaymentRow;
use quita_stored_form::form::payment_document;
use quita_stored_form::turns::Lister;
use quita_stored_form::{decode, listed, merged, signed, signed_limit};

/// Parameters have numbers: SQLite searches through all of them for each named one.
///
/// An archived payment keeps its id: a replayed creation must find it and not become a second payment.
///
/// `OR FAIL` leaves nothing of a row whose token is used, as all constraints of a row are checked before it is written.
// SQLite would otherwise copy each page before this statement changes it, in case that a later row fails.
const INSERT: &str = "INSERT OR FAIL INTO payments (id, revision, last_op, merchant, mode, method, document, email, \
    external_reference, link, card, created_at, amount, due_on, status, paid_at, due_at, outbox_at, outbox_to, \
    delivery_states, our_number, document_number, rests_since, used_token, payment) \
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, \
    ?24, ?25 WHERE NOT EXISTS (SELECT 1 FROM archived_payments WHERE id = ?1) \
    ON CONFLICT (id) DO NOTHING";

/// Sets only the columns that may change: an index is untouched if none of its columns is set, whatever the value.
const REPLACE: &str = "UPDATE payments SET revision = ?3, last_op = ?4, status = ?5, paid_at = ?6, due_at = ?7, \
    outbox_at = ?8, outbox_to = ?9, delivery_states = ?10, card = ?11, our_number = ?12, rests_since = ?13, \
    payment = ?14 WHERE id = ?1 AND revision = ?2";

const BY_ID: &str = "SELECT id, payment FROM payments WHERE id = ?1";

const BY_ARCHIVED_ID: &str = "SELECT id, payment FROM archived_payments WHERE id = ?1";

const DUE: &str = "SELECT due_at, id FROM payments WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2";

const OUTBOX: &str = "SELECT outbox_at, id, mode, merchant, outbox_to FROM payments \
    WHERE outbox_at <= ?1 AND (outbox_at, id) > (?2, ?3) ORDER BY outbox_at, id LIMIT ?4";

/// Newest payments by one card. Tries of archived payments no longer count.
const OF_CARD: &str =
    "SELECT id, payment FROM payments WHERE card = ?1 AND created_at > ?2 ORDER BY created_at DESC LIMIT ?3";

/// Number of ids below which waking another thread does not pay.
const LEAST_SHARE: usize = 4;

type Outcome = Result<(), WriteError>;

#[async_trait]
impl PaymentStore for EmbeddedStore {
    async fn commit(&self, batch: &[Write]) -> Vec<Outcome> {
        let lost =
            |error: StoreError| batch.iter().map(|_| Err(WriteError::Unknown(error.clone()))).collect();
        if let Err(error) = self.trust.check() {
            return batch.iter().map(|_| Err(WriteError::NotWritten(error.clone()))).collect();
        }
        let writes = batch.to_vec();
        let trust = std::sync::Arc::clone(&self.trust);
        let job = move |connection: &mut Connection| commit(&trust, connection, &writes);
        self.writer.run(job).await.unwrap_or_else(lost)
    }

    /// Loads payments, spread over the threads that read.
    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        let share = ids.len().div_ceil(READERS).max(LEAST_SHARE);
        let loads = ids.chunks(share).map(|ids| self.load_share(ids.to_vec()));
        Ok(try_join_all(loads).await?.into_iter().flatten().collect())
    }

    /// Finds nothing: one file has no other state than its newest.
    async fn load_missing(&self, _: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        Ok(Vec::new())
    }

    async fn list(
        &self,
        filter: &PaymentFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        self.page(Lister::of(filter), listing::of_payments(filter, after, limit), limit).await
    }

    async fn list_with_deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let lister = Lister::Merchant(filter.merchant.as_str().into());
        self.page(lister, listing::of_deliveries(filter, after, limit), limit).await
    }

    async fn list_with_movements(
        &self,
        filter: &MovementFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let page = movements::page_of(filter, after, limit);
        self.list(Lister::Merchant(filter.merchant.as_str().into()), move |transaction| {
            let places = movements::places(transaction, &page)?;
            let mut found = Vec::with_capacity(places.len());
            for place in places {
                let stored = find(transaction, place.id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
                found.push(listed(read_payment(&stored), place));
            }
            Ok(found)
        })
        .await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        self.read(move |transaction| {
            let found = read_both(transaction, DUE, (now.millis(), signed_limit(limit)), |row| {
                Ok((row.get::<_, i64>(0)?, TransactionId::new(Uuid::from_bytes(row.get(1)?))))
            })?;
            Ok(merged(found, |due| *due, limit).into_iter().map(|(_, id)| id).collect())
        })
        .await
    }

    async fn outbox_due(
        &self,
        after: Option<OutboxPlace>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueDelivery>, StoreError> {
        self.read(move |transaction| {
            let (after_at, after_id) =
                after.map_or((i64::MIN, Uuid::nil()), |place| (place.at.millis(), place.id.uuid()));
            let bounds = (now.millis(), after_at, after_id.into_bytes(), signed_limit(limit));
            let found = read_both(transaction, OUTBOX, bounds, due_delivery)?;
            Ok(merged(found, |due| due.place, limit))
        })
        .await
    }

    async fn card_tries(&self, card: &CardFingerprint, now: Timestamp) -> Result<CardTries, StoreError> {
        let card = card.clone();
        self.read(move |transaction| {
            let mut statement = transaction.prepare_cached(OF_CARD)?;
            let bounds = (
                card.as_str(),
                now.minus_ms(TRIES_ARE_COUNTED_FOR_MS).millis(),
                signed_limit(PAYMENTS_ARE_COUNTED_TO),
            );
            let rows = statement.query_map(bounds, stored)?;
            let payments = rows.map(|row| Ok(read_payment(&row?)?)).collect::<Result<Vec<_>, Failure>>()?;
            Ok(CardTries::of(&payments, now))
        })
        .await
    }

    async fn payment_of_pix(&self, mode: Mode, pix: &str) -> Result<Option<TransactionId>, StoreError> {
        let pix = pix.to_owned();
        self.read(move |transaction| Ok(bound_pix::holder(transaction, mode, &pix)?)).await
    }
}

impl EmbeddedStore {
    async fn load_share(&self, ids: Vec<TransactionId>) -> Result<Vec<Payment>, StoreError> {
        self.read(move |transaction| {
            let mut payments = Vec::with_capacity(ids.len());
            for id in ids {
                if let Some(stored) = find(transaction, id)? {
                    payments.push(read_payment(&stored)?);
                }
            }
            Ok(payments)
        })
        .await
    }

    async fn page(&self, lister: Lister, query: PageQuery, limit: usize) -> Result<Vec<Listed>, StoreError> {
        self.list(lister, move |transaction| {
            let found = read_both(transaction, &query.sql, params_from_iter(query.values), |row| {
                let id = Uuid::from_bytes(row.get(0)?);
                let created_at = Timestamp::from_millis(row.get(1)?);
                let place = Cursor { created_at, id: TransactionId::new(id) };
                Ok((place, StoredPayment { id, document: row.get(2)? }))
            })?;
            let page = merged(found, |(place, _)| Reverse((place.created_at, place.id)), limit);
            Ok(page.into_iter().map(|(place, stored)| listed(read_payment(&stored), place)).collect())
        })
        .await
    }
}

/// Returns a payment as it is stored, from whichever table has it.
fn find(transaction: &Transaction<'_>, id: TransactionId) -> Result<Option<StoredPayment>, Failure> {
    let find = |sql: &str| {
        let mut statement = transaction.prepare_cached(sql)?;
        statement.query_row([id.uuid().as_bytes()], stored).optional()
    };
    match find(BY_ID)? {
        Some(found) => Ok(Some(found)),
        // Both lookups are in one read transaction, so a payment that is being moved is in one of the tables.
        None => Ok(find(BY_ARCHIVED_ID)?),
    }
}

/// Reads a row: time, id, mode, merchant and address.
fn due_delivery(row: &Row<'_>) -> Result<DueDelivery, Failure> {
    let id = TransactionId::new(Uuid::from_bytes(row.get(1)?));
    let unreadable = || StoreError::Unreadable(format!("the mode of payment {id}"));
    let mode: String = row.get(2)?;
    let mode = Mode::parse(&mode).ok_or_else(unreadable)?;
    let merchant: String = row.get(3)?;
    let address: Option<String> = row.get(4)?;
    Ok(DueDelivery {
        place: OutboxPlace { at: Timestamp::from_millis(row.get(0)?), id },
        receiver: Receiver {
            mode,
            merchant: MerchantId::new(merchant),
            address: address.unwrap_or_default(),
        },
    })
}

/// Payment as it is stored.
pub(super) struct StoredPayment {
    pub(super) id: Uuid,
    pub(super) document: Vec<u8>,
}

/// Reads a row: id and document.
fn stored(row: &Row<'_>) -> rusqlite::Result<StoredPayment> {
    Ok(StoredPayment { id: Uuid::from_bytes(row.get(0)?), document: row.get(1)? })
}

pub(super) fn read_payment(stored: &StoredPayment) -> Result<Payment, StoreError> {
    decode(&stored.document, &format!("payment {}", stored.id))
}

/// Commits a batch, and returns one outcome for each write, even if the transaction failed.
fn commit(trust: &Trust, connection: &mut Connection, writes: &[Write]) -> Vec<Outcome> {
    // Encoded outside the transaction, so that another process is not kept waiting.
    let form = trust.form().number();
    let documents = encoded(writes, form);
    let all = |error: fn(StoreError) -> WriteError, why: &StoreError| {
        writes.iter().map(|_| Err(error(why.clone()))).collect::<Vec<Outcome>>()
    };
    let write = |open: &Transaction<'_>| {
        // An upgrade may have begun since.
        let now = trust.form().number();
        let documents = if now == form { documents } else { encoded(writes, now) };
        write_all(open, writes, documents)
    };
    match trust.write(connection, write) {
        Ok(outcomes) => outcomes,
        Err(Failed::Undone(error)) => all(WriteError::NotWritten, &error),
        Err(Failed::Unknown(error)) => all(WriteError::Unknown, &error),
    }
}

/// Encodes the payments in a form.
fn encoded(writes: &[Write], form: i64) -> Vec<Result<Vec<u8>, StoreError>> {
    let document = |write: &Write| payment_document(&write.payment, form);
    writes.iter().map(|write| document(write).map(|document| document.into_bytes())).collect()
}

fn write_all(
    transaction: &Transaction<'_>,
    writes: &[Write],
    documents: Vec<Result<Vec<u8>, StoreError>>,
) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::with_capacity(writes.len());
    for (write, document) in writes.iter().zip(documents) {
        outcomes.push(match document {
            Ok(document) => {
                // Checked within the only writing transaction, so two payments can't bind the same Pix between check
                // and write.
                let outcome = if bound_pix::is_taken(transaction, &write.payment)? {
                    Err(WriteError::PixTaken)
                } else if uses_archived_token(transaction, write)? {
                    Err(WriteError::TokenUsed)
                } else {
                    written(write_one(transaction, write, &document))?
                };
                // A stale write binds and indexes nothing. Otherwise a payment would hold a Pix that its stored state
                // does not know.
                if outcome.is_ok() {
                    bound_pix::bind(transaction, &write.payment)?;
                    movements::index(transaction, &write.payment)?;
                }
                outcome
            }
            Err(error) => Err(WriteError::NotWritten(error)),
        });
    }
    Ok(outcomes)
}

/// Returns true if a new payment would use the token of an archived one.
fn uses_archived_token(transaction: &Transaction<'_>, write: &Write) -> rusqlite::Result<bool> {
    match &write.payment.used_token {
        // A taken id has precedence.
        Some(token) if write.expected_revision == 0 => Ok(archive::has_token(transaction, token.as_str())?
            && !archive::has_id(transaction, write.payment.id.uuid())?),
        Some(_) | None => Ok(false),
    }
}

/// Returns the outcome of a statement, which writes one row or none.
fn written(rows: rusqlite::Result<usize>) -> Result<Outcome, Failure> {
    match rows {
        Ok(1) => Ok(Ok(())),
        Ok(_) => Ok(Err(WriteError::Conflict)),
        // A taken id is no error, so this is the only other unique column. Only the statement is rolled back.
        Err(error) if is_taken(&error) => Ok(Err(WriteError::TokenUsed)),
        Err(error) => Err(error.into()),
    }
}

fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_CONSTRAINT_UNIQUE)
}

/// Returns the number of written rows: one, or none if another writer was faster.
fn write_one(transaction: &Transaction<'_>, write: &Write, document: &[u8]) -> rusqlite::Result<usize> {
    let row = PaymentRow::of(&write.payment);
    let our_number = row.our_number.as_ref().map(SlipNumber::as_str);
    let delivery_states: i64 = row.delivery_states.iter().copied().map(listing::delivery_bit).sum();
    if write.expected_revision > 0 {
        if write.payment.is_erased() {
            // Recorded before the replacement, which raises the revision: both have the same guard.
            erasure::note(transaction, &row, write.expected_revision)?;
        }
        let replace = |sql: &str| {
            transaction.prepare_cached(sql)?.execute(params![
                row.id.as_bytes(),
                signed(write.expected_revision),
                row.revision,
                row.last_op.as_bytes(),
                row.status,
                row.paid_at,
                row.due_at,
                row.outbox_at,
                row.outbox_to,
                delivery_states,
                row.card,
                our_number,
                row.rests_since,
                document,
            ])
        };
        let replaced = replace(REPLACE)?;
        // A payment is written where it is: late refunds and chargebacks of archived payments stay in the archive.
        return if replaced == 0 { replace(&of_archive(REPLACE)) } else { Ok(replaced) };
    }
    transaction.prepare_cached(INSERT)?.execute(params![
        row.id.as_bytes(),
        row.revision,
        row.last_op.as_bytes(),
        row.merchant,
        row.mode,
        row.method,
        row.document,
        row.email,
        row.external_reference,
        row.link.as_ref().map(Uuid::as_bytes),
        row.card,
        row.created_at,
        row.amount,
        row.due_on,
        row.status,
        row.paid_at,
        row.due_at,
        row.outbox_at,
        row.outbox_to,
        delivery_states,
        our_number,
        row.document_number.as_ref().map(SlipNumber::as_str),
        row.rests_since,
        row.used_token,
        document,
    ])
}

#[cfg(test)]
mod tests {
    use super::super::reading::plan;
    use super::*;

    #[test]
    fn tries_of_a_card_are_found_along_an_index_of_those_alone() {
        plan::check(OF_CARD, ("card", 0, 64), "payments_by_card ");
    }
}
