//! Nodes that die, sinks that are full, merchants who change their mind.

use std::sync::Arc;

use quita_domain::identity::OperationId;
use quita_domain::method::Method::{Boleto, CreditCard, Pix};
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::payment::Command;
use quita_domain::status::Status;
use uuid::Uuid;

use crate::world::{RecordingSink, World, factory};

#[tokio::test(start_paused = true)]
async fn what_a_dead_node_would_have_reported_is_found_by_another() {
    for method in [Pix, Boleto] {
        for cents in [0, 7, 17, 27, 31, 41, 51, 52, 61, 62, 71, 91, 92, 99].map(|cents| 10_000 + cents) {
            let mut expected = World::open(&["sandbox-a", "sandbox-b"], method, cents, None, true);
            expected.run_for(120_000).await;
            let mut world = World::open(&["sandbox-a", "sandbox-b"], method, cents, None, true);
            // The node that was charged stops before any notice: its acquirers speak into the void.
            let into = |sink: &Arc<RecordingSink>| {
                ["sandbox-a", "sandbox-b"].map(|name| factory(name, &world.clock, sink)).into()
            };
            let silent = into(&RecordingSink::new(&world.clock));
            let reborn = into(&world.sink);
            world.acquirers = silent;
            world.run_for(if cents % 100 >= 91 { 11_000 } else { 50 }).await;
            world.acquirers = reborn;
            world.run_for(120_000).await;
            assert_eq!(world.payment.status(), expected.payment.status(), "{method} {cents}");
            assert_eq!(world.discrepancies, expected.discrepancies, "{method} {cents}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_notice_waits_until_the_sink_has_room() {
    for cents in [10_000, 10_062] {
        let mut world = World::open(&["sandbox"], Pix, cents, None, true);
        *world.sink.refusals.lock().unwrap() = 5;
        world.run_for(10_000).await;
        assert_eq!(world.payment.status(), Status::Paid, "{cents}");
        assert_eq!(*world.sink.refusals.lock().unwrap(), 0, "{cents}");
        assert_eq!(world.sink.seen().len(), 1, "{cents}");
    }
}

fn requested(requested: RequestedOperation) -> Command {
    Command::Operate(OperationRequest { id: OperationId::new(Uuid::from_u128(77)), requested, key: None })
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_was_cancelled_in_time_is_not_paid_afterwards() {
    for method in [Pix, Boleto] {
        let mut world = World::open(&["sandbox"], method, 10_000, None, true);
        world.run_for(500).await;
        world.decide(requested(RequestedOperation::Cancel));
        world.run_for(60_000).await;
        assert_eq!(world.payment.status(), Status::Cancelled, "{method}");
        assert!(world.sink.seen().is_empty(), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_boleto_that_expired_is_withdrawn() {
    for (cents, first_ms) in [(17, 60_000), (71, 3_000)] {
        let mut world = World::open(&["sandbox"], Boleto, 10_000 + cents, None, true);
        world.run_for(first_ms).await;
        assert_eq!(world.payment.status(), Status::Expired, "{cents}");
        world.decide(requested(RequestedOperation::Cancel));
        world.run_for(60_000).await;
        assert_eq!(world.payment.status(), Status::Cancelled, "{cents}");
        assert!(world.discrepancies.is_empty(), "{cents}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_was_just_paid_can_no_longer_be_cancelled() {
    let mut world = World::open(&["sandbox"], Pix, 10_000, None, true);
    // The notice of the settlement is still on its way.
    *world.sink.refusals.lock().unwrap() = 10;
    world.run_for(2_050).await;
    world.decide(requested(RequestedOperation::Cancel));
    world.run_for(60_000).await;
    assert_eq!(world.statuses, [Status::Initial, Status::Pending, Status::Paid]);
    assert!(world.discrepancies.is_empty());
}

#[tokio::test(start_paused = true)]
async fn captures_voids_and_refunds_are_done() {
    let card = Some("4242424242424242");
    for (method, capture, requested_operations, last) in [
        (CreditCard, false, vec![RequestedOperation::Cancel], Status::Cancelled),
        (CreditCard, false, vec![RequestedOperation::Capture(None)], Status::Paid),
        (CreditCard, true, vec![RequestedOperation::Refund(None)], Status::Refund),
        (Pix, true, vec![RequestedOperation::Refund(None)], Status::Refund),
        (Boleto, true, vec![RequestedOperation::Refund(None)], Status::Refund),
    ] {
        let mut world = World::open(&["sandbox"], method, 10_000, card, capture);
        world.run_for(5_000).await;
        for one in requested_operations {
            world.decide(requested(one));
            world.run_for(1_000).await;
        }
        assert_eq!(world.payment.status(), last, "{method}");
    }
}
