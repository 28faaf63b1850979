//! A receiver's confirmation that goes along with another write leaves what storing it first would have left, and is no
//! reason for a write by itself.

use quita_domain::delivery::Confirmation;
use quita_domain::payment::{Command, Context, Decision, Payment, Refusal};

pub(super) fn check(
    before: &Payment,
    confirmed: &Confirmation,
    together: &Result<Decision, Refusal>,
    (command, context): (&Command, &Context),
) {
    let Confirmation { delivery, attempt } = confirmed;
    let answered = Command::DeliveryAnswered { delivery: *delivery, attempt: attempt.clone() };
    let alone = before.decide(answered, context);
    let alone = alone.expect("no refusal of what a receiver said");
    let stored = alone.next.as_ref().unwrap_or(before);
    let after = stored.decide(command.clone(), context);
    assert_eq!(together.as_ref().err(), after.as_ref().err(), "it decides what is refused");
    let (Ok(together), Ok(after)) = (together, after) else { return };
    let but_for_the_write =
        |payment: &Payment| Payment { revision: 0, last_op: context.op, ..payment.clone() };
    let mut without_it = but_for_the_write(stored);
    let place = usize::try_from(*delivery).expect("a place");
    if let (Some(now), Some(then)) = (without_it.outbox.get_mut(place), before.outbox.get(place)) {
        now.clone_from(then);
    }
    if !alone.effects.is_empty() || without_it != but_for_the_write(before) {
        // More was due when it was stored, and is done: the command finds another payment.
        return;
    }
    assert_eq!(together.next.as_ref().map(but_for_the_write), after.next.as_ref().map(but_for_the_write));
    assert_eq!(together.effects, after.effects);
    assert_eq!(together.discrepancies, after.discrepancies);
    assert_eq!(together.unstored, after.unstored);
    assert_eq!(together.operation, after.operation);
}
