//! Time, ids and dice that a test can foresee.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use quita_domain::time::Timestamp;
use quita_ports::{Clock, Dice, Ids};
use tokio::time::Instant;
use uuid::Uuid;

/// Time at which every world begins: 2026-11-21T12:00:00Z.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// A wall clock that goes with the paused time of the runtime that lives now, and stands still between two lives.
#[derive(Default)]
pub(crate) struct TestClock {
    before_ms: AtomicU64,
    begun: Mutex<Option<Instant>>,
}

impl TestClock {
    /// A runtime begins to live.
    pub(crate) fn begin(&self) {
        *self.begun.lock().unwrap() = Some(Instant::now());
    }

    /// It ends, and the clock stands still.
    pub(crate) fn end(&self) {
        let elapsed_ms = self.elapsed_ms();
        self.before_ms.store(elapsed_ms, Ordering::SeqCst);
        *self.begun.lock().unwrap() = None;
    }

    /// Time goes by between two lives.
    pub(crate) fn skip_ms(&self, ms: u64) {
        self.before_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Milliseconds since the world began.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        let begun = *self.begun.lock().unwrap();
        let now_ms = begun.map_or(0, |begun| u64::try_from(begun.elapsed().as_millis()).unwrap());
        self.before_ms.load(Ordering::SeqCst) + now_ms
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        START.plus_ms(self.elapsed_ms())
    }
}

/// Ids that count up. Can be told to fail once, which kills the transaction that asks.
#[derive(Default)]
pub(crate) struct TestIds {
    next: AtomicU64,
    dies: AtomicBool,
}

impl TestIds {
    pub(crate) fn die_once(&self) {
        self.dies.store(true, Ordering::SeqCst);
    }
}

impl Ids for TestIds {
    fn fresh(&self) -> Uuid {
        assert!(!self.dies.swap(false, Ordering::SeqCst), "no id today");
        Uuid::from_u128(0x1_0000_0000 + u128::from(self.next.fetch_add(1, Ordering::SeqCst)))
    }
}

/// Dice that always show the middle: every wait is exactly what the schedule says.
pub(crate) struct LoadedDice;

impl Dice for LoadedDice {
    fn roll(&self) -> u64 {
        20
    }
}
