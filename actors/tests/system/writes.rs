//! Number of writes that the life of one payment costs.

use std::time::Duration;

use quita_domain::delivery::DeliveryState;
use quita_domain::status::Status;

use crate::bank::{Answer, settled};
use crate::orders::{CENTS, SHOP, card, id, pix};
use crate::receivers::Reply;
use crate::world::{Node, World, pass_ms};

/// Time after which a payer pays.
const PAYER_TAKES_MS: u64 = 10_000;

/// Lets a node learn that no other works on its store.
async fn be_alone(node: &Node<'_>) {
    pass_ms(1_000).await;
    node.settle().await;
}

/// Number of events that were confirmed and stored so, and of webhooks that were sent for them.
fn delivered(world: &World, node: &Node<'_>) -> (usize, usize) {
    let outbox = node.stored(id(1)).outbox;
    let is_delivered = outbox.iter().filter(|one| one.state == DeliveryState::Delivered);
    (is_delivered.count(), world.receivers.received().len())
}

#[test]
fn a_pix_at_a_bank_that_is_paid_after_ten_seconds_costs_four_writes() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        node.created(pix(1)).await;
        assert_eq!(world.trace.stored(), 2, "the charge before it leaves, and its code with the first event");
        pass_ms(PAYER_TAKES_MS).await;
        world.bank.is_paid(id(1), CENTS);
        node.hear(&id(1).to_string()).await.unwrap();
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(
            world.trace.stored(),
            3,
            "the answer with the second event and the first one's confirmation"
        );
        node.settle().await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (4, (2, 2)));
        pass_ms(60_000).await;
        assert_eq!(world.trace.stored(), 4, "nothing is left to write");
    });
}

#[test]
fn a_pix_that_is_issued_locally_and_paid_after_ten_seconds_costs_three_writes() {
    let world = World::with_local_bank();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        node.created(pix(1)).await;
        pass_ms(PAYER_TAKES_MS).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (3, (2, 2)));
    });
}

#[test]
fn a_card_that_is_captured_at_once_costs_three_writes() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        node.created(card(1, true)).await;
        pass_ms(1_000).await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (2, (0, 2)));
        node.settle().await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (3, (2, 2)));
    });
}

#[test]
fn a_pix_whose_bank_does_not_answer_its_own_hint_costs_two_writes_more() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        node.created(pix(1)).await;
        pass_ms(PAYER_TAKES_MS - 3_000).await;
        world.bank.is_paid(id(1), CENTS);
        world.bank.next_finds([Answer::Nonsense]);
        node.hear(&id(1).to_string()).await.unwrap();
        assert_eq!(world.trace.stored(), 3, "the hint, with the first confirmation");
        pass_ms(5_000).await;
        node.settle().await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (6, (2, 2)));
    });
}

#[test]
fn a_confirmation_waits_no_longer_than_its_lease_allows_for_a_payer_who_takes_his_time() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        node.created(pix(1)).await;
        pass_ms(13_900).await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (2, (0, 1)));
        pass_ms(300).await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (3, (1, 1)));
        pass_ms(15_000).await;
        assert_eq!(world.receivers.received().len(), 1, "it was told once");
        node.settle().await;
    });
}

#[test]
fn only_so_many_confirmations_wait_for_their_payers() {
    let world = World::new().with_limits(|limits| limits.confirmed_long = 3);
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        for number in 1..=5 {
            node.created(pix(number)).await;
        }
        let waiting = || {
            let waits = |number| node.stored(id(number)).outbox[0].state == DeliveryState::Pending;
            (1..=5).filter(|number| waits(*number)).count()
        };
        pass_ms(5_000).await;
        assert_eq!(waiting(), 3);
        pass_ms(10_000).await;
        assert_eq!(waiting(), 0);
        node.settle().await;
    });
}

#[test]
fn events_whose_confirmations_died_with_their_process_are_sent_again_in_their_order() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        node.created(card(1, true)).await;
        pass_ms(1_000).await;
        assert_eq!(delivered(&world, &node), (0, 2));
    });
    world.live(async {
        let node = world.node();
        node.settle().await;
        let told: Vec<_> = world.receivers.received().into_iter().map(|request| request.id).collect();
        assert_eq!(told.len(), 4);
        assert_eq!(told[..2], told[2..]);
        assert_eq!(delivered(&world, &node), (2, 4));
    });
}

#[test]
fn a_second_event_that_its_receiver_refuses_is_tried_again_and_the_first_is_not() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        world.receivers.next(SHOP, [Reply::Status(200), Reply::Status(500)]);
        node.created(card(1, true)).await;
        pass_ms(500).await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (3, (1, 2)));
        node.settle().await;
        assert_eq!(delivered(&world, &node), (2, 3));
    });
}

#[test]
fn a_second_event_that_takes_long_is_told_once_although_its_first_is_stored_meanwhile() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        be_alone(&node).await;
        world.receivers.next(SHOP, [Reply::Status(200), Reply::Slow(Duration::from_secs(9), 200)]);
        node.created(card(1, true)).await;
        pass_ms(5_000).await;
        assert_eq!((world.trace.stored(), delivered(&world, &node)), (3, (1, 2)));
        node.settle().await;
        assert_eq!(delivered(&world, &node), (2, 2));
    });
}
