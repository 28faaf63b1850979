//! Resolution by a person of operations and charges that are stuck, after the acquirer was asked outside this service.

use super::change::OperationChange;
use super::draft::Draft;
use super::status_change::AMOUNT_MISMATCH;
use super::{Change, Payment, Refusal};
use crate::event::Cause;
use crate::identity::OperationId;
use crate::numbering::AttemptNumber;
use crate::operation::{Operation, Verdict};
use crate::outbound_call::Progress;
use crate::status::Status;
use crate::time::Timestamp;

/// Time for which an operation must be open before a person may state its outcome. Until then the acquirer may still be
/// processing it, and will answer by itself.
const STUCK_AFTER_MS: u64 = 10 * 60_000;

/// The reason that the merchant reads.
pub const RESOLVED_BY_OPERATOR: &str = "resolved_by_operator";

impl Operation {
    /// Returns the outcomes that a person may state. None while the operation is under way, or was requested only just
    /// now. An operation that certainly had no effect can only be given up.
    pub fn possible_verdicts(&self, now: Timestamp) -> &'static [Verdict] {
        let is_stuck = now.ms_since(self.requested_at) >= STUCK_AFTER_MS;
        match self.call.progress {
            Progress::Ready => &[Verdict::Refused],
            Progress::Unknown | Progress::Taken if is_stuck => &[Verdict::Done, Verdict::Refused],
            Progress::Unknown | Progress::Taken | Progress::Sent | Progress::Ended(_) => &[],
        }
    }
}

impl Payment {
    /// Returns the verdicts that a person may give on an unanswered last charge: only that it has no money and never
    /// will. Only the acquirer may state money, because it also identifies it. None while the charge is under way, or
    /// was sent only just now.
    pub fn possible_charge_verdicts(&self, now: Timestamp) -> &'static [Verdict] {
        let Some(last) = self.state.attempts.last() else { return &[] };
        let is_unclear = last.call.is_inquired_about();
        let is_stuck = now.ms_since(last.at) >= STUCK_AFTER_MS;
        if is_unclear && is_stuck && self.status() == Status::Initial { &[Verdict::Refused] } else { &[] }
    }

    /// Returns true if only a person can end it: its acquirer takes no more money, but has another amount than
    /// requested.
    pub fn waits_for_a_person(&self) -> bool {
        self.concluded && self.status() == Status::Pending
    }
}

impl Draft {
    /// Applies a person's verdict on an operation. The payment continues as if the acquirer had stated it.
    pub(super) fn operation_resolved(&mut self, id: OperationId, verdict: Verdict) -> Result<(), Refusal> {
        let known = self.payment.operations.iter().find(|operation| operation.id == id);
        let stuck = known.filter(|known| known.possible_verdicts(self.clock()).contains(&verdict));
        let kind = stuck.ok_or(Refusal::NotStuck)?.kind;
        self.operation = Some(id);
        self.make(Change::Operation(id, OperationChange::Resolved(verdict)));
        match verdict {
            Verdict::Done => self.operation_done(id, kind),
            Verdict::Refused => {
                self.operation_refused(id, kind, RESOLVED_BY_OPERATOR.into(), Cause::Service);
                // Others may have captured, withdrawn or refunded; there may have been no room to record it.
                self.bring_check_forward(self.clock());
            }
        }
        Ok(())
    }

    /// Declines a payment whose charge has no money, according to a person. If its acquirer later reports money, it is
    /// given back and reported, as for any declined payment.
    pub(super) fn charge_resolved(
        &mut self,
        attempt: AttemptNumber,
        verdict: Verdict,
    ) -> Result<(), Refusal> {
        let is_possible = self.payment.possible_charge_verdicts(self.clock()).contains(&verdict);
        if !(self.payment.is_last_attempt(attempt) && is_possible) {
            return Err(Refusal::NotStuck);
        }
        self.charge_is_known_to_hold_nothing();
        Ok(())
    }

    /// Ends a payment that can no longer be paid, after a person has given back or settled the money that came in for
    /// it.
    pub(super) fn end_mismatch(&mut self) -> Result<(), Refusal> {
        if !self.payment.waits_for_a_person() {
            return Err(Refusal::NotStuck);
        }
        self.become_status(Status::Cancelled, Some(AMOUNT_MISMATCH), Cause::Service);
        Ok(())
    }
}
