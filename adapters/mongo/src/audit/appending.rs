//! Changes of the chain: entry, head and what is erased in one transaction, so that every node finds the same end.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use bson::{RawDocumentBuf, doc};
use mongodb::error::{Error, TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT};
use mongodb::options::ReadConcern;
use mongodb::{ClientSession, Collection, Database};
use quita_domain::audit::chain::{ChainHead, ChainKey, ChainPlace, ChainedEntry, NewAuditEntry};
use quita_ports::StoreError;
use serde::Serialize;

use super::HEAD;
use super::stored::{StoredEntry, StoredHead, entry_in, head_in};
use crate::connect::write_concern;
use crate::failure::{answer_within_time, no_answer, store_error};
use crate::form::Form;
use crate::indexes::{AUDIT, AUDIT_HEAD, SEQUENCE, named};
use crate::reading::binary;
use quita_stored_form::rules::entry_exists;

/// Time for which others may be faster before an entry is given up.
const RACE_TIME_OUT: Duration = Duration::from_secs(10);
const FIRST_WAIT: Duration = Duration::from_millis(4);
const LONGEST_WAIT: Duration = Duration::from_millis(1_000);
/// Times that a commit is asked for again whose answer was lost.
const MAX_COMMITS: u32 = 3;

/// A change of the log that one transaction makes.
#[async_trait]
pub(super) trait Change: Sync {
    /// Result of the change.
    type Done: Send;

    /// The entry that it appends.
    fn entry(&self) -> &NewAuditEntry;

    /// Makes it. What it reads is of one moment, and of two that change the head one is committed.
    async fn make(&self, database: &Database, session: &mut ClientSession) -> Result<Self::Done, Failed>;
}

/// Reasons why an attempt came to nothing.
pub(super) enum Failed {
    /// Another node was faster, or the server moved: the same may be tried again.
    Raced(StoreError),
    Ended(StoreError),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        match error.contains_label(TRANSIENT_TRANSACTION_ERROR) {
            true => Self::Raced(store_error(&error)),
            false => Self::Ended(store_error(&error)),
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Ended(error)
    }
}

/// Makes a change, after whoever is faster.
pub(super) async fn make<C: Change>(database: &Database, change: &C) -> Result<C::Done, StoreError> {
    let (begun, mut wait, mut races) = (Instant::now(), FIRST_WAIT, 0_usize);
    loop {
        let attempt = async { Ok::<_, Error>(attempt(database, change).await) };
        match answer_within_time(attempt).await {
            Some(Ok(Ok(done))) => return Ok(done),
            Some(Ok(Err(Failed::Ended(error)))) => return Err(error),
            Some(Ok(Err(Failed::Raced(error)))) if begun.elapsed() > RACE_TIME_OUT => return Err(error),
            Some(Ok(Err(Failed::Raced(_)))) => {}
            Some(Err(error)) => return Err(store_error(&error)),
            None => return Err(no_answer()),
        }
        tokio::time::sleep(parted(wait, change.entry(), races)).await;
        wait = wait.saturating_mul(2).min(LONGEST_WAIT);
        races = races.saturating_add(1);
    }
}

/// From a half of the wait to one and a half, different for each entry and race: nodes that were in each other's way part.
fn parted(wait: Duration, new: &NewAuditEntry, races: usize) -> Duration {
    // The last eight bytes of a UUIDv7 are random.
    let random = new.entry.id.as_bytes().iter().rev().nth(races.checked_rem(8).unwrap_or(0)).copied();
    let share = u32::from(random.unwrap_or(0)).saturating_add(128);
    wait.saturating_mul(share).checked_div(256).unwrap_or(wait)
}

async fn attempt<C: Change>(database: &Database, change: &C) -> Result<C::Done, Failed> {
    let mut session = database.client().start_session().await?;
    let begin = session.start_transaction();
    begin.read_concern(ReadConcern::snapshot()).write_concern(write_concern()).await?;
    match change.make(database, &mut session).await {
        Ok(done) => commit(&mut session).await.map(|()| done),
        Err(failed) => {
            // What is not ended here the server ends by itself.
            drop(session.abort_transaction().await);
            Err(failed)
        }
    }
}

async fn commit(session: &mut ClientSession) -> Result<(), Failed> {
    let mut asked = 1;
    loop {
        match session.commit_transaction().await {
            Ok(()) => return Ok(()),
            Err(error) if error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT) && asked < MAX_COMMITS => {
                asked = asked.saturating_add(1);
            }
            // It may be written: asked for again, it is found by its id.
            Err(error) if error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT) => {
                return Err(Failed::Raced(store_error(&error)));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// One more entry, within a transaction.
pub(super) struct Append<'a> {
    pub(super) new: &'a NewAuditEntry,
    pub(super) key: &'a ChainKey,
    pub(super) form: &'a Form,
}

#[async_trait]
impl Change for Append<'_> {
    type Done = ChainPlace;

    fn entry(&self) -> &NewAuditEntry {
        self.new
    }

    async fn make(&self, database: &Database, session: &mut ClientSession) -> Result<ChainPlace, Failed> {
        let Self { new, key, form } = *self;
        let audit: Collection<RawDocumentBuf> = database.collection(AUDIT);
        let heads: Collection<RawDocumentBuf> = database.collection(AUDIT_HEAD);
        // There is one with this id: the same one, if somebody asks again because the answer was lost.
        if let Some(known) = with_id(database, session, new).await? {
            let is_same = known.was(&new.entry);
            return if is_same { Ok(known.position()) } else { Err(entry_exists(new.entry.id).into()) };
        }
        let head = heads.find_one(doc! { "_id": HEAD }).session(&mut *session).await?;
        let head = head.map(|head| head_in(&head)).transpose()?;
        let last = audit.find_one(doc! {}).sort(doc! { "sequence": -1 }).hint(named(SEQUENCE));
        let last = last.projection(doc! { "_id": 0, "sequence": 1 }).session(&mut *session).await?;
        let last = last.map(|last| super::sequence_of(&last)).transpose()?.unwrap_or(0);
        let chained = ChainedEntry::after(head.as_ref(), last, new, key);
        let next = form.stamped(encoded(&StoredHead::of(&ChainHead::of(&chained, key)))?);
        if head.is_some() {
            heads.replace_one(doc! { "_id": HEAD }, next).session(&mut *session).await?;
        } else {
            heads.insert_one(next).session(&mut *session).await?;
        }
        let entry = form.stamped(encoded(&StoredEntry::of(&chained))?);
        audit.insert_one(entry).session(&mut *session).await?;
        Ok(chained.position())
    }
}

/// The entry that has the id of this one already.
pub(super) async fn with_id(
    database: &Database,
    session: &mut ClientSession,
    new: &NewAuditEntry,
) -> Result<Option<ChainedEntry>, Failed> {
    let audit: Collection<RawDocumentBuf> = database.collection(AUDIT);
    let known = audit.find_one(doc! { "_id": binary(new.entry.id) }).session(session).await?;
    Ok(known.map(|known| entry_in(&known)).transpose()?)
}

fn encoded(value: &impl Serialize) -> Result<RawDocumentBuf, StoreError> {
    let unfit = |_| StoreError::Unreadable("an entry of the audit log can't be encoded".into());
    bson::serialize_to_raw_document_buf(value).map_err(unfit)
}
