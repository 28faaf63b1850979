//! The archive: payments for which no further activity is expected.

use super::{Chargeback, Payment};
use crate::operation::Operation;
use crate::time::{DAY_MS, Timestamp};

/// Shortest time without activity before a payment is archived. Longer than the period in which tries of a card are
/// counted.
pub const ARCHIVED_AFTER_AT_LEAST_MS: u64 = 90 * DAY_MS;

impl Payment {
    /// Returns true if no further activity is expected, and there has been none since `until`.
    ///
    /// Money can still come in, be refunded or be charged back: the payment then continues from the archive.
    pub fn is_archivable(&self, until: Timestamp) -> bool {
        let mut tried = self.outbox.iter().filter_map(|delivery| delivery.attempts.last());
        // A lost dispute stays open for ever, since no acquirer reports its end, so its payment is never archived
        // (decision 45).
        self.is_finished(until)
            && self.created_at <= until
            && self.state.updated_at <= until
            && tried.all(|attempt| attempt.at <= until)
            && self.due_at().is_none()
            && self.outbox_at().is_none()
            && !self.hinted
            && !self.operations.iter().any(Operation::is_processing)
            && !self.chargebacks.iter().any(Chargeback::is_open)
            && self.reports.is_empty()
    }
}
