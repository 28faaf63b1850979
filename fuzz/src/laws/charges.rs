//! Charges. Another one is sent only if all earlier ones certainly had no effect, and after a decline only once.

use quita_domain::acquiring::{CallFailure, ChargeAnswer, DeclineKind, Fact};
use quita_domain::outbound_call::Progress;
use quita_domain::payment::{CALL_LEASE_MS, Command, Context, Decision, Effect, Payment};
use quita_domain::routing::{Attempt, ChargeEnd};
use quita_domain::status::Status;

use super::BELIEVED_AFTER_MS;

pub(super) fn check(
    before: &Payment,
    decision: &Decision,
    next: &Payment,
    command: &Command,
    context: &Context,
) {
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
    assert!(last.acquirer == *name && last.call.progress == Progress::Sent);
    assert!(earlier.iter().all(|attempt| is_void(attempt.call.progress)), "charged twice: {attempts:?}");
    assert_eq!(next.status(), Status::Initial, "charged although it is {}", next.status());
    if let Some(open) = before.state.attempts.last().filter(|attempt| attempt.call.is_open()) {
        let went_further = declined_further(next) > declined_further(before);
        if went_further {
            check_further(before, command, context);
        }
        assert!(went_further || shows_no_effect(open, command), "charged again after {command:?}: {open:?}");
    }
    let further = attempts.iter().position(|attempt| attempt.decline.is_some());
    let after = attempts.iter().skip(further.map_or(attempts.len(), |place| place + 1));
    assert!(
        after.clone().all(|attempt| attempt.acquirer == last.acquirer),
        "more than one further: {attempts:?}"
    );
}

fn declined_further(payment: &Payment) -> usize {
    payment.state.attempts.iter().filter(|attempt| attempt.decline.is_some()).count()
}

/// Checks a further charge after a decline. The issuer's answer may change, and the rule requires the charge. There was
/// none before, and the card may be tried again.
fn check_further(before: &Payment, command: &Command, context: &Context) {
    let (Command::ChargeAnswered { answer, .. } | Command::Inquired { answer, .. }) = command else {
        panic!("went further after {command:?}")
    };
    let ChargeAnswer::Known(statement) = answer else { panic!("went further after {answer:?}") };
    let [Fact::Declined(decline)] = statement.facts.as_slice() else {
        panic!("went further after {statement:?}")
    };
    assert_eq!(decline.kind, Some(DeclineKind::Reversible));
    assert!(before.routed.retries_declines && context.card_at_hand);
    assert_eq!(declined_further(before), 0, "a second time");
    // The fuzzers' card is a Visa.
    assert!(context.card_tries.is_some_and(|tries| tries.in_30_days < 15), "{:?}", context.card_tries);
}

const fn is_void(outcome: Progress<ChargeEnd>) -> bool {
    matches!(outcome, Progress::Ended(ChargeEnd::NotDelivered | ChargeEnd::Declined))
}

/// Returns true if the call's own answer, or repeated inquiries over long enough, show no effect.
fn shows_no_effect(open: &Attempt, command: &Command) -> bool {
    match command {
        Command::ChargeAnswered { answer, .. } => match answer {
            ChargeAnswer::Refused(_) | ChargeAnswer::NumberTaken(_) => true,
            ChargeAnswer::NotFound
            | ChargeAnswer::Failed(CallFailure::NotDelivered(_) | CallFailure::Withheld) => {
                !open.call.is_taken()
            }
            ChargeAnswer::Failed(CallFailure::Unknown(_) | CallFailure::Throttled { .. }) => false,
            ChargeAnswer::Known(_)
            | ChargeAnswer::Accepted(_)
            | ChargeAnswer::UnderReview(_)
            | ChargeAnswer::WithoutCode(_) => false,
            ChargeAnswer::Foreign(_) | ChargeAnswer::Mismatched(_) => false,
        },
        Command::Inquired { answer: ChargeAnswer::Refused(_) | ChargeAnswer::NumberTaken(_), .. } => true,
        Command::Inquired { answer: ChargeAnswer::NotFound, inquiring: Some(inquiring), .. } => {
            let lease_ms = if open.call.is_over && inquiring.call_is_over { 0 } else { CALL_LEASE_MS };
            !open.call.is_taken()
                && open.call.not_found >= 1
                && inquiring.for_ms >= BELIEVED_AFTER_MS + lease_ms
        }
        Command::Inquired { .. }
        | Command::Notified { .. }
        | Command::Hinted { .. }
        | Command::Operate(_)
        | Command::OperationAnswered { .. }
        | Command::OperationInquired { .. }
        | Command::OperationResolved { .. }
        | Command::ChargeResolved { .. }
        | Command::MismatchEnded
        | Command::DeliveryAnswered { .. }
        | Command::Redeliver { .. }
        | Command::Deliver { .. }
        | Command::Wake
        | Command::InquireNow
        | Command::Reported(_)
        | Command::PixTaken { .. }
        // Only the creator of the charge knows this, and cannot be wrong about it.
        | Command::ChargeNeverLeft => false,
    }
}
