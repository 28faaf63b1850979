//! Passes over a store in memory.

use quita_domain::status::Status;
use quita_memory_store::{HandClock, MemoryStore, sample_payment};
use quita_ports::Write;

use super::*;

const DAY_MS: i64 = 86_400_000;
const KEPT_MS: u64 = 100 * 86_400_000;

/// Ids in order.
#[derive(Default)]
struct Numbers(std::sync::atomic::AtomicU64);

impl Ids for Numbers {
    fn fresh(&self) -> Uuid {
        Uuid::from_u64_pair(1, self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst))
    }
}

struct World {
    store: Arc<dyn WholeStore>,
    clock: Arc<HandClock>,
    ids: Arc<Numbers>,
}

impl World {
    fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        Self { store, clock: Arc::default(), ids: Arc::default() }
    }

    fn node(&self) -> Archive {
        Archive::new(self.store.clone(), self.clock.clone(), self.ids.clone(), KEPT_MS)
    }

    /// Stores a payment that was over at this time, or is not over.
    async fn put(&self, number: u128, at: i64, is_over: bool) {
        let mut payment = sample_payment(number);
        payment.created_at = Timestamp::from_millis(at);
        let state = Arc::make_mut(&mut payment.state);
        state.updated_at = Timestamp::from_millis(at);
        state.status = if is_over { Status::Declined } else { Status::Pending };
        state.attempts.clear();
        payment.check = None;
        payment.outbox.clear();
        let write = Write { payment: Arc::new(payment), expected_revision: 0 };
        assert_eq!(self.store.commit(&[write]).await, [Ok(())]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_rested_is_archived_and_counted_step_by_step() {
    let world = World::new();
    for number in 0..250 {
        world.put(number, 1_000 + i64::try_from(number).unwrap(), true).await;
    }
    world.put(900, 1_000, false).await;
    world.put(901, 60 * DAY_MS, true).await;
    world.clock.set(99 * DAY_MS);
    let mut told = Vec::new();
    assert_eq!(world.node().archive_due(|count| told.push(count)).await, Ok(0));
    world.clock.set(101 * DAY_MS);
    let begun = Instant::now();
    assert_eq!(world.node().archive_due(|count| told.push(count)).await, Ok(250));
    assert!(begun.elapsed() >= STEP_TIME * 2, "no faster than it may: {:?}", begun.elapsed());
    assert_eq!((told.iter().sum::<u64>(), told.len()), (250, 3), "{told:?}");
    assert_eq!(world.store.count_archived().await, Ok(250));
    assert_eq!(world.node().archive_due(|_| {}).await, Ok(0), "once");
    world.clock.set(200 * DAY_MS);
    assert_eq!(world.node().archive_due(|_| {}).await, Ok(1), "the one that was young");
}

#[tokio::test(start_paused = true)]
async fn one_node_at_a_time_archives() {
    let world = World::new();
    world.put(1, 1_000, true).await;
    world.clock.set(101 * DAY_MS);
    let first = world.node();
    let second = world.node();
    assert_eq!(first.claim(LEASE_MS).await, Ok(true));
    assert_eq!(second.archive_due(|_| {}).await, Ok(0));
    world.clock.set(101 * DAY_MS + i64::try_from(LEASE_MS).unwrap());
    assert_eq!(second.archive_due(|_| {}).await, Ok(1), "once the first one is gone");
}
