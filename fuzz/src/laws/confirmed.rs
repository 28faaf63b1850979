//! Confirmation of a receiver that is stored with another write. It has the same result as storing it first. It causes
//! no write on its own, and is never lost.

use quita_domain::delivery::{Confirmation, DeliveryState};
use quita_domain::payment::{Command, Context, Decision, Payment, Refusal};

/// Checks that a write settles every confirmation that waited for it.
pub(super) fn check_none_is_lost(written: &Payment, confirmed: &[Confirmation]) {
    for confirmation in confirmed {
        let place = confirmation.delivery.place();
        assert_ne!(written.outbox[place].state, DeliveryState::Pending, "it is lost");
    }
}

pub(super) fn check(
    before: &Payment,
    confirmed: &Confirmation,
    together: &Result<Decision, Refusal>,
    command: &Command,
    context: &Context,
) {
    let Confirmation { delivery, attempt } = confirmed;
    let answered = Command::DeliveryAnswered { delivery: *delivery, attempt: attempt.clone() };
    let alone = before.decide(answered, context).expect("no refusal of what a receiver said");
    let stored = alone.next.as_ref().unwrap_or(before);
    let after = stored.decide(command.clone(), context);
    assert_eq!(together.as_ref().err(), after.as_ref().err(), "it decides what is refused");
    let (Ok(together), Ok(after)) = (together, after) else { return };
    let place = delivery.place();
    if let Some(written) = &together.next {
        // After this write, no other place keeps the confirmation.
        check_none_is_lost(written, std::slice::from_ref(confirmed));
    }
    let but_for_the_write =
        |payment: &Payment| Payment { revision: 0, last_op: context.op, ..payment.clone() };
    let mut without_it = but_for_the_write(stored);
    without_it.outbox[place] = before.outbox[place].clone();
    if !alone.effects.is_empty() || without_it != but_for_the_write(before) {
        // More work was due when it was stored, and is now done, so the command finds a different payment.
        return;
    }
    assert_eq!(together.next.as_ref().map(but_for_the_write), after.next.as_ref().map(but_for_the_write));
    assert_eq!(together.effects, after.effects);
    assert_eq!(together.discrepancies, after.discrepancies);
    assert_eq!(together.unstored, after.unstored);
    assert_eq!((together.operation, together.is_replay), (after.operation, after.is_replay));
}
