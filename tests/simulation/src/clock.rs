//! Time: one true wall clock that can be put forward, and a node's own view of it that may jump.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use quita_domain::time::Timestamp;
use tokio::time::Instant;

/// Moment at which a world begins that begins at no other moment: 2026-11-21T12:00:00Z.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// The true wall clock of a world. It goes with the paused time of its runtime.
pub(crate) struct WorldClock {
    /// The wall clock's beginning.
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

    /// Milliseconds that really went by.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    /// Puts the clock forward to this moment, if that is later. Says by how many milliseconds.
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
