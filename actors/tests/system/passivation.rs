//! Transactions that nobody asks for leave the memory, and come back from the store.

use std::time::Duration;

use quita_domain::operation::{OperationRequest, Wish};
use quita_domain::status::Status;
use uuid::Uuid;

use crate::access::owner;
use crate::bank::Answer;
use crate::orders::{id, pix};
use crate::world::{World, pass_ms};

#[test]
fn idle_transactions_are_dropped_and_come_back() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=50 {
            drop(node.begin(pix(number)));
        }
        pass_ms(1_000).await;
        assert_eq!(node.live("transaction"), 50);
        pass_ms(20_000).await;
        assert_eq!(node.live("transaction"), 0);
        let request = OperationRequest { id: Uuid::from_u128(70), wish: Wish::Cancel, key: None };
        let cancelled = node.payments.operate(id(1), owner(), request).await.unwrap();
        assert_eq!(cancelled.payment.status(), Status::Cancelled);
        assert_eq!(node.live("transaction"), 1);
        assert_eq!(node.restarts("transaction"), 0, "nobody died");
        node.settle().await;
    });
}

#[test]
fn a_transaction_that_is_asked_for_stays() {
    let world = World::with_sole_writer();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        for _ in 0..8 {
            pass_ms(6_000).await;
            assert!(node.payments.read(id(1)).await.unwrap().is_some());
        }
        assert_eq!(node.metric("quita_actor_started_total", "transaction"), 1);
        assert_eq!(world.store.reads().len(), 0);
        node.settle().await;
    });
}

#[test]
fn a_caller_that_waits_is_not_sent_away_by_passivation() {
    let world = World::new().with_limits(|limits| limits.idle_after = Duration::from_secs(1));
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(4_000, Answer::Takes)]);
        let payment = node.created(pix(1)).await;
        assert_eq!(payment.status(), Status::Pending);
        assert!((4_000..4_200).contains(&world.clock.elapsed_ms()), "{}", world.clock.elapsed_ms());
        node.settle().await;
        pass_ms(2_000).await;
        assert_eq!(node.live("transaction"), 0);
    });
}

#[test]
fn what_was_queued_when_a_transaction_was_dropped_is_still_done() {
    let world = World::new().with_limits(|limits| limits.idle_after = Duration::from_millis(400));
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.store.once(crate::store::Op::Commit, crate::store::Fault::Slow(Duration::from_secs(5)));
        let payments = node.payments.clone();
        let request = OperationRequest { id: Uuid::from_u128(70), wish: Wish::Cancel, key: None };
        let caller = actix::spawn(async move { payments.operate(id(1), owner(), request).await });
        pass_ms(2_000).await;
        // A second incarnation may work meanwhile: the version guards the writes.
        let redelivered = node.payments.redeliver(id(1), owner(), 0).await;
        assert!(redelivered.is_ok());
        assert!(caller.await.unwrap().is_ok());
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.outbox.len()), (Status::Cancelled, 3));
    });
}
