//! Cancellations, captures and refunds. Each is sent again only if the previous request certainly had no effect.

use quita_domain::acquiring::OperationAnswer;
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::outbound_call::Progress;
use quita_domain::payment::{CALL_LEASE_MS, Command, Context, Decision, Effect, Payment};
use quita_domain::state::RefundStatus;
use quita_domain::status::Status;

use super::BELIEVED_AFTER_MS;

pub(super) fn check(
    before: &Payment,
    decision: &Decision,
    next: &Payment,
    command: &Command,
    context: &Context,
) {
    for operation in &next.operations {
        check_refund(next, operation);
        let sent = decision.effects.iter().filter(|effect| sends(effect, operation)).count();
        let known = before.operations.iter().find(|known| known.id == operation.id);
        match known {
            Some(known) => check_step(known, operation, sent, command, context),
            None => assert!(sent <= 1 && operation.is_processing(), "{operation:?}"),
        }
        if sent > 0 {
            check_sending(before, next, operation);
            if operation.is_own() {
                check_status_allows(before, next, operation);
            }
        }
        for effect in &decision.effects {
            if matches!(effect, Effect::InquireOperation(_, id) if *id == operation.id) {
                let call = &operation.call;
                assert!(call.is_inquired_about(), "inquired about although it is {call:?}");
            }
        }
    }
    check_turns(before, next, context);
}

fn sends(effect: &Effect, operation: &Operation) -> bool {
    matches!(effect, Effect::Operate(_, id) if *id == operation.id)
}

/// Checks that an operation that ended does not change again. One that may have had an effect is not sent again until
/// it is accepted that the acquirer does not know it. One that was accepted is never sent again.
fn check_step(known: &Operation, operation: &Operation, sent: usize, command: &Command, context: &Context) {
    if !known.is_processing() {
        assert_eq!(known, operation, "an operation that had ended");
    }
    assert!(sent <= 1);
    assert!(sent == 0 || !known.contradicted, "sent again although sums moved by something else: {known:?}");
    assert_eq!(sent == 1, operation.sent > known.sent, "{known:?} became {operation:?}");
    match known.call.progress {
        Progress::Ready | Progress::Ended(_) => {}
        Progress::Sent => assert_eq!(sent, 0, "sent again while it was on its way"),
        Progress::Unknown => {
            assert!(
                sent == 0 || is_believed_not_found(known, command, context),
                "sent again by {command:?}: {known:?}"
            );
        }
        Progress::Taken => {
            let is_taken = operation.call.is_taken();
            assert!(sent == 0 && (is_taken || !operation.is_processing()), "{operation:?}");
        }
    }
}

/// Returns true for the second "not found", if it is late enough.
fn is_believed_not_found(known: &Operation, command: &Command, context: &Context) -> bool {
    let Command::OperationInquired {
        operation,
        sending,
        inquiring: Some(inquiring),
        answer: OperationAnswer::NotFound,
    } = command
    else {
        return false;
    };
    let shows_after_ms = match known.kind {
        OperationKind::Refund(_) => context.refund_shows_after_ms,
        OperationKind::Cancel | OperationKind::Capture(_) => 0,
    };
    let lease_ms = if known.call.is_over && inquiring.call_is_over { 0 } else { CALL_LEASE_MS };
    (*operation, *sending) == (known.id, known.sending())
        && known.call.not_found >= 1
        && inquiring.for_ms >= BELIEVED_AFTER_MS.max(shows_after_ms) + lease_ms
}

/// Checks that it is sent in a status that allows it, now or before a later part of this decision.
fn check_status_allows(before: &Payment, next: &Payment, operation: &Operation) {
    let events = next.history.iter().skip(before.history.len());
    let mut statuses = events.map(|event| event.status).chain([before.status()]);
    let is_allowed = |status| match operation.kind {
        OperationKind::Cancel => match status {
            Status::Paid | Status::Refund | Status::Chargeback => false,
            Status::Initial
            | Status::Pending
            | Status::Approved
            | Status::Declined
            | Status::Expired
            | Status::Cancelled => true,
        },
        OperationKind::Capture(_) => status == Status::Approved,
        OperationKind::Refund(_) => status == Status::Paid,
    };
    assert!(statuses.any(is_allowed), "{operation:?} is sent for what is {}", next.status());
}

/// Checks that it is stored as sent, with the sum that was certain before it. That is the sum before this decision, or
/// after a part of it.
fn check_sending(before: &Payment, next: &Payment, operation: &Operation) {
    assert_eq!(operation.call.progress, Progress::Sent, "{operation:?}");
    let certain = |payment: &Payment| match (operation.kind, &operation.surplus) {
        (OperationKind::Cancel, _) => Money::ZERO,
        (OperationKind::Capture(_), _) => payment.state.captured_amount.unwrap_or_default(),
        (OperationKind::Refund(_), None) => payment.state.refunded_amount(),
        (OperationKind::Refund(_), Some(surplus)) => surplus.given_back,
    };
    assert!([before, next].map(certain).contains(&operation.before), "{operation:?}");
}

/// Checks that a refund and its operation end together. The merchant does not see refunds of other charges.
fn check_refund(next: &Payment, operation: &Operation) {
    if let OperationKind::Refund(amount) = operation.kind
        && operation.is_own()
    {
        let id = operation.id.to_string();
        let refund = next.state.refunds.iter().find(|refund| refund.id == id).expect("a refund");
        assert_eq!(refund.amount, amount);
        let is_open = refund.status == RefundStatus::Processing;
        assert_eq!(is_open, operation.is_processing(), "{refund:?} {operation:?}");
    }
}

/// Checks that an open operation has a time at which it is looked at, or waits for one that has. An acquirer that knows
/// operations only by its sums has one at a time.
fn check_turns(before: &Payment, next: &Payment, context: &Context) {
    for (place, operation) in next.operations.iter().enumerate() {
        if operation.is_processing() {
            let mut earlier = next.operations.iter().take(place);
            let is_waited_for =
                earlier.any(|other| other.is_processing() && other.is_about_the_charge_of(operation));
            assert!(operation.call.next_at.is_some() || is_waited_for, "{operation:?} is forgotten");
        } else {
            assert_eq!(operation.call.next_at, None, "{operation:?}");
        }
    }
    let under_way = |payment: &Payment| {
        payment.own_operations().filter(|operation| operation.call.next_at.is_some()).count()
    };
    if context.operates_in_turn && under_way(before) <= 1 {
        assert!(under_way(next) <= 1, "several at a time: {:?}", next.operations);
    }
}
