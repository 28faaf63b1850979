//! Payments whose copy in memory may be stale, although this process is the only writer.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::identity::TransactionId;

/// Payments with a write that may still land after its writer gave up. The commit hung for too long, or the actor died
/// during it. The next successful write ends the doubt, because its guard lets no older one through. A payment that is
/// never written again stays here until the process ends, at a cost of a few bytes.
#[derive(Default)]
pub(crate) struct UncertainWrites {
    ids: Mutex<HashSet<TransactionId>>,
    /// Number of these payments. It is almost always zero, and every read checks it.
    count: AtomicUsize,
}

impl UncertainWrites {
    fn lock(&self) -> MutexGuard<'_, HashSet<TransactionId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a write of it may still land.
    pub(crate) fn begin(&self, id: TransactionId) {
        let mut ids = self.lock();
        ids.insert(id);
        // Updated under the lock, so that the count always matches the latest set.
        self.count.store(ids.len(), Ordering::Release);
    }

    /// Records that a write of it succeeded.
    pub(crate) fn end(&self, id: TransactionId) {
        if self.count.load(Ordering::Acquire) > 0 {
            let mut ids = self.lock();
            ids.remove(&id);
            self.count.store(ids.len(), Ordering::Release);
        }
    }

    /// Returns true if only the store has its true state.
    pub(crate) fn has(&self, id: TransactionId) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.lock().contains(&id)
    }
}
