//! State that clients, receiver and progress share.

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
    phase: Mutex<Phase>,
}

/// Part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Payments are made.
    Making,
    /// Payments are made no more, and events may still come until then.
    Settling {
        /// Latest end.
        until: Instant,
    },
    /// The service is asked how each payment ended.
    Checking {
        /// Answers so far.
        done: usize,
        /// Questions of this round.
        total: usize,
    },
    /// The service is asked about the deliveries of payments that lack an event.
    Tracing {
        /// Answers so far.
        done: usize,
        /// Questions.
        total: usize,
    },
}

impl Board {
    /// A board of a run that begins now, with so many stages.
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

    /// Returns the part of the run that is under way.
    pub(super) fn phase(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins another part of the run.
    pub(super) fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// Counts one more answer to the questions of this part.
    pub(super) fn answered(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if let Phase::Checking { done, .. } | Phase::Tracing { done, .. } = &mut *phase {
            *done += 1;
        }
    }
}
