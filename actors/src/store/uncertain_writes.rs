//! Payments whose memory here may be behind the store, although nobody else writes there.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::identity::TransactionId;

/// Holds the payments of which a write may still land after its writer gave it up: a commit that hung for too long, or
/// an actor that died over it. The next write that succeeds ends the doubt: its guard lets no older one through. One
/// that is never written again stays until the process ends, at some bytes each.
#[derive(Default)]
pub(crate) struct UncertainWrites {
    ids: Mutex<HashSet<TransactionId>>,
    /// Almost always none, and every read asks.
    count: AtomicUsize,
}

impl UncertainWrites {
    fn lock(&self) -> MutexGuard<'_, HashSet<TransactionId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write of it may still land.
    pub(crate) fn begin(&self, id: TransactionId) {
        let mut ids = self.lock();
        ids.insert(id);
        self.count.store(ids.len(), Ordering::Release);
    }

    /// A write of it succeeded.
    pub(crate) fn end(&self, id: TransactionId) {
        if self.count.load(Ordering::Acquire) > 0 {
            let mut ids = self.lock();
            ids.remove(&id);
            self.count.store(ids.len(), Ordering::Release);
        }
    }

    /// Whether only the store can tell what it is.
    pub(crate) fn has(&self, id: TransactionId) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.lock().contains(&id)
    }
}
