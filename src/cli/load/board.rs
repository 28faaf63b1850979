//! State shared by clients, receiver and progress.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hdrhistogram::CreationError;

use super::ledger::Ledger;
use super::measures::Measures;

/// Ledger and measures, each behind its own lock, which is held briefly. The two are never locked together.
#[derive(Debug)]
pub(super) struct Board {
    /// Start of the run.
    pub(super) start: Instant,
    ledger: Mutex<Ledger>,
    measures: Mutex<Measures>,
    phase: Mutex<Phase>,
}

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Payments are being created.
    Making,
    /// No more payments are created, but their events may still arrive.
    Settling {
        /// End at the latest.
        until: Instant,
    },
    /// The service is queried for the final status of each payment.
    Checking {
        /// Answers so far.
        done: usize,
        /// Queries of this round.
        total: usize,
    },
    /// The service is queried for the deliveries of payments that are missing an event.
    Tracing {
        /// Answers so far.
        done: usize,
        /// Queries.
        total: usize,
    },
}

impl Board {
    /// Creates the board of a run that starts now, with this number of stages.
    pub(super) fn new(ledger: Ledger, stages: usize) -> Result<Self, CreationError> {
        let start = Instant::now();
        let measures = Measures::new(start, stages)?;
        Ok(Self {
            start,
            ledger: Mutex::new(ledger),
            measures: Mutex::new(measures),
            phase: Mutex::new(Phase::Making),
        })
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn measures(&self) -> MutexGuard<'_, Measures> {
        self.measures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current phase.
    pub(super) fn phase(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts another phase.
    pub(super) fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// Counts another answer in this phase.
    pub(super) fn answered(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if let Phase::Checking { done, .. } | Phase::Tracing { done, .. } = &mut *phase {
            *done += 1;
        }
    }
}
