//! Creations of which nobody knew that they were stored: their charges never left.

use std::time::Duration;

use quita_domain::payment::{CALL_LEASE_MS, Payment};
use tokio::time::Instant;
use uuid::Uuid;

use super::hold::Hold;

/// Creations of one payment that are remembered: each is a request that was answered 503 within the lease.
const REMEMBERED: usize = 32;

/// The writes of creations whose replies were lost. What follows from a write begins only once it is known to be stored:
/// if one of these is what is stored, and nobody has changed it since, nothing has left.
pub(super) struct Unsent {
    writes: Vec<Uuid>,
    hold: Hold,
}

impl Unsent {
    pub(super) const fn new(hold: Hold) -> Self {
        Self { writes: Vec::new(), hold }
    }

    /// The reply to this write was lost. It is remembered until the lease of its charge is over: then it is asked for.
    pub(super) fn remember(&mut self, write: Uuid) {
        if self.writes.len() >= REMEMBERED {
            self.writes.remove(0);
        }
        self.writes.push(write);
        self.hold.for_unsent(Some(Instant::now() + Duration::from_millis(CALL_LEASE_MS)));
    }

    /// Whether what is stored is one of them, as it was written.
    pub(super) fn is(&self, stored: &Payment) -> bool {
        self.writes.contains(&stored.last_op)
    }

    /// A later write is known to be stored.
    pub(super) fn forget(&mut self) {
        self.writes.clear();
        self.hold.for_unsent(None);
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.hold.for_unsent(None);
    }
}
