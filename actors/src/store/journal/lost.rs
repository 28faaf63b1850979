//! Writes whose replies were lost: read back, to find out whether they are stored.

use std::collections::HashMap;
use std::time::Duration;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_ports::{PaymentStore, StoreError, Write, WriteError};

use super::Writer;
use crate::watch::meter::Meter;

/// Number of times they are read back, and the first wait, doubled each time: 3.1 s in all.
const LOOKS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// A write whose outcome is unknown.
pub(super) struct Lost {
    pub(super) write: Write,
    pub(super) writer: Writer,
    pub(super) error: StoreError,
}

impl Lost {
    /// Returns the outcome, if the stored payment shows it. A write that is not there yet may still land.
    fn verdict(&self, stored: Option<&Payment>) -> Option<Result<(), WriteError>> {
        let stored = stored?;
        if stored.last_op == self.write.payment.last_op {
            return Some(Ok(()));
        }
        // Revisions only rise, so the guard of this write can never match again.
        (stored.revision != self.write.expected_revision).then_some(Err(WriteError::Conflict))
    }

    /// Answers its writer if the stored payment shows the outcome; otherwise returns the write.
    fn told(self, meter: &Meter, stored: &HashMap<TransactionId, Payment>) -> Option<Self> {
        let Some(verdict) = self.verdict(stored.get(&self.write.payment.id)) else { return Some(self) };
        meter.conflicts.inc_by(u64::from(verdict.is_err()));
        self.writer.answer(verdict);
        None
    }
}

/// Reads lost writes back and answers their writers. Retries while the store does not answer or does not show them: a
/// replica set shows a write once its majority has it.
pub(super) async fn read_back(store: &dyn PaymentStore, meter: &Meter, mut lost: Vec<Lost>) {
    tracing::debug!(writes = lost.len(), "replies to writes were lost; reading the writes back");
    let mut wait = FIRST_WAIT;
    for _ in 0..LOOKS {
        if lost.is_empty() {
            return;
        }
        tokio::time::sleep(wait).await;
        wait = wait.saturating_mul(2);
        let ids: Vec<_> = lost.iter().map(|lost| lost.write.payment.id).collect();
        let Ok(stored) = store.load(&ids).await else { continue };
        let stored: HashMap<_, _> = stored.into_iter().map(|payment| (payment.id, payment)).collect();
        lost = lost.into_iter().filter_map(|lost| lost.told(meter, &stored)).collect();
    }
    for lost in lost {
        lost.writer.answer(Err(WriteError::Unknown(lost.error)));
    }
}
