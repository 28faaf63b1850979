//! Payments that another node changed while this one still has them in memory, or that nobody takes any more.

use std::time::Duration;

use quita_actors::Denied;
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::status::Status;

use crate::access::owner;
use crate::bank::{notified, settled};
use crate::orders::{CENTS, id, keyed, operation_id, pix};
use crate::world::{World, pass_ms};

#[test]
fn a_refusal_and_a_replay_hold_against_the_store_and_not_against_memory() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        one.created(keyed(1, "f")).await;
        pass_ms(1_000).await;
        two.payments.submit(two.notice("a", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(1_000).await;
        assert_eq!(two.stored(id(1)).status(), Status::Paid);
        let replayed = one.create(keyed(1, "f")).await.unwrap();
        assert_eq!((replayed.is_replay, replayed.payment.status()), (true, Status::Paid));
        let refund =
            OperationRequest { id: operation_id(5), requested: RequestedOperation::Refund(None), key: None };
        one.payments.operate(id(1), owner(), refund).await.unwrap();
        one.settle().await;
    });
}

#[test]
fn what_another_node_left_due_before_it_died_is_done_although_it_is_in_memory_here() {
    let world = World::new().with_limits(|limits| limits.idle_after = Duration::from_secs(60));
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        pass_ms(1_000).await;
        world.store.forestall(id(1), notified(settled(id(1), CENTS)));
        pass_ms(22_000).await;
        assert_eq!(world.receivers.received().len(), 2, "the lease of the one that died ended");
        node.settle().await;
    });
}

#[test]
fn a_key_stays_a_replay_when_nobody_takes_the_payment_any_more() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(keyed(1, "f")).await;
        node.settle().await;
    });
    world.live(async {
        let node = world.node_without_acquirers();
        assert!(node.create(keyed(1, "f")).await.unwrap().is_replay);
        assert_eq!(node.create(keyed(1, "g")).await.unwrap_err(), Denied::KeyReused);
        assert_eq!(node.create(keyed(2, "f")).await.unwrap_err(), Denied::MethodUnavailable);
    });
}
