//! How many operations a payment holds: its document is bounded, and refusals of the acquirer lock nobody out.
//!
//! Every operation stays in the document for ever, so that its key is a replay for ever. Those that were done or are
//! under way count against one bound. Refused ones moved nothing: they have a bound of their own for each verb, and
//! beyond it the next one has to wait, each time for longer, instead of never being possible again.

use super::decide::Draft;
use super::{Payment, Refusal};
use crate::operation::{Operation, OperationState, RequestedOperation};
use crate::time::DAY_MS;

/// Operations that a payment holds besides the refused ones.
const MAX_OPERATIONS: usize = 100;

/// Refused cancellations, or captures, without a pause: each is some 300 bytes.
const REFUSED_AT_ONCE: usize = 1_000;

/// The same of refunds: each is also an event with a delivery, and its record is in all later events.
const REFUSED_REFUNDS_AT_ONCE: usize = 200;

/// How long after the last refused one the first one beyond the bound may be asked for; twice as long with each.
const FIRST_PAUSE_MS: u64 = 60_000;

/// The longest pause: some fifty a year.
const LONGEST_PAUSE_MS: u64 = 7 * DAY_MS;

impl Draft {
    /// Whether the payment has room for one more operation.
    pub(super) fn check_room(&self, requested: RequestedOperation) -> Result<(), Refusal> {
        let refused = || self.payment.operations.iter().filter(|one| is_refused(one));
        if self.payment.operations.len().saturating_sub(refused().count()) >= MAX_OPERATIONS {
            return Err(Refusal::TooManyOperations(MAX_OPERATIONS));
        }
        let alike = || refused().filter(|one| one.kind.verb() == requested.verb());
        let bound = match requested {
            RequestedOperation::Cancel | RequestedOperation::Capture(_) => REFUSED_AT_ONCE,
            RequestedOperation::Refund(_) => REFUSED_REFUNDS_AT_ONCE,
        };
        let count = alike().count();
        let (Some(beyond), Some(last)) = (count.checked_sub(bound), alike().next_back()) else {
            return Ok(());
        };
        let until = last.requested_at.plus_ms(pause_ms(beyond));
        if self.clock() < until {
            return Err(Refusal::RefusedTooOften { verb: requested.verb(), count, until });
        }
        Ok(())
    }
}

impl Payment {
    /// What may be asked of it now, in the API's words.
    pub fn allowed_operations(&self) -> Vec<&'static str> {
        let all =
            [RequestedOperation::Cancel, RequestedOperation::Capture(None), RequestedOperation::Refund(None)];
        all.into_iter().filter(|one| self.permits(*one).is_ok()).map(RequestedOperation::verb).collect()
    }
}

const fn is_refused(operation: &Operation) -> bool {
    match operation.state {
        OperationState::Refused => true,
        OperationState::Processing | OperationState::Done => false,
    }
}

/// How long the next one waits when this many were refused beyond the bound.
fn pause_ms(beyond: usize) -> u64 {
    let doublings = u32::try_from(beyond).unwrap_or(u32::MAX).min(32);
    FIRST_PAUSE_MS.saturating_mul(2_u64.saturating_pow(doublings)).min(LONGEST_PAUSE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_week() {
        let minutes: Vec<_> = (0..4).map(|beyond| pause_ms(beyond) / 60_000).collect();
        assert_eq!(minutes, [1, 2, 4, 8]);
        for beyond in [14, 1_000, usize::MAX] {
            assert_eq!(pause_ms(beyond), LONGEST_PAUSE_MS, "{beyond}");
        }
    }
}
