//! Changes of the status, and the reasons for them that the record states.

use super::draft::Draft;
use super::{Change, Payment};
use crate::event::Cause;
use crate::status::Status;

/// Reason of a payment that ended because another amount came in.
pub const AMOUNT_MISMATCH: &str = "amount_mismatch";

/// Reason of a payment that was declined because no acquirer could be reached. Nothing was charged.
pub const NO_ACQUIRER_AVAILABLE: &str = "no_acquirer_available";

/// Reason of a payment that ended because its acquirer had no code to pay with.
pub(super) const NO_CODE: &str = "no_code";

/// Reason of a declined card that had been approved and was never captured.
pub(super) const AUTHORIZATION_EXPIRED: &str = "authorization_expired";

/// Reasons of a cancelled charge that was withdrawn at the acquirer, by its receiver or by the acquirer.
pub(super) const REMOVED_AT_BANK: &str = "removed_at_bank";
pub(super) const REMOVED_BY_PSP: &str = "removed_by_psp";

impl Payment {
    /// Returns true if it was given up because its acquirer had no code to pay with: the charge there is withdrawn.
    pub(super) fn had_no_code(&self) -> bool {
        self.state.status_reason.as_deref() == Some(NO_CODE)
    }
}

impl Draft {
    /// Changes the status along an edge of the table; any other change would be a defect, and is ignored.
    pub(super) fn become_status(&mut self, to: Status, reason: Option<&str>, cause: Cause) {
        if self.payment.status().allows(to) {
            self.make(Change::StatusChanged { to, reason: reason.map(String::from), cause });
            self.schedule_look_at_paid();
        }
    }
}
