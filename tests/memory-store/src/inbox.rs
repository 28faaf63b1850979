//! Notices from acquirers that wait to be processed.

use async_trait::async_trait;
use quita_domain::acquiring::Notice;
use quita_domain::time::Timestamp;
use quita_ports::{InboxStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{Records, StoredNotice, insert_new};

#[async_trait]
impl<C: Connection> InboxStore for MemoryStore<C> {
    async fn put_notices(&self, notices: &[Notice]) -> Result<Vec<bool>, StoreError> {
        self.0
            .change("put_notices", |records| Ok(notices.iter().map(|one| put(records, one)).collect()))
            .await
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<(Notice, u32)>, StoreError> {
        self.0
            .read("due_notices", |records| {
                let open = records.notices.values().filter(|stored| !stored.is_done && stored.due_at <= now);
                let mut due: Vec<_> = open.collect();
                // Notices of the same time stay in the order of their ids.
                due.sort_by_key(|stored| stored.due_at);
                Ok(due.into_iter().take(limit).map(|stored| (stored.notice.clone(), stored.tried)).collect())
            })
            .await
    }

    async fn waiting_notices(&self, ids: &[String]) -> Result<Vec<String>, StoreError> {
        self.0
            .read("waiting_notices", |records| {
                let waits = |id: &&String| records.notices.get(*id).is_some_and(|stored| !stored.is_done);
                Ok(ids.iter().filter(waits).cloned().collect())
            })
            .await
    }

    async fn finish_notices(&self, ids: &[String], _: Timestamp) -> Result<(), StoreError> {
        self.0
            .change("finish_notices", |records| {
                for id in ids {
                    if let Some(stored) = records.notices.get_mut(id) {
                        stored.is_done = true;
                    }
                }
                Ok(())
            })
            .await
    }

    async fn postpone_notice(&self, id: &str, tried: u32, until: Timestamp) -> Result<(), StoreError> {
        self.0
            .change("postpone_notice", |records| {
                if let Some(stored) = records.notices.get_mut(id).filter(|stored| stored.tried == tried) {
                    (stored.due_at, stored.tried) = (until, tried.saturating_add(1));
                }
                Ok(())
            })
            .await
    }
}

/// Stores a notice, and returns true if it is new.
fn put(records: &mut Records, notice: &Notice) -> bool {
    let id = notice.id.clone();
    let due_at = notice.received_at;
    let stored = StoredNotice { notice: notice.clone(), due_at, tried: 0, is_done: false };
    insert_new(&mut records.notices, id, stored)
}
