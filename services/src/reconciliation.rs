//! Reconciliation: matches the lines of lists and files with payments, and judges them.
//!
//! Not an actor, and nothing here changes a payment. If a line and its payment differ, the payment's acquirer is asked
//! first, in the ordinary way. `asking.rs` puts a hint into the inbox in the store, and any serving node processes it.
//! So this works the same in the service and in a separate command (decision 27). A remaining difference becomes an
//! exception.
//!
//! `judging.rs` judges every line. Before that, `listing.rs` reads a list to its end and imports it. `charges.rs` finds the
//! payments of charges, and adds up their lines. `returned.rs` handles refunds of older Pix. `nights.rs` decides which run
//! is due.

mod asking;
mod charges;
mod judging;
mod listing;
mod nights;
mod pages;
mod returned;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::identity::{AcquirerName, Mode};
use quita_ports::{Clock, StoreError, WholeStore};
use thiserror::Error;

pub use listing::Tell;
pub use nights::{Count, Nights, last_day};
pub use pages::List;

/// Lines judged at once, and payments asked about at once.
pub const RECONCILED_AT_ONCE: usize = 200;

/// Time for which an acquirer may answer the questions about a batch of lines. After that they are judged by what is
/// stored, and again by the next run.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reason why a run brought no verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotReconciled {
    /// The acquirer's list is unavailable or incomplete: nothing of it counts.
    #[error("the list can't be had: {0}")]
    NoList(String),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The results can't be output.
    #[error("the result can't be written: {0}")]
    Unwritten(ErrorKind),
}

/// Judges lines by the payments of one mode: real money is never compared with test payments.
#[derive(Clone)]
pub struct Reconciler {
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    /// Acquirers that a serving node can ask.
    askable: BTreeSet<AcquirerName>,
    patience: Duration,
    mode: Mode,
    /// Receiver of differences that were reported; none in a command.
    count: Option<Count>,
}

impl Reconciler {
    /// Judges by the live payments of this store. A node serving it can ask these acquirers.
    pub fn new(
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        askable: impl IntoIterator<Item = AcquirerName>,
    ) -> Self {
        Self {
            store,
            clock,
            askable: askable.into_iter().collect(),
            patience: PATIENCE,
            mode: Mode::Live,
            count: None,
        }
    }

    /// Judges by the payments of this mode instead.
    #[must_use]
    pub fn of_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Counts each reported difference with this function.
    #[must_use]
    fn with_count(self, count: Count) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Sets the time for which acquirers may answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}
