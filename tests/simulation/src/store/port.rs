//! The store as one node reaches it: through a network that loses things, until the node dies.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::Notice;
use quita_domain::exception::Exception;
use quita_domain::identity::TransactionId;
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{Backlog, ExceptionStore, InboxStore, PaymentStore, Store, StoreError, Write, WriteError};
use tokio::time::sleep;

use super::{Content, StoredNotice};
use crate::chance::Fault;
use crate::node::Fuse;
use crate::planted::{self, Mistake};
use crate::world::World;

/// How long after its writer gave up a late commit may land, in milliseconds.
const LATE_MS: (u64, u64) = (50, 9_000);

/// The store, seen from one node.
pub(crate) struct NodeStore {
    pub(crate) world: Arc<World>,
    pub(crate) fuse: Arc<Fuse>,
}

impl NodeStore {
    /// What a call that changes nothing may meet.
    pub(super) async fn read(&self) -> Result<(), StoreError> {
        self.fuse.pass().await;
        let world = &self.world;
        world.pass(1, 6).await;
        if world.strikes(Fault::StoreUnavailable) {
            return Err(away());
        }
        if world.strikes(Fault::StoreSlow) {
            world.pass(500, 4_000).await;
        }
        if world.strikes(Fault::StoreHang) {
            pending::<()>().await;
        }
        assert!(!world.strikes(Fault::StorePanic), "the store's adapter panics");
        Ok(())
    }

    /// What a call that changes something beside payments may meet: whether it is done, and what is told of it.
    pub(super) async fn change(
        &self,
        what: &'static str,
        make: impl FnOnce() + Send,
    ) -> Result<(), StoreError> {
        self.fuse.gate(what).await;
        self.read().await?;
        if self.world.strikes(Fault::StoreLostRequest) {
            return Err(away());
        }
        if self.is_gone() {
            return pending().await;
        }
        make();
        let is_lost = self.world.strikes(Fault::StoreLostReply);
        self.fuse.gate(what).await;
        if is_lost { Err(away()) } else { Ok(()) }
    }

    /// What a dead process had under way with its own embedded store dies with it.
    fn is_gone(&self) -> bool {
        self.world.store.is_embedded() && self.fuse.is_dead()
    }

    fn apply_one(&self, write: &Write) -> Result<(), WriteError> {
        self.world.store.apply(&self.world, &planted::written(&self.world, self.fuse.place(), write))
    }

    /// A service that does not wait for its store.
    fn commit_behind(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let (store, batch) =
            (Self { world: Arc::clone(&self.world), fuse: Arc::clone(&self.fuse) }, batch.to_vec());
        let results = batch.iter().map(|_| Ok(())).collect();
        drop(actix::spawn(async move {
            store.world.pass(20, 500).await;
            store.fuse.pass().await;
            store.apply(&batch);
        }));
        results
    }

    fn apply(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        batch.iter().map(|write| self.apply_one(write)).collect()
    }

    /// A batch whose reply does not come: it lands after a while, or never.
    fn apply_late(&self, batch: &[Write]) {
        let (world, batch) = (Arc::clone(&self.world), batch.to_vec());
        let wait = Duration::from_millis(world.chance.between(LATE_MS.0, LATE_MS.1));
        drop(actix::spawn(async move {
            sleep(wait).await;
            for write in &batch {
                drop(world.store.apply(&world, write));
            }
        }));
    }

    async fn commit_by_chance(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let world = &self.world;
        let all = |result: WriteError| -> Vec<_> { batch.iter().map(|_| Err(result.clone())).collect() };
        world.pass(1, 8).await;
        if world.strikes(Fault::StoreUnavailable) {
            return all(WriteError::NotWritten(away()));
        }
        if world.strikes(Fault::StoreSlow) {
            world.pass(500, 4_000).await;
        }
        assert!(!world.strikes(Fault::StorePanic), "the store's adapter panics");
        if world.strikes(Fault::StoreBroken) {
            self.fuse.note_broken();
            return all(WriteError::NotWritten(StoreError::Broken("fsync failed".into())));
        }
        if world.strikes(Fault::StoreLostRequest) {
            return all(WriteError::Unknown(away()));
        }
        if self.is_gone() {
            return pending().await;
        }
        if !world.store.is_embedded() && world.strikes(Fault::StoreLate) {
            self.apply_late(batch);
            return all(WriteError::Unknown(away()));
        }
        if world.strikes(Fault::StoreHang) {
            if world.chance.per_mille(500) {
                self.apply(batch);
            }
            return pending().await;
        }
        if world.strikes(Fault::StorePartial) {
            let one = |write| match world.chance.per_mille(500) {
                true => self.apply_one(write),
                false => Err(WriteError::NotWritten(away())),
            };
            return batch.iter().map(one).collect();
        }
        let results = self.apply(batch);
        if world.strikes(Fault::StoreLostReply) { all(WriteError::Unknown(away())) } else { results }
    }

    /// A payment as a read shows it.
    fn shown<'a>(&self, content: &'a Content, id: TransactionId) -> Option<&'a Arc<Payment>> {
        let is_stale = self.world.mistake == Some(Mistake::StaleRead) && self.world.chance.per_mille(200);
        if is_stale { content.before.get(&id) } else { content.payments.get(&id) }
    }

    fn due_by(
        &self,
        now: Timestamp,
        limit: usize,
        time: impl Fn(&Payment) -> Option<Timestamp>,
    ) -> Vec<TransactionId> {
        let content = self.world.store.lock();
        let timed = content.payments.values().filter_map(|payment| Some((time(payment)?, payment.id)));
        let mut due: Vec<_> = timed.filter(|(at, _)| *at <= now).collect();
        due.sort_unstable();
        due.into_iter().take(limit).map(|(_, id)| id).collect()
    }
}

fn away() -> StoreError {
    StoreError::Unavailable("it is away".into())
}

#[async_trait]
impl PaymentStore for NodeStore {
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.fuse.gate("commit").await;
        self.fuse.check_not_broken();
        for (bank, charge) in planted::sent_too_soon(&self.world, batch) {
            bank.check_intent(&self.world, &charge);
        }
        let results = match self.world.mistake {
            Some(Mistake::ReplyBeforePersist) => self.commit_behind(batch),
            Some(_) | None => self.commit_by_chance(batch).await,
        };
        self.fuse.gate("committed").await;
        planted::heard(&self.world, results)
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.read().await?;
        let content = self.world.store.lock();
        Ok(ids
            .iter()
            .filter_map(|id| self.shown(&content, *id))
            .map(|payment| payment.as_ref().clone())
            .collect())
    }

    async fn list(&self, _: &PaymentFilter, _: Option<Cursor>, _: usize) -> Result<Vec<Payment>, StoreError> {
        Ok(Vec::new())
    }

    async fn list_with_deliveries(
        &self,
        _: &DeliveryFilter,
        _: Option<Cursor>,
        _: usize,
    ) -> Result<Vec<Payment>, StoreError> {
        Ok(Vec::new())
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        self.read().await?;
        Ok(self.due_by(now, limit, Payment::due_at))
    }

    async fn outbox_due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        self.read().await?;
        Ok(self.due_by(now, limit, Payment::outbox_at))
    }
}

#[async_trait]
impl InboxStore for NodeStore {
    async fn put_notices(&self, notices: &[Notice]) -> Result<Vec<bool>, StoreError> {
        let mut is_new = Vec::new();
        self.change("put notices", || {
            let (due_at, mut content) = (self.world.clock.now(), self.world.store.lock());
            for notice in notices {
                is_new.push(!content.notices.contains_key(&notice.id));
                let is_done = self.world.mistake == Some(Mistake::FinishNoticeFirst);
                let stored = StoredNotice { notice: notice.clone(), due_at, tried: 0, is_done };
                content.notices.entry(notice.id.clone()).or_insert(stored);
            }
        })
        .await?;
        Ok(is_new)
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<(Notice, u32)>, StoreError> {
        self.read().await?;
        let content = self.world.store.lock();
        let due = content.notices.values().filter(|stored| !stored.is_done && stored.due_at <= now);
        Ok(due.take(limit).map(|stored| (stored.notice.clone(), stored.tried)).collect())
    }

    async fn finish_notices(&self, ids: &[String], _: Timestamp) -> Result<(), StoreError> {
        self.change("finish notices", || {
            let mut content = self.world.store.lock();
            for id in ids {
                content.notices.get_mut(id).unwrap().is_done = true;
            }
        })
        .await
    }

    async fn postpone_notice(&self, id: &str, tried: u32, until: Timestamp) -> Result<(), StoreError> {
        self.change("postpone notice", || {
            let mut content = self.world.store.lock();
            let stored = content.notices.get_mut(id).unwrap();
            stored.is_done |= self.world.mistake == Some(Mistake::DropEarlyNotice);
            if stored.tried == tried {
                (stored.due_at, stored.tried) = (until, tried + 1);
            }
        })
        .await
    }
}

#[async_trait]
impl ExceptionStore for NodeStore {
    async fn put_exception(&self, exception: &Exception) -> Result<(), StoreError> {
        self.change("put exception", || {
            let mut content = self.world.store.lock();
            let is_kept = self.world.mistake != Some(Mistake::DropException);
            if is_kept && content.exceptions.iter().all(|known| known.id != exception.id) {
                self.world.note(|| format!("exception {} {}", exception.id, exception.detail));
                content.exceptions.push(exception.clone());
            }
        })
        .await
    }

    async fn exceptions(&self, _: usize) -> Result<Vec<Exception>, StoreError> {
        Ok(self.world.store.lock().exceptions.clone())
    }
}

#[async_trait]
impl Store for NodeStore {
    async fn ping(&self) -> Result<(), StoreError> {
        self.read().await
    }

    async fn backlog(&self, _: Timestamp) -> Result<Backlog, StoreError> {
        Ok(Backlog::default())
    }

    fn is_sole_writer(&self) -> bool {
        self.world.store.is_embedded()
    }
}
