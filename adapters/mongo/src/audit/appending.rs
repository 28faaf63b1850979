//! Appending to the chain: an entry takes the next place, then the head moves to it.
//!
//! Each step writes one document, so a node that dies between them blocks no other: the next writer moves the head
//! first.

use std::time::{Duration, Instant};

use bson::doc;
use mongodb::options::ReadConcern;
use quita_domain::audit::chain::{ChainHead, ChainKey, ChainPlace, ChainedEntry, NewAuditEntry};
use quita_ports::{AuditStore, StoreError};
use uuid::Uuid;

use super::HEAD;
use super::stored::{StoredEntry, StoredHead, entry_in, head_in};
use crate::MongoStore;
use crate::failure::within_time;
use crate::indexes::{AUDIT, AUDIT_HEAD, SEQUENCE, named};
use crate::reading::binary;
use quita_stored_form::rules::entry_exists;

/// Time for which other writers may be faster before the entry is given up.
const RACE_TIME_OUT: Duration = Duration::from_secs(10);
const FIRST_WAIT: Duration = Duration::from_millis(4);
const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// End of the log, to which an entry is appended.
struct End {
    head: Option<ChainHead>,
    /// Place of the last entry.
    last: u64,
}

impl MongoStore {
    /// Appends an entry, after the entries of faster writers.
    pub(super) async fn append(&self, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, StoreError> {
        let begun = Instant::now();
        let mut wait = FIRST_WAIT;
        let mut races = 0_usize;
        loop {
            if let Some(place) = self.try_append(new, key).await? {
                return Ok(place);
            }
            if begun.elapsed() > RACE_TIME_OUT {
                let why = "other nodes were always faster to append to the audit log";
                return Err(StoreError::Unavailable(why.into()));
            }
            tokio::time::sleep(parted(wait, new, races)).await;
            // Nodes that collide wait longer each time, so that one of them gets through before the time-out.
            wait = wait.saturating_mul(2).min(LONGEST_WAIT);
            races = races.saturating_add(1);
        }
    }

    /// Appends an entry at the end that was read. Returns `None` if another node was faster.
    async fn try_append(
        &self,
        new: &NewAuditEntry,
        key: &ChainKey,
    ) -> Result<Option<ChainPlace>, StoreError> {
        // An entry with this id exists. It is the same one if the caller repeats the call because the answer was lost.
        if let Some(known) = self.entry_with_id(new.entry.id).await? {
            let is_same = known.was(&new.entry);
            return if is_same { Ok(Some(known.position())) } else { Err(entry_exists(new.entry.id)) };
        }
        let Some(End { head, last }) = self.end(key).await? else { return Ok(None) };
        let chained = ChainedEntry::after(head.as_ref(), last, new, key);
        // No two entries share a place.
        if !self.insert_one(AUDIT, &StoredEntry::of(&chained)).await? {
            return Ok(None);
        }
        // The entry is stored. If the head can't be moved to it now, the next writer does that.
        drop(self.move_head(head.as_ref(), &ChainHead::of(&chained, key)).await);
        Ok(Some(chained.position()))
    }

    /// Reads the end of the log, and moves the head to an entry whose writer has not done so. Returns `None` if others
    /// append meanwhile.
    async fn end(&self, key: &ChainKey) -> Result<Option<End>, StoreError> {
        let head = self.audit_head().await?;
        // The head is read before the entries: an append in between can make it lag behind, never run ahead.
        let audit = self.collection(AUDIT);
        let newest = audit.find_one(doc! {}).sort(doc! { "sequence": -1 }).hint(named(SEQUENCE));
        let newest = within_time(newest).await?;
        let last = newest.as_deref().map(super::sequence_of).transpose()?.unwrap_or(0);
        // A head ahead of the last entry means that entries were removed. The next entry follows the head, so the gap
        // shows.
        if head.as_ref().map_or(0, |head| head.sequence) >= last {
            return Ok(Some(End { head, last }));
        }
        // An unreadable last entry can't prove that it follows the head, so it is treated like one that does not.
        let newest = newest.as_deref().and_then(|newest| entry_in(newest).ok());
        let follows = |head: &ChainHead| head.moved_to(newest.as_ref()?, key);
        if let Some(moved) = head.as_ref().and_then(follows) {
            self.move_head(head.as_ref(), &moved).await?;
            return Ok(Some(End { head: Some(moved), last }));
        }
        // Entries may have been appended between the two reads. Otherwise the head was tampered with, which must be
        // reported.
        Ok((self.newest_head().await? == head).then_some(End { head, last }))
    }

    /// Reads the current head, even if the primary has just changed.
    async fn newest_head(&self) -> Result<Option<ChainHead>, StoreError> {
        let heads = self.collection(AUDIT_HEAD);
        let find = heads.find_one(doc! { "_id": HEAD }).read_concern(ReadConcern::linearizable());
        let found = within_time(find).await?;
        found.map(|found| head_in(&found)).transpose()
    }

    /// Moves the head, unless another node has already done so.
    async fn move_head(&self, from: Option<&ChainHead>, to: &ChainHead) -> Result<(), StoreError> {
        let Some(from) = from.map(StoredHead::of) else {
            return self.insert_one(AUDIT_HEAD, &StoredHead::of(to)).await.map(drop);
        };
        let guard = doc! { "_id": HEAD, "sequence": from.sequence, "hash": from.hash };
        self.replace_guarded(AUDIT_HEAD, guard, &StoredHead::of(to)).await.map(drop)
    }

    /// Finds the entry that already has this id.
    pub(super) async fn entry_with_id(&self, id: Uuid) -> Result<Option<ChainedEntry>, StoreError> {
        let found = within_time(self.collection(AUDIT).find_one(doc! { "_id": binary(id) })).await?;
        found.map(|found| entry_in(&found)).transpose()
    }
}

/// Returns between half and one and a half times the wait, different for each entry and race, so that nodes that
/// collided move apart.
fn parted(wait: Duration, new: &NewAuditEntry, races: usize) -> Duration {
    // The last eight bytes of a UUIDv7 are random.
    let random = new.entry.id.as_bytes().iter().rev().nth(races.checked_rem(8).unwrap_or(0)).copied();
    let share = u32::from(random.unwrap_or(0)).saturating_add(128);
    wait.saturating_mul(share).checked_div(256).unwrap_or(wait)
}
