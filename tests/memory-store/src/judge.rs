//! Changes that no write may make to a payment.

use quita_domain::event::Event;
use quita_domain::operation::{OperationKind, OperationState};
use quita_domain::payment::{FINISHED_STATUSES, Payment};
use quita_domain::state::{RefundStatus, State};
use quita_domain::status::Status;

/// Returns the faults of a write that replaces `known` with `next`.
pub fn violations(known: Option<&Payment>, next: &Payment) -> Vec<String> {
    let mut wrong = Vec::new();
    check_alone(next, &mut wrong);
    match known {
        Some(known) if next.is_erased() && !known.is_erased() => check_as_erased(known, next, &mut wrong),
        Some(known) => check_as_successor(known, next, &mut wrong),
        None => {}
    }
    wrong
}

/// Adds the faults of a write that erases a payer. Nothing else may change, and no money may be under way.
fn check_as_erased(known: &Payment, next: &Payment, wrong: &mut Vec<String>) {
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("erasing its payer: {what}"));
        }
    };
    must(next.revision == known.revision + 1, "the revision is not the next one");
    must(next.last_op != known.last_op, "the write has no id of its own");
    must(FINISHED_STATUSES.contains(&known.status()), "it is not finished");
    must(known.order.payer != next.order.payer, "the payer is still there");
    must(without_words(known) == without_words(next), "more than the payer has changed");
}

/// Returns the parts of a payment that an erasure keeps: amounts, ids, statuses and times.
fn without_words(payment: &Payment) -> impl PartialEq + use<> {
    let state = |state: &State| {
        let refunds: Vec<_> = state
            .refunds
            .iter()
            .map(|one| (one.id.clone(), one.amount, one.status, one.created_at))
            .collect();
        let attempts: Vec<_> =
            state.attempts.iter().map(|one| (one.acquirer.clone(), one.call.progress)).collect();
        let money = (state.captured_amount, state.paid_at, state.refunded_at, state.chargeback_at);
        let ids = (state.settlement_id.clone(), state.end_to_end_id.clone(), state.issued.clone());
        (state.status, state.version, state.updated_at, refunds, attempts, money, ids)
    };
    let told: Vec<_> = payment
        .history
        .iter()
        .map(|event| (event.sequence, event.status, event.occurred_at, state(payment.as_of(event))))
        .collect();
    let operations: Vec<(_, OperationKind, OperationState)> =
        payment.operations.iter().map(|one| (one.id, one.kind, one.state())).collect();
    let outbox: Vec<_> = payment
        .outbox
        .iter()
        .map(|one| (one.sequence, one.repeats, one.state, one.next_attempt_at, one.attempts.len()))
        .collect();
    let asked = (payment.order.method, payment.order.amount, payment.order.postback_url.is_some());
    let own = (payment.owner.clone(), payment.created_at, payment.fingerprint.clone());
    let due = (payment.check, payment.inquired_at, payment.chargebacks.clone(), payment.reports.len());
    (state(&payment.state), told, operations, outbox, asked, own, due)
}

/// Adds the faults of the payment on its own.
fn check_alone(next: &Payment, wrong: &mut Vec<String>) {
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

/// Adds its faults as the successor of the stored payment.
fn check_as_successor(known: &Payment, next: &Payment, wrong: &mut Vec<String>) {
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    must(next.revision == known.revision + 1, "the revision is not the next one");
    must(next.last_op != known.last_op, "the write has no id of its own");
    must(next.erased_at == known.erased_at, "an erasure was undone");
    must(next.order == known.order && next.owner == known.owner, "what was asked for has changed");
    must(next.created_at == known.created_at, "createdAt has changed");
    must(next.fingerprint == known.fingerprint, "the fingerprint has changed");
    must(next.used_token == known.used_token, "the token has changed");
    let card = &next.card_fingerprint;
    must(card.is_none() || *card == known.card_fingerprint, "the card has changed");
    must(next.bound_pix.starts_with(&known.bound_pix), "a Pix was given up");
    must(reported(next).starts_with(&reported(known)), "history was rewritten");
    must(next.state.updated_at >= known.state.updated_at, "updatedAt went back");
    let events = next.history.len().saturating_sub(known.history.len());
    let versions =
        next.state.version.checked_sub(known.state.version).and_then(|count| usize::try_from(count).ok());
    must(
        versions.is_some_and(|versions| versions == events || versions == events + 1),
        "the version does not count the changes",
    );
    let mut status = known.status();
    for event in next.history.iter().skip(known.history.len()) {
        let is_edge = status.allows(event.status) || (event.refund.is_some() && event.status == status);
        must(event.previous_status == status && is_edge, "no edge of the table");
        status = event.status;
    }
    must(status == next.status(), "the status is not its last event's");
    must(
        sent_against_the_status(known, next).is_none(),
        "an operation was sent that the status does not allow",
    );
    let before = &known.state;
    let after = &next.state;
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

/// Returns an operation that this write sends, although no status since the previous write allows it.
fn sent_against_the_status(known: &Payment, next: &Payment) -> Option<OperationKind> {
    let was_sent = |id| known.operations.iter().find(|one| one.id == id).map_or(0, |one| one.sent);
    // Refunds of a charge that does not count depend on no status.
    let sent = next.own_operations().filter(|operation| operation.sent > was_sent(operation.id));
    let events = next.history.iter().skip(known.history.len());
    let statuses: Vec<_> = events.map(|event| event.status).chain([known.status()]).collect();
    let is_allowed = |kind: OperationKind, status| match kind {
        OperationKind::Cancel => !matches!(status, Status::Paid | Status::Refund | Status::Chargeback),
        OperationKind::Capture(_) => status == Status::Approved,
        OperationKind::Refund(_) => status == Status::Paid,
    };
    let mut kinds = sent.map(|operation| operation.kind);
    kinds.find(|kind| !statuses.iter().any(|status| is_allowed(*kind, *status)))
}

/// Returns every event with the state that it reports, wherever that is stored.
fn reported(payment: &Payment) -> Vec<(Event, State)> {
    let without = |event: &Event| Event { snapshot: None, ..event.clone() };
    payment.history.iter().map(|event| (without(event), payment.as_of(event).clone())).collect()
}
