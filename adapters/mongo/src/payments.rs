//! Payments: the journal's batch as two parallel commands, lookups, lists, due work.

use std::cmp::Reverse;

use async_trait::async_trait;
use bson::{Document, RawDocument, doc};
use futures_util::future::join;
use mongodb::Database;
use mongodb::options::FindOptions;
use quita_domain::card::CardFingerprint;
use quita_domain::delivery::{DeliveryState, Receiver};
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::reconciliation::SlipNumber;
use quita_domain::routing::{CardTries, PAYMENTS_ARE_COUNTED_TO, TRIES_ARE_COUNTED_FOR_MS};
use quita_domain::time::Timestamp;
use quita_ports::{DueDelivery, Listed, OutboxPlace, PaymentStore, StoreError, Write, WriteError, place_of};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use super::MongoStore;
use super::archive::{self, LoadConcern};
use super::batch::{self, Outcome};
use super::failure::{LIST_TIME_OUT, older_form, within_time};
use super::form::stamp;
use super::indexes::{ARCHIVE, BOUND_PIX, BY_AMOUNT, BY_CARD, DUE, MOVING, OF_PIX, OUTBOX, PAYMENTS, named};
use super::listing::{self, Listing};
use super::reading::{binary, find_all, value_in};
use quita_stored_form::PaymentIndex;
use quita_stored_form::PaymentRow;
use quita_stored_form::form::{payment_document, too_new};
use quita_stored_form::rules::unknown_word;
use quita_stored_form::turns::Lister;
use quita_stored_form::{listed, merged, signed, signed_limit};

/// Number of payments from which on they are no longer scanned for the matching ones.
const MANY: u64 = 2_000;

/// A payment as it is stored: the indexed fields, and the whole payment. Fields that come and go are placed after the
/// payment, because the oplog repeats everything after a new field.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentDocument<'a> {
    #[serde(rename = "_id")]
    id: bson::Uuid,
    revision: i64,
    last_op: bson::Uuid,
    merchant: &'a str,
    mode: &'static str,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_reference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<bson::Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<&'a str>,
    created_at: i64,
    status: &'static str,
    payment: InForm<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outbox_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outbox_to: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    delivery_states: Vec<DeliveryState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    our_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_since: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moving: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<i64>,
}

/// A payment and the form in which it is written.
struct InForm<'a>(&'a Payment, i64);

impl Serialize for InForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        payment_document(self.0, self.1).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'a> PaymentDocument<'a> {
    fn of(payment: &'a Payment, form: i64) -> Self {
        let row = PaymentRow::of(payment);
        let number = |number: SlipNumber| number.as_str().to_owned();
        Self {
            id: binary(row.id),
            revision: row.revision,
            last_op: binary(row.last_op),
            merchant: row.merchant,
            mode: row.mode,
            method: row.method,
            document: row.document,
            email: row.email,
            external_reference: row.external_reference,
            link: row.link.map(binary),
            card: row.card,
            created_at: row.created_at,
            status: row.status,
            payment: InForm(payment, form),
            due_at: row.due_at,
            outbox_at: row.outbox_at,
            outbox_to: row.outbox_to,
            delivery_states: row.delivery_states,
            our_number: row.our_number.map(number),
            document_number: row.document_number.map(number),
            rests_since: row.rests_since,
            moving: None,
            form: stamp(form),
        }
    }

    /// A copy of a payment for the archive.
    pub(super) fn moving(payment: &'a Payment, form: i64) -> Self {
        Self { moving: Some(true), ..Self::of(payment, form) }
    }
}

/// A guarded write: replaces the whole payment if the stored revision is the expected one.
///
/// The query contains only the `_id`, for which the server needs no plan; the guard is part of the update. If the guard
/// is stale, the statement fails ([`batch::STALE_GUARD`]). It also fails for a payment that was deleted: `upsert` makes
/// the server evaluate the guard there too. It never inserts, because a missing document has no revision. The server
/// computes the difference itself: the oplog has only the changed fields, and only their indexes are touched.
#[derive(Serialize)]
pub(super) struct PaymentStatement<'a> {
    q: PaymentById,
    u: [Stage<'a>; 1],
    upsert: bool,
}

#[derive(Serialize)]
struct PaymentById {
    #[serde(rename = "_id")]
    id: bson::Uuid,
}

#[derive(Serialize)]
struct Stage<'a> {
    #[serde(rename = "$replaceWith")]
    replacement: Replacement<'a>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    /// The guard, the document that it lets through, and the expression that fails otherwise.
    #[serde(rename = "$cond")]
    guarded: (Document, Literal<'a>, Document),
}

/// Literal value, so that the server does not interpret names and texts of merchants as expressions.
#[derive(Serialize)]
struct Literal<'a> {
    #[serde(rename = "$literal")]
    payment: PaymentDocument<'a>,
}

impl<'a> PaymentStatement<'a> {
    pub(super) fn of(write: &'a Write, form: i64) -> Self {
        let guard = doc! { "$eq": ["$revision", signed(write.expected_revision)] };
        // The name of a type is not a number. The error quotes this name, and nothing of the payment.
        let stale = doc! { "$toInt": { "$type": "$revision" } };
        let payment = PaymentDocument::of(&write.payment, form);
        let replacement = Replacement { guarded: (guard, Literal { payment }, stale) };
        Self {
            q: PaymentById { id: binary(write.payment.id.uuid()) },
            u: [Stage { replacement }],
            upsert: true,
        }
    }
}

#[async_trait]
impl PaymentStore for MongoStore {
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let store = self.clone();
        let writes = batch.to_vec();
        let work = async move { store.commit_in_its_form(&writes).await };
        // The lost task may have sent its command already, so each write is looked up before it is repeated.
        let lost =
            |error| batch.iter().map(|_| Err(WriteError::Unknown(StoreError::clone(&error)))).collect();
        self.threads.run(work).await.unwrap_or_else(lost)
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.load_by(LoadConcern::Majority, ids).await
    }

    async fn load_missing(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.load_by(LoadConcern::Linearizable, ids).await
    }

    async fn list(
        &self,
        filter: &PaymentFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let turn = self.turn_of(Lister::of(filter)).await?;
        let index = self.index_for(filter).await?;
        self.page(turn, listing::of_payments(filter, after, index), limit).await
    }

    async fn list_with_deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let turn = self.turn(&filter.merchant).await?;
        self.page(turn, listing::of_deliveries(filter, after), limit).await
    }

    async fn list_with_movements(
        &self,
        filter: &MovementFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let turn = self.turn(&filter.merchant).await?;
        self.page(turn, listing::of_movements(filter, after), limit).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        // The partial index covers this query, so no document is read.
        let options = FindOptions::builder()
            .projection(doc! { "_id": 1, "dueAt": 1 })
            .sort(doc! { "dueAt": 1 })
            .limit(signed_limit(limit))
            .hint(named(DUE));
        let filter = doc! { "dueAt": { "$lte": now.millis() } };
        let found = self.find_in_both(filter, options.build(), read_due).await?;
        Ok(merged(found, |due| *due, limit).into_iter().map(|(_, id)| id).collect())
    }

    async fn outbox_due(
        &self,
        after: Option<OutboxPlace>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueDelivery>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let options = FindOptions::builder()
            .projection(doc! { "outboxAt": 1, "mode": 1, "merchant": 1, "outboxTo": 1 })
            .sort(doc! { "outboxAt": 1, "_id": 1 })
            .limit(signed_limit(limit))
            .hint(named(OUTBOX));
        let mut filter = doc! { "outboxAt": { "$lte": now.millis() } };
        if let Some(OutboxPlace { at, id }) = after {
            let at_once = doc! { "outboxAt": at.millis(), "_id": { "$gt": binary(id.uuid()) } };
            let later = doc! { "outboxAt": { "$gt": at.millis() } };
            filter =
                doc! { "outboxAt": { "$gte": at.millis(), "$lte": now.millis() }, "$or": [at_once, later] };
        }
        let found = self.find_in_both(filter, options.build(), read_due_delivery).await?;
        Ok(merged(found, |due| due.place, limit))
    }

    async fn card_tries(&self, card: &CardFingerprint, now: Timestamp) -> Result<CardTries, StoreError> {
        let options = FindOptions::builder()
            .projection(doc! { "payment": 1 })
            .sort(doc! { "createdAt": -1 })
            .limit(signed_limit(PAYMENTS_ARE_COUNTED_TO))
            .max_time(LIST_TIME_OUT)
            .hint(named(BY_CARD));
        // Archived payments are older than this window (`archive-after` is at least 90 days), so the archive is not
        // queried.
        let since = now.minus_ms(TRIES_ARE_COUNTED_FOR_MS).millis();
        let filter = doc! { "card": card.as_str(), "createdAt": { "$gt": since } };
        Ok(CardTries::of(&self.find(filter, options.build()).await?, now))
    }

    async fn payment_of_pix(&self, mode: Mode, pix: &str) -> Result<Option<TransactionId>, StoreError> {
        let options = FindOptions::builder().projection(doc! { "_id": 1 }).limit(1).hint(named(OF_PIX));
        // Stubs have the bound Pix of archived payments, so this collection alone is enough.
        let filter = doc! { BOUND_PIX: pix, "mode": mode.as_str() };
        let found = find_all(&self.collection(PAYMENTS), filter, options.build(), read_id).await?;
        Ok(found.into_iter().next())
    }
}

impl MongoStore {
    async fn load_by(&self, concern: LoadConcern, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let store = self.clone();
        let ids = ids.to_vec();
        self.threads.run(async move { store.load_anywhere(&ids, concern).await }).await?
    }

    /// Writes in the known form. If the database was upgraded since, it refuses the writes. Then the form is read, and
    /// the refused writes are repeated in it, if this program knows it.
    async fn commit_in_its_form(&self, writes: &[Write]) -> Vec<Outcome> {
        let before = self.form.written();
        let mut outcomes = commit(&self.database, writes, before).await;
        let is_older = |outcome: &Outcome| *outcome == Err(WriteError::NotWritten(older_form()));
        if !outcomes.iter().any(is_older) {
            return outcomes;
        }
        let refused: Vec<usize> =
            (0..).zip(&outcomes).filter(|(_, one)| is_older(one)).map(|(n, _)| n).collect();
        let again: Vec<Write> = refused.iter().filter_map(|place| writes.get(*place).cloned()).collect();
        let repeated = match self.read_form().await {
            // Waiting does not help: this program can never write that form, so the store counts as broken.
            Ok(found) if found.form().is_too_new() => {
                let program = found.program.unwrap_or_default();
                let why = StoreError::Broken(too_new(found.number, &program));
                vec![Err(WriteError::NotWritten(why)); again.len()]
            }
            // Repeated once, in the form that was read, so that no payment fails because of an upgrade (decision 44).
            Ok(found) if found.number > before => commit(&self.database, &again, found.number).await,
            // The refusal stands: nothing was written, so the callers may try again without a lookup.
            Ok(_) | Err(_) => return outcomes,
        };
        for (place, outcome) in refused.into_iter().zip(repeated) {
            if let Some(refused) = outcomes.get_mut(place) {
                *refused = outcome;
            }
        }
        outcomes
    }

    /// Finds payments by criteria for which the archive is not queried.
    async fn find(&self, filter: Document, options: FindOptions) -> Result<Vec<Payment>, StoreError> {
        let payments = self.collection(PAYMENTS);
        let work =
            async move { find_all(&payments, filter, options, |found| value_in(found, "payment")).await };
        self.threads.run(work).await?
    }

    /// Returns the index for a list by status and amount. If few payments have the amount, these are scanned for the
    /// status; otherwise the index by status is used.
    async fn index_for(&self, filter: &PaymentFilter) -> Result<PaymentIndex, StoreError> {
        match (PaymentIndex::of(filter), listing::of_amount(filter)) {
            (PaymentIndex::Amount, Some(of_amount)) => {
                for collection in [PAYMENTS, ARCHIVE] {
                    let payments = self.collection(collection);
                    let count = payments.count_documents(of_amount.clone());
                    let count = count.limit(MANY).max_time(LIST_TIME_OUT).hint(named(BY_AMOUNT));
                    // An index without the status would read all payments of the amount to find the few of one status.
                    if within_time(count).await? >= MANY {
                        return Ok(PaymentIndex::Kind);
                    }
                }
                Ok(PaymentIndex::Amount)
            }
            (index, _) => Ok(index),
        }
    }

    async fn page(
        &self,
        turn: OwnedSemaphorePermit,
        listing: Listing,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let options = FindOptions::builder()
            // The mark is read with each payment, because the archive's pages leave out copies that are not valid yet.
            .projection(doc! { "createdAt": 1, "payment": 1, MOVING: 1 })
            .sort(doc! { "createdAt": -1, "_id": -1 })
            .limit(signed_limit(limit))
            .max_time(LIST_TIME_OUT)
            .hint(named(listing.index))
            .build();
        let store = self.clone();
        let work = async move {
            // The task owns the turn: a caller that gave up must not free it while the server is still working.
            let _turn = turn;
            // In this order, payments that are archived meanwhile are not missed.
            let payments = store.collection(PAYMENTS);
            let mut found = find_all(&payments, listing.filter.clone(), options.clone(), read_listed).await?;
            found.extend(store.archived_page(listing.filter, options, limit).await?);
            Ok(merged(found, newest_first, limit))
        };
        self.threads.run(work).await?
    }
}

/// Commits a batch. New payments are sent with `insert`, which the server processes three times as fast as
/// replacements, in parallel with the latter.
async fn commit(database: &Database, writes: &[Write], form: i64) -> Vec<Outcome> {
    let (new, known_writes): (Vec<&Write>, Vec<&Write>) =
        writes.iter().partition(|write| write.expected_revision == 0);
    // The commands can run concurrently: a batch never has two writes of one payment (`PaymentStore::commit`).
    let (new, known) = join(
        batch::run(database, &new, |new| {
            batch::insert(
                PAYMENTS,
                new.iter().map(|write| PaymentDocument::of(&write.payment, form)).collect(),
            )
        }),
        batch::run(database, &known_writes, |known| {
            batch::update(PAYMENTS, known.iter().map(|write| PaymentStatement::of(write, form)).collect())
        }),
    )
    .await;
    let known = archive::also_in_archive(database, &known_writes, known, form).await;
    let mut new = new.into_iter();
    let mut known = known.into_iter();
    let missing = || Err(WriteError::Unknown(StoreError::Unavailable("a write has no outcome".into())));
    let outcome = |write: &Write| if write.expected_revision == 0 { new.next() } else { known.next() };
    writes.iter().map(outcome).map(|outcome| outcome.unwrap_or_else(missing)).collect()
}

fn read_due_delivery(found: &RawDocument) -> Result<DueDelivery, StoreError> {
    let id = read_id(found)?;
    let text = |field| found.get_str(field).unwrap_or_default();
    let unreadable = |field| StoreError::Unreadable(format!("the {field} of payment {id}"));
    let at = found.get_i64("outboxAt").map_err(|_| unreadable("outboxAt"))?;
    Ok(DueDelivery {
        place: OutboxPlace { at: Timestamp::from_millis(at), id },
        receiver: Receiver {
            mode: Mode::parse(text("mode")).ok_or_else(|| unreadable("mode"))?,
            merchant: MerchantId::new(text("merchant")),
            address: text("outboxTo").to_owned(),
        },
    })
}

fn read_due(found: &RawDocument) -> Result<(i64, TransactionId), StoreError> {
    let id = read_id(found)?;
    let at = found.get_i64("dueAt");
    Ok((at.map_err(|_| StoreError::Unreadable(format!("the dueAt of payment {id}")))?, id))
}

/// Returns the sort key of lists.
pub(super) fn newest_first(listed: &Listed) -> Reverse<(Timestamp, TransactionId)> {
    let Cursor { created_at, id } = place_of(listed);
    Reverse((created_at, id))
}

pub(super) fn read_listed(found: &RawDocument) -> Result<Listed, StoreError> {
    Ok(listed(value_in(found, "payment"), place_in(found)?))
}

/// Returns the position of a payment in a list, from indexed fields, which exist even if the payment can't be read.
pub(super) fn place_in(found: &RawDocument) -> Result<Cursor, StoreError> {
    let created_at = found.get_i64("createdAt").map_err(|_| unknown_word("time of creation"))?;
    Ok(Cursor { created_at: Timestamp::from_millis(created_at), id: read_id(found)? })
}

pub(super) fn read_id(found: &RawDocument) -> Result<TransactionId, StoreError> {
    let binary = found.get_binary("_id").ok();
    let uuid = binary.and_then(|binary| Uuid::from_slice(binary.bytes).ok());
    uuid.map(TransactionId::new).ok_or_else(|| StoreError::Unreadable("a payment's id is no UUID".into()))
}
