//! Questions about a payment's charges.

use super::Payment;
use crate::acquiring::Decline;
use crate::identity::AcquirerName;
use crate::numbering::AttemptNumber;
use crate::outbound_call::Progress;
use crate::routing::{Attempt, ChargeEnd};
use crate::status::Status;

/// Number of charges after which a payment is given up although acquirers are left.
pub(super) const MAX_ATTEMPTS: usize = 8;

impl Payment {
    /// Returns the acquirer that has the charge, or the last one that was sent it.
    pub fn acquirer(&self) -> Option<&AcquirerName> {
        self.state.attempts.last().map(|attempt| &attempt.acquirer)
    }

    /// Returns the acquirer of the charge before the last one.
    fn charge_before(&self) -> Option<&AcquirerName> {
        self.state.attempts.iter().rev().nth(1).map(|attempt| &attempt.acquirer)
    }

    /// Returns the number of the newest charge at this acquirer; [`AttemptNumber::NONE`] without one.
    pub(super) fn newest_attempt_at(&self, acquirer: &AcquirerName) -> AttemptNumber {
        let place = self.state.attempts.iter().rposition(|attempt| attempt.acquirer == *acquirer);
        place.map_or(AttemptNumber::NONE, AttemptNumber::at)
    }

    /// Returns true if the last charge goes to a different acquirer than the one before: it is a new payment there.
    pub fn is_failover(&self) -> bool {
        self.charge_before().is_some_and(|before| Some(before) != self.acquirer())
    }

    /// Returns true if the last charge goes to the same acquirer as the one before.
    pub(super) fn is_sent_again(&self) -> bool {
        self.charge_before().is_some_and(|before| Some(before) == self.acquirer())
    }

    /// Returns the next acquirer: the first eligible one that got no charge yet. After a further try there is none.
    pub(super) fn next_acquirer(&self) -> Option<AcquirerName> {
        if self.declined_before().is_some() {
            return None;
        }
        let was_tried =
            |name: &AcquirerName| self.state.attempts.iter().any(|attempt| attempt.acquirer == *name);
        let eligible = self.considered.iter().filter(|considered| considered.eligible);
        eligible.map(|considered| &considered.acquirer).find(|name| !was_tried(name)).cloned()
    }

    /// Returns the decline of an earlier charge, if a further try followed it.
    pub(super) fn declined_before(&self) -> Option<&Decline> {
        self.state.attempts.iter().find_map(|attempt| attempt.decline.as_ref())
    }

    /// Returns the charge with this number.
    pub fn attempt(&self, number: AttemptNumber) -> Option<&Attempt> {
        self.state.attempts.get(number.index()?)
    }

    /// Returns the number of the last charge.
    pub fn last_attempt(&self) -> AttemptNumber {
        AttemptNumber::last_of(self.state.attempts.len())
    }

    /// Returns true if this is the number of the last charge; false if there is no charge.
    pub(super) fn is_last_attempt(&self, attempt: AttemptNumber) -> bool {
        attempt == self.last_attempt() && attempt != AttemptNumber::NONE
    }

    /// Returns true if an answer with a code to pay with may come soon. An inquiry may bring a code too, but that may
    /// take hours.
    pub fn awaits_code(&self) -> bool {
        let is_under_way =
            self.state.attempts.last().is_some_and(|attempt| attempt.call.progress == Progress::Sent);
        let is_over = matches!(self.state.status, Status::Declined | Status::Cancelled);
        is_under_way && self.order.method.has_code() && !is_over && self.state.issued.is_none()
    }

    /// Returns true if the check is for a charge that was paid long ago: Cielo's query host shows three months of
    /// sales.
    pub(super) fn is_looked_at_long_after(&self) -> bool {
        let has_money = matches!(self.state.status, Status::Paid | Status::Chargeback);
        has_money && self.check.is_some_and(|check| check.planned.is_none())
    }

    /// Returns true if the payer may still have paid although the payment is over.
    pub(super) fn ended_unpaid(&self) -> bool {
        matches!(self.state.status, Status::Expired | Status::Cancelled)
    }

    /// Returns true if an inquiry about the current charge was made.
    pub(super) fn was_asked_about(&self) -> bool {
        let sent_at = self.state.attempts.last().map(|attempt| attempt.at);
        self.inquired_at.is_some() && self.inquired_at >= sent_at
    }

    /// Returns true if the call of the last charge is at this point.
    pub(super) fn last_outcome_is(&self, outcome: Progress<ChargeEnd>) -> bool {
        self.state.attempts.last().is_some_and(|attempt| attempt.call.progress == outcome)
    }

    /// Returns true if the acquirer certainly took nothing with the last charge.
    pub(super) fn last_charge_had_no_effect(&self) -> bool {
        [ChargeEnd::Declined, ChargeEnd::NotDelivered]
            .map(Progress::Ended)
            .into_iter()
            .any(|end| self.last_outcome_is(end))
    }

    /// Returns true if the outcome of the last charge is still to be learnt.
    pub(super) fn last_outcome_is_open(&self) -> bool {
        self.state.attempts.last().is_some_and(|attempt| attempt.call.is_open())
    }

    /// Returns true if a notice reported the outcome of the last charge before any answer did.
    pub(super) fn was_told_by_notice(&self) -> bool {
        self.last_outcome_is_open() && self.status() != Status::Initial
    }
}
