//! Reconciliation: lines of lists and files, brought to their payments and judged.
//!
//! No actor, and nothing here changes a payment. Where a line and its payment differ, the payment's acquirer is asked
//! first, in the ordinary way: `asking.rs` puts a hint into the inbox in the store, which any node that serves takes up.
//! So this works the same in the service and in a command beside it (decision 27). What differs still is an exception.
//!
//! A run is `judging.rs` for every line, and for a list `listing.rs` before it: read whole, imported, then judged. What went
//! back of older Pix is `returned.rs`. When which run is due is `nights.rs`.

mod asking;
mod judging;
mod listing;
mod nights;
mod pages;
mod returned;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::identity::{AcquirerName, Mode};
use quita_ports::{Clock, StoreError, WholeStore};
use thiserror::Error;

pub use listing::Tell;
pub use nights::{Count, Nights, last_day};
pub use pages::List;

/// Lines that are judged, and whose payments are asked for, at once.
pub const RECONCILED_AT_ONCE: usize = 200;

/// How long an acquirer may take to answer what is asked for a batch of lines. Then they are judged by what is stored,
/// and again by the next run.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why a run brought no verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotReconciled {
    /// The acquirer's list can't be had, or is not whole: nothing of it counts.
    #[error("the list can't be had: {0}")]
    NoList(String),
    /// The store did not do its part.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// What was found can't be handed on.
    #[error("the result can't be written: {0}")]
    Unwritten(String),
}

/// Judges lines, by the payments of one mode: what moves real money never meets a test.
#[derive(Clone)]
pub struct Reconciler {
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    /// The acquirers that a node that serves can ask.
    askable: BTreeSet<AcquirerName>,
    patience: Duration,
    mode: Mode,
}

impl Reconciler {
    /// Judges by the live payments of this store; these acquirers can be asked by whoever serves on it.
    pub fn new(
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        askable: impl IntoIterator<Item = AcquirerName>,
    ) -> Self {
        Self { store, clock, askable: askable.into_iter().collect(), patience: PATIENCE, mode: Mode::Live }
    }

    /// The same, by the payments of this mode.
    #[must_use]
    pub fn of_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The same, where acquirers may take this long to answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}
