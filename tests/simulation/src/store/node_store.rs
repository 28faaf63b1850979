//! Store as one node reaches it: through a network that loses calls and replies, until the node dies.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_memory_store::{Connection, MemoryStore, Records};
use quita_ports::{StoreError, WholeStore, Write, WriteError};
use tokio::time::sleep;

use crate::bank::check_intent;
use crate::chance::Fault;
use crate::node::Fuse;
use crate::planted::{self, Mistake};
use crate::world::World;

/// Least and greatest delay in milliseconds of a commit that lands after its writer stopped waiting.
const LATE_MS: (u64, u64) = (50, 9_000);

/// Connection of one node to the store.
pub(crate) struct NodeStore {
    world: Arc<World>,
    fuse: Arc<Fuse>,
    /// Number of times that the store had been restored when this node started.
    restores: u64,
    /// True if something other than the actors writes here. The actors do not learn of a broken store that it meets.
    is_beside: bool,
}

impl NodeStore {
    /// Opens the store as one node sees it.
    pub(crate) fn open(world: &Arc<World>, fuse: &Arc<Fuse>) -> Arc<dyn WholeStore> {
        Self::seen(world, fuse, false)
    }

    /// Opens the same store, for work of the node beside its actors.
    pub(crate) fn beside(world: &Arc<World>, fuse: &Arc<Fuse>) -> Arc<dyn WholeStore> {
        Self::seen(world, fuse, true)
    }

    fn seen(world: &Arc<World>, fuse: &Arc<Fuse>, is_beside: bool) -> Arc<dyn WholeStore> {
        let restores = world.store.restores();
        let node = Self { world: Arc::clone(world), fuse: Arc::clone(fuse), restores, is_beside };
        Arc::new(MemoryStore::over(Arc::new(node)))
    }

    /// Simulates the way to the store of any call but a commit, with its faults.
    async fn reach(&self) -> Result<(), StoreError> {
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

    /// Returns true if a write arrives nowhere. A dead process takes its writes to its own embedded store with it. The
    /// store may also have been replaced since.
    fn is_gone(&self) -> bool {
        self.was_replaced() || self.world.store.is_embedded() && self.fuse.is_dead()
    }

    fn was_replaced(&self) -> bool {
        self.world.store.restores() != self.restores
    }

    fn apply_one(&self, write: &Write) -> Result<(), WriteError> {
        self.world.store.apply(&self.world, &planted::written(&self.world, self.fuse.place(), write))
    }

    /// Acknowledges a batch before it is written, as a service that does not wait for its store does.
    fn commit_behind(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let (store, batch) =
            (Self { world: Arc::clone(&self.world), fuse: Arc::clone(&self.fuse), ..*self }, batch.to_vec());
        let results = batch.iter().map(|_| Ok(())).collect();
        drop(actix::spawn(async move {
            store.world.pass(20, 500).await;
            store.fuse.pass().await;
            if !store.was_replaced() {
                store.apply(&batch);
            }
        }));
        results
    }

    fn apply(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        batch.iter().map(|write| self.apply_one(write)).collect()
    }

    /// Applies a batch whose reply does not come: after a while, or never.
    fn apply_late(&self, batch: &[Write]) {
        let world = Arc::clone(&self.world);
        let batch = batch.to_vec();
        let restores = self.restores;
        let wait = Duration::from_millis(world.chance.between(LATE_MS.0, LATE_MS.1));
        drop(actix::spawn(async move {
            sleep(wait).await;
            for write in batch.iter().filter(|_| world.store.restores() == restores) {
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
        if !self.is_beside && world.strikes(Fault::StoreBroken) {
            self.fuse.note_broken();
            return all(broken());
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
}

fn broken() -> WriteError {
    WriteError::NotWritten(StoreError::Broken("fsync failed".into()))
}

fn away() -> StoreError {
    StoreError::Unavailable("it is away".into())
}

impl Connection for NodeStore {
    async fn read<T: Send>(
        &self,
        call: &'static str,
        query: impl FnOnce(&Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        // No world is upgraded, and nothing depends on this call: its faults would only change the random numbers of
        // every seed.
        if call != "follow_form" {
            self.reach().await?;
        }
        self.world.store.read(&self.world, call, query)
    }

    async fn change<T: Send>(
        &self,
        call: &'static str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        // The call reports when its node was seen, and must not arrive hours later.
        let _telling = (call == "put_node").then(|| self.fuse.call());
        self.fuse.gate(call).await;
        self.reach().await?;
        if self.world.strikes(Fault::StoreLostRequest) {
            return Err(away());
        }
        if self.is_gone() {
            return pending().await;
        }
        let made = self.world.store.change(&self.world, call, change);
        let is_lost = self.world.strikes(Fault::StoreLostReply);
        self.fuse.gate(call).await;
        if is_lost { Err(away()) } else { made }
    }

    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.fuse.gate("commit").await;
        if self.is_beside && self.fuse.is_broken() {
            return batch.iter().map(|_| Err(broken())).collect();
        }
        self.fuse.check_not_broken();
        for (bank, query) in planted::sent_too_soon(&self.world, batch) {
            check_intent(&self.world, &bank, &query);
        }
        let results = match self.world.mistake {
            Some(Mistake::ReplyBeforePersist) => self.commit_behind(batch),
            Some(_) | None => self.commit_by_chance(batch).await,
        };
        self.fuse.gate("committed").await;
        planted::heard(&self.world, results)
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.reach().await?;
        if !self.world.store.is_embedded() && self.world.strikes(Fault::StoreBehind) {
            return Ok(Vec::new());
        }
        Ok(self.world.store.load(&self.world, ids))
    }

    async fn load_missing(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.reach().await?;
        Ok(self.world.store.load(&self.world, ids))
    }

    fn is_sole_writer(&self) -> bool {
        self.world.store.is_embedded()
    }
}
