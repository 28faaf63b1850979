//! What no write may do to a payment.

use quita_domain::event::Event;
use quita_domain::payment::Payment;
use quita_domain::state::{RefundStatus, State};

/// What is wrong with a write.
pub(super) fn wrongs(known: Option<&Payment>, next: &Payment) -> Vec<String> {
    let mut wrong = Vec::new();
    own(next, &mut wrong);
    if let Some(known) = known {
        beside(known, next, &mut wrong);
    }
    wrong
}

/// What is wrong with the payment by itself.
fn own(next: &Payment, wrong: &mut Vec<String>) {
    let state = &next.state;
    let taken: u64 = state
        .refunds
        .iter()
        .filter(|refund| refund.status != RefundStatus::Failed)
        .map(|refund| refund.amount.cents())
        .sum();
    if taken > state.captured_amount.map_or(0, |amount| amount.cents()) {
        wrong.push("more is refunded than was paid".to_owned());
    }
    let moments = [Some(next.created_at), state.paid_at, state.refunded_at];
    if !moments.iter().flatten().is_sorted() {
        wrong.push("createdAt ≤ paidAt ≤ refundedAt does not hold".to_owned());
    }
    if state.captured_amount.is_some_and(|captured| captured > next.order.amount) {
        wrong.push("more was captured than asked for".to_owned());
    }
}

/// What is wrong with it as the follower of another.
fn beside(known: &Payment, next: &Payment, wrong: &mut Vec<String>) {
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    must(next.revision == known.revision + 1, "the revision is not the next one");
    must(next.last_op != known.last_op, "the write has no id of its own");
    must(next.order == known.order && next.owner == known.owner, "what was asked for has changed");
    must(next.created_at == known.created_at, "createdAt has changed");
    must(next.fingerprint == known.fingerprint, "the fingerprint has changed");
    must(told(next).starts_with(&told(known)), "history was rewritten");
    must(next.state.updated_at >= known.state.updated_at, "updatedAt went back");
    let events = next.history.len().saturating_sub(known.history.len());
    let versions = next.state.version.checked_sub(known.state.version).map(|versions| versions as usize);
    must(
        versions.is_some_and(|versions| versions == events || versions == events + 1),
        "the version does not count the changes",
    );
    let mut status = known.status();
    for event in next.history.iter().skip(known.history.len()) {
        must(event.previous_status == status && status.allows(event.status), "no edge of the table");
        status = event.status;
    }
    must(status == next.status(), "the status is not its last event's");
    let (before, after) = (&known.state, &next.state);
    let times = [
        (before.paid_at, after.paid_at),
        (before.refunded_at, after.refunded_at),
        (before.chargeback_at, after.chargeback_at),
        (before.expired_at, after.expired_at),
        (before.cancelled_at, after.cancelled_at),
    ];
    must(times.iter().all(|(before, after)| before.is_none() || before == after), "a time was set twice");
    must(
        before.captured_amount.is_none() || before.captured_amount == after.captured_amount,
        "what was paid has changed",
    );
}

/// Every event with the state that it tells of, wherever that is held.
fn told(payment: &Payment) -> Vec<(Event, State)> {
    let without = |event: &Event| Event { snapshot: None, ..event.clone() };
    payment.history.iter().map(|event| (without(event), payment.as_of(event).clone())).collect()
}
