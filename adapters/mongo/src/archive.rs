//! The archive: a second collection of payments, with the same kind of documents and indexes.
//!
//! An archived payment leaves a stub in its place: its id, and the values that no other payment may have. Stubs are
//! kept for ever, so ids, tokens and Pix stay unique without a look into the archive. A stub alone also shows that its
//! payment is archived. A move takes three writes: the copy, which is not valid yet; the stub in place of the payment,
//! if the payment has not been written since; the copy without its mark. Readers look at the payments first: a payment
//! that has left them is in the archive already.

use std::collections::BTreeSet;

use async_trait::async_trait;
use bson::{Document, RawDocument, RawDocumentBuf, doc};
use mongodb::Database;
use mongodb::options::{FindOptions, ReadConcern};
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{ArchiveStore, Listed, StoreError, Write, WriteError};
use quita_stored_form::{PaymentRow, signed, signed_limit, unsigned};
use serde::Serialize;

use super::MongoStore;
use super::batch::{self, Outcome};
use super::failure::{LIST_TIME_OUT, within_time};
use super::form::{FieldChange, stamp};
use super::indexes::{ARCHIVE, BOUND_PIX, MOVING, NEWEST, PAYMENTS, named};
use super::payments::{PaymentDocument, PaymentStatement, read_id, read_listed};
use super::reading::{binary, find_all, value_in};

/// Field that only stubs have.
pub(super) const STUB: &str = "archived";

/// Copies that one call to complete moves looks at.
const MAX_INCOMPLETE: usize = 1_000;

/// Age of the state that payments are loaded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadConcern {
    /// Newest state that the primary knows to be on a majority. A primary that was just elected, or does not know yet
    /// that it was replaced, may lack writes that others acknowledged.
    Majority,
    /// State at this moment.
    Linearizable,
}

/// Document that an archived payment leaves in its place.
#[derive(Serialize)]
struct Stub<'a> {
    #[serde(rename = "_id")]
    id: bson::Uuid,
    archived: bool,
    mode: &'static str,
    payment: Unique<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<i64>,
}

/// Values that no other payment may have, in their indexed fields.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Unique<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    used_token: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_pix: &'a [String],
}

impl<'a> Stub<'a> {
    fn of(payment: &'a Payment, form: i64) -> Self {
        let row = PaymentRow::of(payment);
        let payment = Unique { used_token: row.used_token, bound_pix: &payment.bound_pix };
        Self { id: binary(row.id), archived: true, mode: row.mode, payment, form: stamp(form) }
    }
}

/// A change that applies only if its document matches the query.
#[derive(Serialize)]
struct Guarded {
    q: Document,
    u: RawDocumentBuf,
}

impl Guarded {
    fn of(q: Document, replacement: &impl Serialize) -> Result<Self, StoreError> {
        let encoded = bson::serialize_to_raw_document_buf(replacement);
        let u =
            encoded.map_err(|error| StoreError::Unreadable(format!("can't be encoded: {}", error.kind)))?;
        Ok(Self { q, u })
    }
}

#[async_trait]
impl ArchiveStore for MongoStore {
    async fn unarchived(
        &self,
        payee: &(MerchantId, Mode),
        until: Timestamp,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (merchant, mode) = payee;
        let mut created = doc! { "$lte": until.millis() };
        let mut query = doc! { "merchant": merchant.as_str(), "mode": mode.as_str() };
        if let Some(Cursor { created_at, id }) = after {
            let at_once = doc! { "createdAt": created_at.millis(), "_id": { "$gt": binary(id.uuid()) } };
            query.insert("$or", vec![at_once, doc! { "createdAt": { "$gt": created_at.millis() } }]);
            created.insert("$gte", created_at.millis());
        }
        query.insert("createdAt", created);
        let options = FindOptions::builder()
            .projection(doc! { "createdAt": 1, "payment": 1 })
            .sort(doc! { "createdAt": 1, "_id": 1 })
            .limit(signed_limit(limit))
            .max_time(LIST_TIME_OUT)
            .hint(named(NEWEST))
            .build();
        let payments = self.collection(PAYMENTS);
        let work = async move { find_all(&payments, query, options, read_listed).await };
        self.threads.run(work).await?
    }

    async fn archive(&self, payments: &[Payment]) -> Result<u64, StoreError> {
        let store = self.clone();
        let payments = payments.to_vec();
        self.threads.run(async move { store.move_all(&payments).await }).await?
    }

    async fn complete_archiving(&self) -> Result<(), StoreError> {
        // Leftovers that contain no payment are harmless.
        let left = doc! { MOVING: true, "payment": { "$exists": true } };
        let options = FindOptions::builder()
            .projection(doc! { "_id": 1 })
            .limit(signed_limit(MAX_INCOMPLETE))
            .max_time(LIST_TIME_OUT)
            .hint(named(MOVING))
            .build();
        let left = find_all(&self.collection(ARCHIVE), left, options, read_id).await?;
        self.settle(&left).await.map(drop)
    }

    async fn count_archived(&self) -> Result<u64, StoreError> {
        within_time(self.collection(ARCHIVE).estimated_document_count()).await
    }
}

impl MongoStore {
    async fn move_all(&self, payments: &[Payment]) -> Result<u64, StoreError> {
        let form = self.form.written();
        let copies = batch::run(&self.database, payments, |some| {
            batch::insert(
                ARCHIVE,
                some.iter().map(|payment| PaymentDocument::moving(payment, form)).collect(),
            )
        });
        let mut left_before = Vec::new();
        for (payment, copied) in payments.iter().zip(copies.await) {
            match copied {
                Ok(()) => {}
                Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => {
                    // A copy from an unfinished move, which is not valid.
                    let older = doc! { "_id": binary(payment.id.uuid()), MOVING: true, "revision": { "$lte": signed(payment.revision) } };
                    left_before.push(Guarded::of(older, &PaymentDocument::moving(payment, form))?);
                }
                Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => return Err(error),
            }
        }
        self.make_all(ARCHIVE, &left_before).await?;
        let ids: Vec<_> = payments.iter().map(|payment| payment.id).collect();
        // A payment leaves its place only after its copy was read back.
        let copies: BTreeSet<_> =
            revisions(&self.database, ARCHIVE, doc! { MOVING: true }, &ids).await?.into_iter().collect();
        let is_copied = |payment: &&Payment| copies.contains(&(payment.id, signed(payment.revision)));
        let mut stubs = Vec::new();
        let mut leaving = BTreeSet::new();
        for payment in payments.iter().filter(is_copied) {
            leaving.insert(payment.id);
            let as_it_was = doc! { "_id": binary(payment.id.uuid()), "revision": signed(payment.revision) };
            stubs.push(Guarded::of(as_it_was, &Stub::of(payment, form))?);
        }
        self.make_all(PAYMENTS, &stubs).await?;
        let gone = self.settle(&ids).await?;
        Ok(unsigned(signed_limit(gone.intersection(&leaving).count())))
    }

    async fn make_all(&self, collection: &str, changes: &[Guarded]) -> Result<(), StoreError> {
        let command = |some: &[Guarded]| batch::update(collection, some.iter().collect());
        batch::run_loose(&self.database, changes, command).await
    }

    /// Removes the mark from the copies whose payments have left their place, and returns the ids of these. If a
    /// payment was written since, its copy is emptied, not deleted. So a stub never lacks its copy.
    async fn settle(&self, ids: &[TransactionId]) -> Result<BTreeSet<TransactionId>, StoreError> {
        let gone = self.stubs_among(ids).await?;
        if !gone.is_empty() {
            let copies = doc! { "_id": { "$in": binaries(gone.iter()) }, MOVING: true };
            let settled = self.form.with(doc! { "$unset": { MOVING: "" } });
            within_time(self.collection(ARCHIVE).update_many(copies, settled)).await?;
        }
        let here: Vec<_> = ids.iter().filter(|id| !gone.contains(id)).copied().collect();
        if !here.is_empty() {
            let mut emptied = Vec::new();
            for (id, revision) in revisions(&self.database, PAYMENTS, Document::new(), &here).await? {
                let older = doc! { "_id": binary(id.uuid()), MOVING: true, "revision": { "$lt": revision } };
                let mut empty = doc! { "_id": binary(id.uuid()), "revision": revision, MOVING: true };
                empty.extend(self.form.stamp().map(|form| (String::from("form"), form.into())));
                emptied.push(Guarded::of(older, &empty)?);
            }
            self.make_all(ARCHIVE, &emptied).await?;
        }
        Ok(gone)
    }

    /// Returns those of these ids whose payments are archived.
    pub(super) async fn stubs_among(
        &self,
        ids: &[TransactionId],
    ) -> Result<BTreeSet<TransactionId>, StoreError> {
        stubs_among(&self.database, ids).await
    }

    /// Loads payments, archived or not.
    pub(super) async fn load_anywhere(
        &self,
        ids: &[TransactionId],
        concern: LoadConcern,
    ) -> Result<Vec<Payment>, StoreError> {
        // All documents come in the first reply, so no second round trip is needed.
        let at_once = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        let by_id = |ids: &[TransactionId]| doc! { "_id": { "$in": binaries(ids.iter()) } };
        let mut options =
            FindOptions::builder().projection(doc! { "payment": 1, STUB: 1 }).batch_size(at_once).build();
        if concern == LoadConcern::Linearizable {
            // MongoDB guarantees linearizable reads for single documents only. That suffices: these need not be from
            // the same moment.
            options.read_concern = Some(ReadConcern::linearizable());
            options.max_time = Some(LIST_TIME_OUT);
        }
        let read = |found: &RawDocument| match found.get_bool(STUB) {
            Ok(true) => Ok(Err(read_id(found)?)),
            Ok(false) | Err(_) => value_in(found, "payment").map(Ok),
        };
        let found = find_all(&self.collection(PAYMENTS), by_id(ids), options.clone(), read).await?;
        let mut payments = Vec::with_capacity(found.len());
        let mut archived = Vec::new();
        for one in found {
            match one {
                Ok(payment) => payments.push(payment),
                Err(id) => archived.push(id),
            }
        }
        if archived.is_empty() {
            return Ok(payments);
        }
        let read = |found: &RawDocument| value_in::<Payment>(found, "payment");
        let found = find_all(&self.collection(ARCHIVE), by_id(&archived), options, read).await?;
        if found.len() < archived.len() {
            return Err(StoreError::Unreadable("an archived payment is not in the archive".into()));
        }
        payments.extend(found);
        Ok(payments)
    }

    /// Applies `read` to the results of a query, first among the payments and then in the archive.
    pub(super) async fn find_in_both<T>(
        &self,
        query: Document,
        options: FindOptions,
        read: impl Fn(&RawDocument) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        // In this order, payments that are archived meanwhile are not missed.
        let mut found = find_all(&self.collection(PAYMENTS), query.clone(), options.clone(), &read).await?;
        found.extend(find_all(&self.collection(ARCHIVE), query, options, &read).await?);
        Ok(found)
    }

    /// Returns a page of a list in the archive, without copies that are not valid yet.
    pub(super) async fn archived_page(
        &self,
        query: Document,
        options: FindOptions,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let archive = self.collection(ARCHIVE);
        let read = |found: &RawDocument| {
            let moving = found.get_bool(MOVING).unwrap_or(false);
            let id = if moving { Some(read_id(found)?) } else { None };
            Ok((read_listed(found)?, id))
        };
        let mut asked = limit;
        loop {
            let mut options = options.clone();
            options.limit = Some(signed_limit(asked));
            let found = find_all(&archive, query.clone(), options, read).await?;
            let moving: Vec<_> = found.iter().filter_map(|(_, moving)| *moving).collect();
            let gone = if moving.is_empty() { BTreeSet::new() } else { self.stubs_among(&moving).await? };
            let was_whole = found.len() >= asked;
            let counted = found.into_iter().filter(|(_, moving)| moving.is_none_or(|id| gone.contains(&id)));
            let counted: Vec<_> = counted.map(|(listed, _)| listed).collect();
            if !was_whole || counted.len() >= limit {
                return Ok(counted);
            }
            asked = asked.saturating_add(limit.saturating_sub(counted.len()));
        }
    }

    /// Returns the ids of a merchant's copies in the archive that are not valid yet.
    pub(super) async fn uncounted(
        &self,
        merchant: &MerchantId,
        mode: Mode,
    ) -> Result<Vec<TransactionId>, StoreError> {
        let query = doc! { MOVING: true, "merchant": merchant.as_str(), "mode": mode.as_str() };
        let options = FindOptions::builder().projection(doc! { "_id": 1 }).hint(named(MOVING)).build();
        let mut moving = find_all(&self.collection(ARCHIVE), query, options, read_id).await?;
        if !moving.is_empty() {
            let gone = self.stubs_among(&moving).await?;
            moving.retain(|id| !gone.contains(id));
        }
        Ok(moving)
    }
}

/// Converts ids to the form that queries need.
pub(super) fn binaries<'a>(ids: impl Iterator<Item = &'a TransactionId>) -> Vec<bson::Uuid> {
    ids.map(|id| binary(id.uuid())).collect()
}

/// Returns the revisions of those of these payments that match in one collection.
async fn revisions(
    database: &Database,
    collection: &str,
    mut query: Document,
    ids: &[TransactionId],
) -> Result<Vec<(TransactionId, i64)>, StoreError> {
    query.insert("_id", doc! { "$in": binaries(ids.iter()) });
    query.insert("revision", doc! { "$exists": true });
    let options = FindOptions::builder().projection(doc! { "revision": 1 }).build();
    let read = |found: &RawDocument| {
        let id = read_id(found)?;
        let revision = found.get_i64("revision");
        Ok((id, revision.map_err(|_| StoreError::Unreadable(format!("the revision of payment {id}")))?))
    };
    find_all(&database.collection(collection), query, options, read).await
}

async fn stubs_among(
    database: &Database,
    ids: &[TransactionId],
) -> Result<BTreeSet<TransactionId>, StoreError> {
    let query = doc! { "_id": { "$in": binaries(ids.iter()) }, STUB: true };
    let options = FindOptions::builder().projection(doc! { "_id": 1 }).build();
    let found = find_all(&database.collection(PAYMENTS), query, options, read_id).await?;
    Ok(found.into_iter().collect())
}

/// Repeats in the archive those guarded writes that failed because their payments are archived.
///
/// Stubs have no revision, so the guard of such a write fails there. The write is repeated where the payment is.
pub(super) async fn also_in_archive(
    database: &Database,
    writes: &[&Write],
    mut outcomes: Vec<Outcome>,
    form: i64,
) -> Vec<Outcome> {
    let failed: Vec<TransactionId> = writes
        .iter()
        .zip(&outcomes)
        .filter(|(_, outcome)| **outcome == Err(WriteError::Conflict))
        .map(|(write, _)| write.payment.id)
        .collect();
    if failed.is_empty() {
        return outcomes;
    }
    let gone = match stubs_among(database, &failed).await {
        Ok(gone) => gone,
        Err(error) => {
            // It is unknown whether another writer was faster.
            let failed = outcomes.iter_mut().filter(|outcome| **outcome == Err(WriteError::Conflict));
            failed.for_each(|outcome| *outcome = Err(WriteError::NotWritten(error.clone())));
            return outcomes;
        }
    };
    let archived: Vec<&Write> =
        writes.iter().filter(|write| gone.contains(&write.payment.id)).copied().collect();
    if archived.is_empty() {
        return outcomes;
    }
    let bound = bind(database, &archived, form).await;
    let free = archived.iter().zip(&bound).filter(|(_, bound)| bound.is_ok());
    let free: Vec<&Write> = free.map(|(write, _)| *write).collect();
    let made = batch::run(database, &free, |free| {
        batch::update(ARCHIVE, free.iter().map(|write| PaymentStatement::of(write, form)).collect())
    });
    let mut made = made.await.into_iter();
    let mut bound = bound.into_iter();
    for (write, outcome) in writes.iter().zip(&mut outcomes) {
        if gone.contains(&write.payment.id)
            && let Some(bound) = bound.next()
        {
            let lost = || Err(WriteError::Unknown(StoreError::Unavailable("a write has no outcome".into())));
            *outcome = bound.and_then(|()| made.next().unwrap_or_else(lost));
        }
    }
    outcomes
}

/// Binds Pix to archived payments in their stubs, where uniqueness is enforced. A stale write binds nothing. If a write
/// becomes stale only now, its Pix stays bound. The Pix belongs to the payment in any case, and the writer's next
/// decision binds it again.
async fn bind(database: &Database, writes: &[&Write], form: i64) -> Vec<Outcome> {
    let has_pix = |write: &&Write| !write.payment.bound_pix.is_empty();
    let mut outcomes: Vec<Outcome> = vec![Ok(()); writes.len()];
    let with_pix: Vec<TransactionId> =
        writes.iter().filter(|one| has_pix(one)).map(|one| one.payment.id).collect();
    if with_pix.is_empty() {
        return outcomes;
    }
    let known = revisions(database, ARCHIVE, Document::new(), &with_pix).await;
    let is_known = |write: &Write, known: &[(TransactionId, i64)]| {
        known.contains(&(write.payment.id, signed(write.expected_revision)))
    };
    for (write, outcome) in writes.iter().zip(&mut outcomes).filter(|(write, _)| has_pix(write)) {
        *outcome = match &known {
            Ok(known) if is_known(write, known) => Ok(()),
            Ok(_) => Err(WriteError::Conflict),
            Err(error) => Err(WriteError::NotWritten(error.clone())),
        };
    }
    let is_to_bind = |(write, outcome): &(&&Write, &mut Outcome)| has_pix(write) && outcome.is_ok();
    let (to_bind, places): (Vec<&Write>, Vec<&mut Outcome>) =
        writes.iter().zip(&mut outcomes).filter(is_to_bind).map(|(write, outcome)| (*write, outcome)).unzip();
    let change = |write: &&Write| {
        let pix = doc! { "$each": &write.payment.bound_pix };
        let added = doc! { "$addToSet": { BOUND_PIX: pix } }.stamped(stamp(form));
        doc! { "q": { "_id": binary(write.payment.id.uuid()), STUB: true }, "u": added }
    };
    let bound =
        batch::run(database, &to_bind, |some| batch::update(PAYMENTS, some.iter().map(change).collect()));
    for (place, bound) in places.into_iter().zip(bound.await) {
        *place = bound;
    }
    outcomes
}
