//! Time: one true wall clock that can be moved forward, and a node's own view of it that may jump.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use quita_domain::time::Timestamp;
use tokio::time::Instant;

/// Default moment at which a world begins: 2026-11-21T12:00:00Z.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// True wall clock of a world. It advances with the paused time of its runtime.
pub(crate) struct WorldClock {
    /// Time of the wall clock when the world began.
    starts_at: Timestamp,
    began: Instant,
    put_forward_ms: AtomicU64,
}

impl WorldClock {
    pub(crate) fn begin(at: Option<Timestamp>) -> Self {
        let starts_at = at.unwrap_or(START);
        Self { starts_at, began: Instant::now(), put_forward_ms: AtomicU64::new(0) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.starts_at.plus_ms(self.elapsed_ms() + self.put_forward_ms.load(Ordering::Relaxed))
    }

    /// Returns the milliseconds that passed without those that were skipped.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    /// Moves the clock forward to this moment, if that is later. Returns the skipped milliseconds.
    pub(crate) fn put_forward_to(&self, at: Timestamp) -> u64 {
        let skipped_ms = at.ms_since(self.now());
        self.put_forward_ms.fetch_add(skipped_ms, Ordering::Relaxed);
        skipped_ms
    }
}

/// Offset of a node's clock from the true one, in milliseconds.
#[derive(Default)]
pub(crate) struct Skew(AtomicI64);

impl Skew {
    pub(crate) fn set_ms(&self, ms: i64) {
        self.0.store(ms, Ordering::Relaxed);
    }

    pub(crate) fn of(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(now.millis() + self.0.load(Ordering::Relaxed))
    }
}
