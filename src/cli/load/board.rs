//! What the clients and the receiver share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hdrhistogram::CreationError;

use super::ledger::Ledger;
use super::measures::Measures;

/// The ledger and the measures, each behind a lock that is held for a moment. Never both at once.
#[derive(Debug)]
pub(super) struct Board {
    /// When the run began.
    pub(super) start: Instant,
    ledger: Mutex<Ledger>,
    measures: Mutex<Measures>,
}

impl Board {
    pub(super) fn new(ledger: Ledger) -> Result<Self, CreationError> {
        let start = Instant::now();
        let measures = Measures::new(start)?;
        Ok(Self { start, ledger: Mutex::new(ledger), measures: Mutex::new(measures) })
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn measures(&self) -> MutexGuard<'_, Measures> {
        self.measures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
