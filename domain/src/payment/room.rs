//! Bounds on a payment's operations: its document stays bounded, and an acquirer's refusals block nobody for ever.
//!
//! Every operation stays in the document, so that a repeated key is always a replay. Those that were done or are under
//! way count against one bound. Refused ones moved nothing, and have a separate bound for each verb. Beyond it, the
//! next one is not forbidden but has to wait, each time longer.

use super::Refusal;
use super::draft::Draft;
use crate::operation::{Operation, OperationState, RequestedOperation};
use crate::time::DAY_MS;

/// Maximum number of operations besides the refused ones.
const MAX_OPERATIONS: usize = 100;

/// Refused cancellations, or captures, without a pause: each takes some 300 bytes.
const REFUSED_AT_ONCE: usize = 1_000;

/// Refused refunds without a pause: each is also an event with a delivery, and its record is in all later events.
const REFUSED_REFUNDS_AT_ONCE: usize = 200;

/// Pause after the last refused operation before the first one beyond the bound; doubled with each.
const FIRST_PAUSE_MS: u64 = 60_000;

/// Longest pause: it allows some fifty a year.
const LONGEST_PAUSE_MS: u64 = 7 * DAY_MS;

impl Draft {
    /// Checks that the payment has room for one more operation.
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

const fn is_refused(operation: &Operation) -> bool {
    match operation.state() {
        OperationState::Refused => true,
        OperationState::Processing | OperationState::Done => false,
    }
}

/// Returns the pause before the next operation after this many refusals beyond the bound.
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
