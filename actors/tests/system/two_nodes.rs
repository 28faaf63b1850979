//! Two nodes on one store, working the same payments at the same time.

use std::iter::repeat_n;

use futures_util::future::join_all;
use quita_actors::Denied;
use quita_domain::acquiring::{CallFailure, Fact, OperationAnswer};
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::status::Status;

use crate::access::owner;
use crate::bank::{Answer, settled};
use crate::orders::{CENTS, SHOP, id, keyed, operation_id, pix};
use crate::receivers::Reply;
use crate::store::{Fault, Op};
use crate::world::{World, pass_ms};

#[test]
fn one_key_on_two_nodes_is_one_charge() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        let callers = (0..32).map(|number| {
            let node = if number % 2 == 0 { &one } else { &two };
            node.begin(keyed(1, "f"))
        });
        let created: Vec<_> =
            join_all(callers).await.into_iter().map(|created| created.unwrap().unwrap()).collect();
        assert_eq!(created.iter().filter(|created| !created.is_replay).count(), 1);
        assert!(created.iter().all(|created| created.payment.status() == Status::Pending));
        assert_eq!(world.trace.charges(), 1);
        one.settle().await;
        two.settle().await;
        assert_eq!(world.receivers.received().len(), 1);
    });
}

#[test]
fn a_payment_that_is_stored_but_not_shown_yet_is_no_404_to_who_creates_it_again() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        one.created(keyed(1, "f")).await;
        // A replica set's primary refuses the second insert before a majority has the first.
        for node in [&two, &one] {
            world.store.once(Op::Load, Fault::Unseen);
            let denied = node.create(keyed(1, "f")).await.unwrap_err();
            assert!(matches!(denied, Denied::StoreUnavailable(_)), "{denied:?}");
        }
        assert!(two.create(keyed(1, "f")).await.unwrap().is_replay);
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn an_event_of_one_node_is_not_kept_waiting_by_a_confirmation_that_another_holds() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        // They know of each other by then.
        pass_ms(6_000).await;
        one.created(pix(1)).await;
        pass_ms(20).await;
        assert_eq!(world.receivers.received().len(), 1);
        two.payments.submit(two.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(200).await;
        assert_eq!(world.receivers.received().len(), 2);
        one.settle().await;
        two.settle().await;
    });
}

#[test]
fn news_on_two_nodes_is_one_event_and_one_version() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        for number in 1..=20 {
            let node = if number % 2 == 0 { &one } else { &two };
            node.created(pix(number)).await;
        }
        pass_ms(1_000).await;
        let pending = one.stored(id(1));
        let mut told = Vec::new();
        for number in 1..=20 {
            let fact = settled(id(number), CENTS);
            told.push(one.payments.submit(one.notice(&format!("a{number}"), id(number), fact.clone())));
            told.push(two.payments.submit(two.notice(&format!("b{number}"), id(number), fact)));
        }
        for taken in join_all(told).await {
            taken.unwrap();
        }
        one.settle().await;
        two.settle().await;
        for number in 1..=20 {
            let paid = one.stored(id(number));
            assert_eq!((paid.status(), paid.history.len()), (Status::Paid, 2));
            assert_eq!(paid.state.version, pending.state.version + 1);
        }
        assert_eq!(world.receivers.received().len(), 40);
    });
}

#[test]
fn what_is_due_is_done_by_one_of_two_timers() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        world.bank.next([Answer::TakesSilently]);
        world.bank.next_finds([Answer::Nonsense, Answer::Nonsense, Answer::Nonsense]);
        world.receivers.next(SHOP, [Reply::Status(500), Reply::Status(500)]);
        drop(one.begin(pix(1)));
        one.settle().await;
        two.settle().await;
        assert_eq!(world.trace.charges(), 1);
        let asked_ms = world.bank.asked_ms();
        assert!(asked_ms.len() > 4, "about the charge, then about its payer: {asked_ms:?}");
        assert!(asked_ms.windows(2).all(|pair| pair[1] - pair[0] > 900), "each once: {asked_ms:?}");
        assert_eq!(world.receivers.received().len(), 3, "each attempt was made once");
    });
}

#[test]
fn a_node_that_is_cut_off_in_an_attempt_is_replaced_by_the_other() {
    let world = World::new();
    world.receivers.next(SHOP, [Reply::Panic]);
    world.live(async {
        let one = world.node();
        let two = world.node();
        one.created(pix(1)).await;
        one.settle().await;
        two.settle().await;
        assert_eq!(world.receivers.received().len(), 2);
    });
}

#[test]
fn a_caller_hears_soon_of_a_change_that_another_node_made() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        one.created(pix(1)).await;
        one.payments.submit(one.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        one.settle().await;
        world
            .bank
            .next_operations(repeat_n(OperationAnswer::Failed(CallFailure::Unknown("cut off".into())), 8));
        let refund =
            OperationRequest { id: operation_id(5), requested: RequestedOperation::Refund(None), key: None };
        let refund_id = refund.id.to_string();
        let payments = one.payments.clone();
        let caller = actix::spawn(async move { payments.operate(id(1), owner(), refund).await });
        pass_ms(500).await;
        assert!(!caller.is_finished());
        let refunded = Fact::Refunded { refund_id, amount: None };
        two.payments.submit(two.notice("e2", id(1), refunded)).await.unwrap();
        pass_ms(1_500).await;
        assert!(caller.is_finished(), "it does not wait until its time is over");
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Refund);
    });
}

#[test]
fn a_notice_that_is_too_early_has_its_whole_time_on_however_many_nodes() {
    let world = World::new();
    world.live(async {
        let nodes = [world.node(), world.node(), world.node()];
        nodes[0].created(pix(1)).await;
        let disputed = Fact::ChargedBack { id: "c1".into(), amount: None };
        nodes[0].payments.submit(nodes[0].notice("e1", id(1), disputed)).await.unwrap();
        pass_ms(120_000).await;
        assert_eq!(nodes[0].operators.exceptions(10).await.unwrap(), [], "it is tried for minutes");
        nodes[1].payments.submit(nodes[1].notice("e2", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(400_000).await;
        assert_eq!(nodes[2].stored(id(1)).status(), Status::Chargeback);
        assert_eq!(nodes[0].operators.exceptions(10).await.unwrap(), []);
    });
}
