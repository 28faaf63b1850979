//! The process dies and comes back: the store is all that is left.

use quita_domain::operation::{OperationRequest, OperationState, RequestedOperation};
use quita_domain::status::Status;

use crate::access::owner;
use crate::bank::{Answer, settled};
use crate::orders::{CENTS, SHOP, card, id, keyed, operation_id, pix};
use crate::receivers::Reply;
use crate::store::{Fault, Op};
use crate::trace::Mark::{Asked, Charged, Operated, Stored};
use crate::world::{World, pass_ms};

#[test]
fn a_charge_that_never_left_is_asked_for_before_it_is_sent_again() {
    let world = World::new();
    world.bank.next([Answer::Silence]);
    world.live(async {
        drop(world.node().begin(pix(1)));
        pass_ms(100).await;
    });
    world.live(async {
        let node = world.node();
        node.settle().await;
        let expected = [
            Stored(id(1), 1, Status::Initial),
            Charged("first", id(1)),
            Stored(id(1), 2, Status::Initial),
            Asked("first", id(1)),
        ];
        let marks = world.trace.of_outside(id(1));
        assert_eq!(marks[..4], expected);
        let asked_ms = world.bank.asked_ms();
        assert!((30_000..31_000).contains(&asked_ms[0]), "when the call's lease was over");
        let last_ms = *asked_ms.last().unwrap();
        assert!(asked_ms.len() >= 2 && last_ms >= asked_ms[0] + 10_000, "{asked_ms:?}");
        let calls = marks.into_iter().filter(|mark| !matches!(mark, Stored(..)));
        let last_calls: Vec<_> = calls.skip(asked_ms.len()).collect();
        assert_eq!(last_calls, [Asked("first", id(1)), Charged("first", id(1))]);
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
    });
}

#[test]
fn a_charge_that_was_taken_is_found_and_not_sent_again() {
    let world = World::new();
    world.bank.next([Answer::TakesSilently]);
    world.live(async {
        drop(world.node().begin(keyed(1, "f")));
        pass_ms(100).await;
    });
    world.live(async {
        let node = world.node();
        let replay = node.create(keyed(1, "f")).await.unwrap();
        assert!(replay.is_replay, "the caller's repetition finds it");
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!((world.trace.charges(), world.trace.asked()), (1, 1));
    });
}

#[test]
fn a_card_whose_number_was_lost_is_asked_for_and_given_up_only_if_nothing_was_charged() {
    let world = World::new();
    world.bank.next([Answer::Silence, Answer::TakesSilently]);
    world.live(async {
        let node = world.node();
        drop(node.begin(card(1, true)));
        pass_ms(50).await;
        drop(node.begin(card(2, true)));
        pass_ms(50).await;
    });
    world.live(async {
        let node = world.node();
        node.settle().await;
        let lost = node.stored(id(1));
        assert_eq!(lost.status(), Status::Declined);
        assert_eq!(lost.state.status_reason.as_deref(), Some("interrupted"));
        assert_eq!(node.stored(id(2)).status(), Status::Paid);
        assert_eq!(world.trace.charges(), 2);
    });
}

#[test]
fn a_notice_that_was_taken_is_worked_by_the_next_life() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.store.always(Op::Commit, Fault::Unavailable);
        let paid = node.notice("e1", id(1), settled(id(1), CENTS));
        node.payments.submit(paid).await.unwrap();
    });
    world.store.heal();
    world.live(async {
        let node = world.node();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
    });
}

#[test]
fn an_operation_that_was_begun_is_sent_again_and_ends_once() {
    let world = World::new();
    let refund = || OperationRequest {
        id: operation_id(70),
        requested: RequestedOperation::Refund(None),
        key: Some("k".into()),
    };
    world.live(async {
        let node = world.node();
        node.created(card(1, true)).await;
        node.settle().await;
        let payments = node.payments.clone();
        drop(actix::spawn(async move { payments.operate(id(1), owner(), refund()).await }));
        pass_ms(8).await;
        assert!(world.trace.of(id(1)).contains(&Operated("first", id(1))), "sent, not answered");
    });
    world.live(async {
        let node = world.node();
        node.settle().await;
        let again = node.payments.operate(id(1), owner(), refund()).await.unwrap();
        assert!(again.is_replay && again.operation.state() == OperationState::Done);
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.state.refunds.len()), (Status::Refund, 1));
        node.settle().await;
    });
}

#[test]
fn a_delivery_that_was_under_way_is_made_again_by_a_live_node_when_its_lease_ends() {
    let world = World::new();
    world.receivers.next(SHOP, [Reply::TimesOut]);
    world.live(async {
        world.node().created(pix(1)).await;
        pass_ms(1_000).await;
        assert_eq!(world.receivers.received().len(), 1);
    });
    world.live(async {
        let node = world.node();
        pass_ms(10_000).await;
        assert_eq!(world.receivers.received().len(), 1, "the lease still runs");
        node.settle().await;
        let received = world.receivers.received();
        assert_eq!(received.len(), 2);
        assert!((20_000..21_000).contains(&received[1].at_ms), "{}", received[1].at_ms);
    });
}

#[test]
fn crashes_at_any_moment_leave_one_charge_and_every_event_told() {
    for crash_ms in 0..40 {
        let world = World::new();
        world.live(async {
            drop(world.node().begin(keyed(1, "f")));
            pass_ms(crash_ms).await;
        });
        world.live(async {
            let node = world.node();
            assert!(node.create(keyed(1, "f")).await.is_ok());
            node.settle().await;
            assert_eq!(node.stored(id(1)).status(), Status::Pending, "crashed after {crash_ms} ms");
            assert!(world.bank.holds(id(1)));
            assert!(world.trace.charges() - 1 <= world.trace.asked(), "asked before it was sent again");
        });
    }
}
