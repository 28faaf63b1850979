//! Charges: another one is sent only when all before it certainly had no effect.

use quita_domain::acquiring::{CallFailure, ChargeAnswer};
use quita_domain::payment::{CALL_LEASE_MS, Command, Decision, Effect, Payment};
use quita_domain::routing::{Attempt, AttemptOutcome};
use quita_domain::status::Status;

use super::BELIEVED_AFTER_MS;

pub(super) fn check(before: &Payment, decision: &Decision, next: &Payment, command: &Command) {
    let attempts = &next.state.attempts;
    let mut charged = decision.effects.iter().filter_map(|effect| match effect {
        Effect::Charge(name) => Some(name),
        Effect::Inquire(..)
        | Effect::Operate(..)
        | Effect::InquireOperation(..)
        | Effect::Deliver(_)
        | Effect::Report => None,
    });
    let Some(name) = charged.next() else { return };
    assert_eq!(charged.next(), None, "two charges at once");
    let (last, earlier) = attempts.split_last().expect("a charge has its attempt");
    assert!(last.acquirer == *name && last.outcome == AttemptOutcome::Sent);
    assert!(earlier.iter().all(|attempt| is_void(attempt.outcome)), "charged twice: {attempts:?}");
    assert_eq!(next.status(), Status::Initial, "charged although it is {}", next.status());
    if let Some(open) = before.state.attempts.last().filter(|attempt| attempt.outcome.is_open()) {
        assert!(shows_no_effect(open, command), "charged again after {command:?}: {open:?}");
    }
}

const fn is_void(outcome: AttemptOutcome) -> bool {
    match outcome {
        AttemptOutcome::NotDelivered | AttemptOutcome::Declined => true,
        AttemptOutcome::Sent
        | AttemptOutcome::Unknown
        | AttemptOutcome::Registering
        | AttemptOutcome::Accepted => false,
    }
}

/// The call itself was answered, or the acquirer was asked about it often and for long enough.
fn shows_no_effect(open: &Attempt, command: &Command) -> bool {
    match command {
        Command::ChargeAnswered { answer, .. } => match answer {
            ChargeAnswer::Refused(_) => true,
            ChargeAnswer::NotFound
            | ChargeAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Withheld) => {
                open.outcome != AttemptOutcome::Registering
            }
            ChargeAnswer::Failed(CallFailure::Unknown(_) | CallFailure::Throttled { .. }) => false,
            ChargeAnswer::Known(_) | ChargeAnswer::Accepted(_) | ChargeAnswer::WithoutCode(_) => false,
            ChargeAnswer::Foreign(_) | ChargeAnswer::Mismatched(_) => false,
        },
        Command::Inquired { answer: ChargeAnswer::Refused(_), .. } => true,
        Command::Inquired { answer: ChargeAnswer::NotFound, inquiring_for_ms, .. } => {
            let lease_ms = if open.call_is_over { 0 } else { CALL_LEASE_MS };
            open.outcome != AttemptOutcome::Registering
                && open.not_found >= 1
                && inquiring_for_ms.is_some_and(|ms| ms >= BELIEVED_AFTER_MS + lease_ms)
        }
        Command::Inquired { .. }
        | Command::Notified { .. }
        | Command::Hinted(_)
        | Command::Operate(_)
        | Command::OperationAnswered { .. }
        | Command::OperationInquired { .. }
        | Command::OperationResolved { .. }
        | Command::MismatchEnded
        | Command::DeliveryAnswered { .. }
        | Command::Redeliver { .. }
        | Command::Deliver { .. }
        | Command::Wake
        | Command::InquireNow
        | Command::Reported(_)
        // Only its creator knows that, who makes no mistake about it.
        | Command::ChargeNeverLeft => false,
    }
}
