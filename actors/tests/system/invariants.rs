//! Invariants of every world at rest.

use std::collections::BTreeMap;

use quita_domain::delivery::{DeliveryState, webhook_id};
use quita_domain::operation::OperationState;
use quita_domain::payment::Payment;
use quita_domain::status::Status;

use crate::store::TestStore;
use crate::world::World;

/// Returns true if nothing is left to do but to wait for payers.
pub(crate) fn is_quiet(store: &TestStore) -> bool {
    store.open_notices() == 0 && store.payments().iter().all(|payment| open_work(payment).is_empty())
}

/// Describes what is left to do.
pub(crate) fn unrest(store: &TestStore) -> String {
    let open: Vec<_> = store
        .payments()
        .iter()
        .flat_map(|payment| {
            open_work(payment).into_iter().map(|work| format!("{}: {work}", payment.id)).collect::<Vec<_>>()
        })
        .collect();
    format!("{} open notices; {}", store.open_notices(), open.join("; "))
}

fn open_work(payment: &Payment) -> Vec<&'static str> {
    let mut open = Vec::new();
    if payment.state.attempts.last().is_none_or(|attempt| attempt.call.is_open()) {
        open.push("an open attempt");
    }
    if payment.operations.iter().any(|operation| operation.state() == OperationState::Processing) {
        open.push("an open operation");
    }
    if !payment.reports.is_empty() {
        open.push("a report that no operator has");
    }
    if payment.outbox.iter().any(|delivery| delivery.state == DeliveryState::Pending) {
        open.push("an open delivery");
    }
    open
}

/// Checks every payment, and what the receivers got of it.
pub(crate) fn check(world: &World) {
    assert_eq!(world.store.violations(), Vec::<String>::new());
    assert!(world.store.has_no_plans(), "a fault was planned that never happened");
    assert!(world.logs.is_unarmed(), "a line was never logged");
    for payment in world.store.payments() {
        check_history(&payment);
        check_deliveries(&payment);
    }
    check_received(world);
}

fn check_history(payment: &Payment) {
    let id = payment.id;
    let mut status = Status::Initial;
    for (place, event) in payment.history.iter().enumerate() {
        assert_eq!(usize::try_from(event.sequence.get()).unwrap(), place + 1, "{id}: sequence");
        assert_eq!(event.previous_status, status, "{id}: previous status");
        // What tells of a refund leaves the status as it was.
        let fits = if event.refund.is_some() { event.status == status } else { status.allows(event.status) };
        assert!(fits, "{id}: {status} became {}", event.status);
        assert_eq!(payment.as_of(event).status, event.status, "{id}: snapshot");
        status = event.status;
    }
    assert_eq!(payment.status(), status, "{id}: the status is its last event's");
    let moments: Vec<_> = payment.history.iter().map(|event| event.occurred_at).collect();
    assert!(moments.is_sorted(), "{id}: {moments:?}");
    assert!(moments.last().is_none_or(|last| *last <= payment.state.updated_at), "{id}: updatedAt");
    let versions: Vec<_> = payment.history.iter().map(|event| payment.as_of(event).version).collect();
    assert!(versions.is_sorted_by(|one, next| one < next), "{id}: {versions:?}");
}

/// Every event has one delivery, in order.
fn check_deliveries(payment: &Payment) {
    let expected: Vec<_> = match payment.order.postback_url {
        Some(_) => payment.history.iter().map(|event| event.sequence).collect(),
        None => Vec::new(),
    };
    let of_events = payment.outbox.iter().filter(|delivery| delivery.repeats.is_none());
    let sequences: Vec<_> = of_events.map(|delivery| delivery.sequence).collect();
    assert_eq!(sequences, expected, "{}: one delivery per event", payment.id);
}

/// Checks that deliveries were received in the order of the events, and alike in every attempt.
fn check_received(world: &World) {
    let received = world.receivers.received();
    let mut bodies = BTreeMap::new();
    for request in &received {
        let known = bodies.entry(&request.id).or_insert(&request.body);
        assert_eq!(*known, &request.body, "{}: the same body in every attempt", request.id);
    }
    for payment in world.store.payments() {
        let mut last = None;
        for delivery in payment.outbox.iter().filter(|delivery| delivery.repeats.is_none()) {
            let id = webhook_id(payment.id, delivery.sequence);
            let first = received.iter().position(|request| request.id == id);
            if delivery.state == DeliveryState::Delivered {
                let confirmed = |request: &&crate::receivers::Received| {
                    request.id == id && request.status.is_some_and(|status| (200..300).contains(&status))
                };
                assert!(received.iter().any(|request| confirmed(&request)), "{id} was never confirmed");
            }
            assert!(first.is_none() || last.is_none() || first > last, "{id} came before its forerunner");
            last = first.or(last);
        }
    }
}
