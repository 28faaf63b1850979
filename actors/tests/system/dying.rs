//! Actors that die: at most one payment is harmed, the supervisor recreates them, the service goes on.

use quita_actors::Denied;
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::status::Status;
use quita_ports::SinkError;

use crate::access::owner;
use crate::bank::{Answer, settled};
use crate::orders::{CENTS, SHOP, id, keyed, operation_id, pix, pix_for};
use crate::receivers::Reply;
use crate::store::{Fault, Op};
use crate::world::{World, pass_ms};

#[test]
fn an_acquirer_adapter_that_panics_is_made_anew_and_its_calls_count_as_unknown() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(300, Answer::Takes), Answer::after_ms(100, Answer::Panic)]);
        let bystander = node.begin(pix(1));
        let victim = node.begin(pix(2));
        assert_eq!(victim.await.unwrap().unwrap().payment.status(), Status::Initial);
        assert_eq!(bystander.await.unwrap().unwrap().payment.status(), Status::Initial);
        assert_eq!(node.restarts("acquirer"), 1);
        assert_eq!(world.trace.charges(), 2, "nothing is sent again while it is not certain");
        pass_ms(25_000).await;
        assert_eq!(
            (node.stored(id(1)).status(), node.stored(id(2)).status()),
            (Status::Pending, Status::Pending)
        );
        assert!(world.trace.asked() >= 4, "both were asked for twice before they were sent again");
        assert_eq!(node.created(pix(3)).await.status(), Status::Pending);
        node.settle().await;
    });
}

#[test]
fn a_question_that_kills_the_adapter_is_asked_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        world.bank.next_finds([Answer::Panic, Answer::Panic]);
        let payment = node.created(pix(1)).await;
        node.settle().await;
        assert_eq!((payment.status(), world.trace.charges()), (Status::Initial, 1));
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!(node.restarts("acquirer"), 2);
    });
}

#[test]
fn a_webhook_sender_that_panics_delays_one_delivery_until_its_lease_ends() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::Panic]);
        node.created(pix(1)).await;
        pass_ms(1_000).await;
        assert_eq!(node.restarts("webhook_worker"), 1);
        node.created(pix(2)).await;
        pass_ms(1_000).await;
        let answered = |world: &World| {
            let received = world.receivers.received();
            received.iter().filter(|request| request.status == Some(200)).count()
        };
        assert_eq!(answered(&world), 1, "the others are not delayed");
        node.settle().await;
        assert_eq!(answered(&world), 2);
        assert!(world.receivers.received()[2].at_ms >= 20_000, "after the lease");
        assert_eq!(node.live("webhook_worker"), 1, "the one that died is gone");
    });
}

#[test]
fn a_transaction_that_dies_comes_back_from_the_store() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.ids.die_once();
        let requested = |number| OperationRequest {
            id: operation_id(number),
            requested: RequestedOperation::Cancel,
            key: None,
        };
        let died = node.payments.operate(id(1), owner(), requested(70)).await.unwrap_err();
        assert_eq!(died, Denied::Interrupted);
        assert_eq!(node.restarts("transaction"), 0, "nobody has asked for it yet");
        let operated = node.payments.operate(id(1), owner(), requested(71)).await.unwrap();
        assert_eq!(operated.payment.status(), Status::Cancelled);
        assert_eq!(node.restarts("transaction"), 1);
        node.settle().await;
    });
}

#[test]
fn a_creation_that_dies_has_left_nothing_and_the_same_key_works() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.ids.die_once();
        assert_eq!(node.create(keyed(1, "f")).await.unwrap_err(), Denied::Interrupted);
        assert_eq!((world.trace.charges(), world.trace.stored()), (0, 0));
        assert!(!node.create(keyed(1, "f")).await.unwrap().is_replay);
        node.settle().await;
    });
}

#[test]
fn an_answer_during_which_the_transaction_dies_is_not_lost() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(500, Answer::Takes)]);
        let caller = node.begin(pix(1));
        pass_ms(400).await;
        world.ids.die_once();
        let created = caller.await.unwrap().unwrap();
        assert_eq!(created.payment.status(), Status::Pending, "the caller waited on");
        assert!(world.clock.elapsed_ms() < 2_000);
        assert_eq!((world.trace.charges(), node.restarts("transaction")), (1, 1));
        node.settle().await;
    });
}

#[test]
fn a_journal_that_dies_says_nothing_certain_and_the_store_tells() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::Panic);
        assert!(matches!(node.create(keyed(1, "f")).await, Err(Denied::StoreUnavailable(_))));
        assert_eq!(world.trace.charges(), 0);
        pass_ms(200).await;
        assert_eq!(node.restarts("journal"), 1);
        assert!(!node.create(keyed(1, "f")).await.unwrap().is_replay);
        world.store.once(Op::Commit, Fault::Panic);
        let paid = node.notice("e1", id(1), settled(id(1), CENTS));
        node.payments.submit(paid).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(node.restarts("journal"), 2);
    });
}

#[test]
fn a_reader_that_dies_is_made_anew() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.store.once(Op::Load, Fault::Panic);
        assert!(matches!(node.payments.read(id(1)).await, Err(Denied::StoreUnavailable(_))));
        pass_ms(200).await;
        assert!(node.payments.read(id(1)).await.unwrap().is_some());
        assert_eq!(node.restarts("reader"), 1);
        node.settle().await;
    });
}

#[test]
fn an_inbox_that_dies_loses_no_notice_that_was_taken() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        // Of a payment that is not there yet: that is what the inbox is for.
        let paid = || node.notice("e1", id(1), settled(id(1), CENTS));
        world.store.once(Op::PutNotices, Fault::Panic);
        assert_eq!(node.payments.submit(paid()).await, Err(SinkError::Busy), "not stored, so not taken");
        pass_ms(200).await;
        assert_eq!(node.restarts("inbox"), 1);
        world.store.once(Op::FinishNotices, Fault::Panic);
        node.payments.submit(paid()).await.unwrap();
        node.created(pix(1)).await;
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(node.restarts("inbox"), 2);
    });
}

#[test]
fn a_timer_that_dies_is_made_anew() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Due, Fault::Panic);
        world.bank.next([Answer::TakesSilently]);
        node.created(pix(1)).await;
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending, "asking for it needed the timer");
        assert_eq!(node.restarts("timer"), 1);
    });
}

#[test]
fn a_webhook_pool_that_dies_while_it_reads_what_is_due_is_recreated() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::OutboxDue, Fault::Panic);
        world.receivers.next(SHOP, [Reply::Status(500)]);
        node.created(pix(1)).await;
        node.settle().await;
        assert_eq!(world.receivers.received().len(), 2, "the second attempt needed the store");
        assert_eq!(node.restarts("webhook_pool"), 1);
    });
}

#[test]
fn an_actor_that_dies_again_and_again_stays_away_longer_each_time() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.always(Op::Due, Fault::Panic);
        pass_ms(1_000).await;
        let at_first = node.restarts("timer");
        assert!((2..=4).contains(&at_first), "{at_first} in the first second");
        pass_ms(59_000).await;
        let in_a_minute = node.restarts("timer");
        assert!((7..=12).contains(&in_a_minute), "{in_a_minute} in a minute");
        world.store.heal();
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending, "the others are well");
        pass_ms(60_000).await;
        let healed = node.restarts("timer");
        pass_ms(120_000).await;
        assert_eq!(node.restarts("timer"), healed);
        node.settle().await;
    });
}

#[test]
fn a_front_that_dies_is_made_anew_and_every_transaction_comes_back() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.ids.die_once();
        world.logs.die_at("a transaction's actor died");
        assert_eq!(node.create(pix(2)).await.unwrap_err(), Denied::Interrupted, "its transaction dies");
        assert_eq!(node.create(pix(2)).await.unwrap_err(), Denied::Interrupted, "the front dies");
        assert!(!node.payments.takes_messages());
        pass_ms(200).await;
        assert!(node.payments.takes_messages());
        assert_eq!(node.restarts("front"), 1);
        assert_eq!(node.created(pix(2)).await.status(), Status::Pending);
        let requested =
            OperationRequest { id: operation_id(70), requested: RequestedOperation::Cancel, key: None };
        assert!(node.payments.operate(id(1), owner(), requested).await.is_ok());
        node.settle().await;
    });
}

#[test]
fn a_webhook_pool_that_dies_is_made_anew_and_what_it_held_is_delivered_when_the_leases_end() {
    let world = World::new().with_limits(|limits| limits.webhooks.idle_workers = 2);
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::Panic]);
        world.logs.die_at("a webhook worker died");
        for number in 1..=10 {
            node.created(pix(number)).await;
        }
        pass_ms(1_000).await;
        assert_eq!(node.restarts("webhook_pool"), 1);
        node.settle().await;
        assert_eq!(node.live("webhook_pool"), 1);
        assert_eq!(node.live("webhook_worker"), 2, "the old ones are gone");
    });
}

#[test]
fn a_supervisor_that_dies_is_made_anew_by_the_system() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.logs.die_at("an actor died and was recreated");
        world.store.once(Op::Load, Fault::Panic);
        node.payments.read(id(1)).await.unwrap_err();
        pass_ms(2_000).await;
        assert_eq!(node.restarts("supervisor"), 1);
        world.store.once(Op::Load, Fault::Panic);
        node.payments.read(id(1)).await.unwrap_err();
        pass_ms(2_000).await;
        assert_eq!((node.restarts("reader"), node.live("supervisor")), (2, 1));
        assert_eq!(node.created(pix_for(1, None)).await.status(), Status::Pending);
        node.settle().await;
    });
}
