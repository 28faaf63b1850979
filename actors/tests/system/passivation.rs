//! Transactions that nobody asks for leave the memory, and come back from the store.

use std::time::Duration;

use quita_domain::delivery::DeliveryState;
use quita_domain::numbering::DeliveryIndex;
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::status::Status;

use crate::access::owner;
use crate::bank::Answer;
use crate::orders::{card, id, operation_id, pix, pix_for};
use crate::trace::Mark::Charged;
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
        let request =
            OperationRequest { id: operation_id(70), requested: RequestedOperation::Cancel, key: None };
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
            pass_ms(2_000).await;
            assert!(node.payments.read(id(1)).await.unwrap().is_some());
        }
        assert_eq!(node.metric("quita_actor_started_total", "transaction"), 1);
        assert_eq!(world.store.reads().len(), 0);
        node.settle().await;
    });
}

#[test]
fn a_transaction_whose_event_was_confirmed_stays_until_that_is_stored() {
    let world = World::new().with_limits(|limits| limits.idle_after = Duration::from_secs(1));
    world.live(async {
        let node = world.node();
        let created = node.created(pix(1)).await;
        pass_ms(3_000).await;
        let before = node.stored(id(1));
        assert_eq!((before.revision, before.outbox[0].state), (created.revision, DeliveryState::Pending));
        assert_eq!(node.live("transaction"), 1);
        pass_ms(13_000).await;
        let after = node.stored(id(1));
        assert_eq!((after.revision, after.outbox[0].state), (created.revision + 1, DeliveryState::Delivered));
        assert_eq!(node.live("transaction"), 0);
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
        let request =
            OperationRequest { id: operation_id(70), requested: RequestedOperation::Cancel, key: None };
        let caller = actix::spawn(async move { payments.operate(id(1), owner(), request).await });
        pass_ms(2_000).await;
        // A second incarnation may work meanwhile: the version guards the writes.
        let redelivered = node.payments.redeliver(id(1), owner(), DeliveryIndex::FIRST).await;
        assert!(redelivered.is_ok());
        assert!(caller.await.unwrap().is_ok());
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.outbox.len()), (Status::Cancelled, 3));
    });
}

#[test]
fn a_card_is_kept_while_a_slow_acquirer_is_asked_and_charged_at_the_next_one() {
    let mut world = World::new().and_second_bank();
    world = world.with_bank_time_out(25_000);
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(20_000, Answer::Unreachable)]);
        assert_eq!(node.created(card(1, true)).await.status(), Status::Initial);
        pass_ms(20_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid, "not interrupted: the card was at hand");
        assert!(world.trace.of(id(1)).contains(&Charged("second", id(1))));
        node.settle().await;
        pass_ms(20_000).await;
        assert_eq!(node.live("transaction"), 0, "and it is let go when the charge is over");
    });
}

#[test]
fn a_card_that_timed_out_and_is_not_known_to_the_acquirer_is_sent_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Silence]);
        assert_eq!(node.created(card(1, true)).await.status(), Status::Initial);
        node.settle().await;
        assert_eq!((node.stored(id(1)).status(), world.trace.charges()), (Status::Paid, 2));
    });
}

#[test]
fn a_card_is_not_held_for_longer_than_the_limit_even_if_somebody_asks_all_the_time() {
    let world = World::with_sole_writer().with_limits(|limits| {
        limits.card_held_for = Duration::from_secs(60);
        limits.idle_after = Duration::from_secs(1_000);
    });
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Silence]);
        // Nothing certain is heard for longer than the card is held.
        world.bank.next_finds(std::iter::repeat_n(Answer::Nonsense, 5));
        node.created(card(1, true)).await;
        for _ in 0..100 {
            pass_ms(5_000).await;
            assert!(node.payments.read(id(1)).await.unwrap().is_some());
        }
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!(stored.state.status_reason.as_deref(), Some("interrupted"));
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn many_that_are_idle_at_once_all_leave_and_one_that_is_at_work_later() {
    let world = World::new().with_limits(|limits| limits.idle_after = Duration::from_secs(1));
    world.live(async {
        let node = world.node();
        for number in 1..=500 {
            drop(node.begin(pix_for(number, None)));
        }
        pass_ms(500).await;
        world.bank.next([Answer::after_ms(4_000, Answer::Takes)]);
        let waiting = node.begin(pix_for(501, None));
        pass_ms(2_500).await;
        assert!((1..=2).contains(&node.live("transaction")), "{}", node.live("transaction"));
        assert!(waiting.await.unwrap().is_ok());
        pass_ms(5_000).await;
        assert_eq!((node.live("transaction"), node.restarts("transaction")), (0, 0));
        node.settle().await;
    });
}
