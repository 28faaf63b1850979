//! Creations that were stored without this process learning of it: their charges never left.

use std::time::Duration;

use quita_domain::payment::{CALL_LEASE_MS, Payment};
use tokio::time::Instant;
use uuid::Uuid;

use super::hold::Hold;

/// Maximum number of remembered creations of one payment: each is a request that was answered 503 within the lease.
const REMEMBERED: usize = 32;

/// Writes of creations whose replies were lost. The effects of a write begin only once it is known to be stored. So if
/// one of these is the stored state, unchanged, no charge has left.
pub(super) struct Unsent {
    writes: Vec<Uuid>,
    hold: Hold,
}

impl Unsent {
    pub(super) const fn new(hold: Hold) -> Self {
        Self { writes: Vec::new(), hold }
    }

    /// Remembers a write whose reply was lost, until the lease of its charge is over: then the acquirer is asked about
    /// the charge.
    pub(super) fn remember(&mut self, write: Uuid) {
        if self.writes.len() >= REMEMBERED {
            // The lease of the oldest ends first, and then it need not be remembered.
            self.writes.remove(0);
        }
        self.writes.push(write);
        self.hold.for_unsent(Some(Instant::now() + Duration::from_millis(CALL_LEASE_MS)));
    }

    /// Returns true if the stored payment is one of these writes, unchanged.
    pub(super) fn is(&self, stored: &Payment) -> bool {
        self.writes.contains(&stored.last_op)
    }

    /// Forgets them: a later write is known to be stored.
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
