//! Telling merchants: in order, by the schedule, and nobody delayed by somebody else's server.

use futures_util::future::join_all;
use quita_domain::delivery::DeliveryState;
use quita_domain::numbering::DeliveryIndex;
use quita_domain::status::Status;
use std::time::Duration;

use crate::access::owner;
use crate::bank::{Answer, settled};
use crate::orders::{CENTS, SHOP, id, pix, pix_for};
use crate::receivers::Reply;
use crate::store::{Fault, Op};
use crate::world::{Node, World, pass_ms};

/// By the contract: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h.
const STEPS_MS: [u64; 7] = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000];

async fn create_all(node: &Node<'_>, numbers: impl Iterator<Item = u128>, url: &str) {
    let callers: Vec<_> = numbers.map(|number| node.begin(pix_for(number, Some(url)))).collect();
    for created in join_all(callers).await {
        created.unwrap().unwrap();
    }
}

#[test]
fn an_event_waits_until_the_one_before_it_is_confirmed() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::Status(500), Reply::Status(503)]);
        node.created(pix(1)).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        let received = world.receivers.received();
        let first = received[0].id.clone();
        let second = received[3].id.clone();
        assert!(first.ends_with("_1") && second.ends_with("_2"));
        let ids: Vec<_> = received.into_iter().map(|request| request.id).collect();
        assert_eq!(ids, [first.clone(), first.clone(), first, second]);
    });
}

/// Creates payments for this many receivers, some for each.
async fn create_for(node: &Node<'_>, receivers: usize, of_each: usize, url: impl Fn(usize) -> String) {
    for receiver in 0..receivers {
        let first = u128::try_from(receiver * of_each).unwrap() + 1_000;
        create_all(node, first..first + u128::try_from(of_each).unwrap(), &url(receiver)).await;
    }
}

fn hanging(receiver: usize) -> String {
    format!("https://hanging-{receiver}.example/")
}

#[test]
fn a_hundred_receivers_that_hang_delay_nobody() {
    let well = "https://well.example/";
    let world = World::new();
    world.live(async {
        let node = world.node();
        (0..100).for_each(|receiver| world.receivers.usually(&hanging(receiver), Reply::TimesOut));
        create_for(&node, 100, 10, hanging).await;
        for number in 0..60 {
            let asked_ms = world.clock.elapsed_ms();
            create_all(&node, number..=number, well).await;
            pass_ms(1_000).await;
            let received = world.receivers.received_at(well);
            let last = received.last().map(|request| request.at_ms);
            assert_eq!(received.len(), usize::try_from(number).unwrap() + 1, "after {asked_ms} ms");
            assert!(last.is_some_and(|at_ms| at_ms < asked_ms + 1_000));
        }
    });
}

#[test]
fn receivers_that_answered_and_then_hang_delay_others_for_a_moment_only() {
    let well = "https://well.example/";
    let world = World::new();
    world.live(async {
        let node = world.node();
        // Each may have many exchanges at once.
        create_for(&node, 30, 20, hanging).await;
        pass_ms(5_000).await;
        (0..30).for_each(|receiver| world.receivers.usually(&hanging(receiver), Reply::TimesOut));
        for receiver in 0..30 {
            let first = 10_000 + 100 * receiver;
            create_all(&node, first..first + 40, &hanging(usize::try_from(receiver).unwrap())).await;
        }
        pass_ms(2_000).await;
        let asked_ms = world.clock.elapsed_ms();
        create_all(&node, 1..=20, well).await;
        pass_ms(1_000).await;
        let received = world.receivers.received_at(well);
        assert_eq!(received.len(), 20);
        assert!(received.iter().all(|request| request.at_ms < asked_ms + 1_000));
    });
}

#[test]
fn a_receiver_that_answers_gets_many_events_at_once_and_one_that_hangs_one() {
    let world = World::new().with_limits(|limits| limits.webhooks.places_per_receiver = 16);
    world.live(async {
        let node = world.node();
        world.receivers.usually(&hanging(0), Reply::TimesOut);
        world.receivers.usually(SHOP, Reply::Slow(Duration::from_millis(300), 200));
        create_all(&node, 1..=100, &hanging(0)).await;
        create_all(&node, 101..=200, SHOP).await;
        pass_ms(10_000).await;
        assert_eq!(world.receivers.received_at(SHOP).len(), 100);
        assert_eq!(world.receivers.most_under_way(SHOP), 16);
        assert_eq!(world.receivers.most_under_way(&hanging(0)), 1);
    });
}

#[test]
fn what_waits_for_receivers_that_hang_is_not_written() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        (0..10).for_each(|receiver| world.receivers.usually(&hanging(receiver), Reply::TimesOut));
        create_for(&node, 10, 100, hanging).await;
        pass_ms(25_000).await;
        let stored = world.trace.stored();
        let sent = world.receivers.received().len();
        // Until the charges themselves are checked.
        pass_ms(30_000).await;
        let written = world.trace.stored() - stored;
        let attempts = world.receivers.received().len() - sent;
        assert!(attempts >= 10, "they are tried in turn: {attempts}");
        assert!(written <= 3 * attempts, "{written} writes for {attempts} attempts");
    });
}

#[test]
fn a_retry_of_a_receiver_that_is_well_does_not_queue_behind_those_that_hang() {
    let world = World::new().with_limits(|limits| limits.webhooks.page = 16);
    world.live(async {
        let node = world.node();
        (0..10).for_each(|receiver| world.receivers.usually(&hanging(receiver), Reply::TimesOut));
        create_for(&node, 10, 100, hanging).await;
        pass_ms(60_000).await;
        world.receivers.next(SHOP, [Reply::Status(503)]);
        node.created(pix(1)).await;
        pass_ms(7_500).await;
        assert_eq!(world.receivers.received_at(SHOP).len(), 2, "5 s later, and a little");
    });
}

#[test]
fn a_payment_that_gets_two_turns_because_its_claim_failed_takes_one_place() {
    let world = World::new().with_limits(|limits| {
        limits.webhooks.review = Duration::from_millis(500);
        limits.webhooks.retry = Duration::from_secs(2);
    });
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::Status(500), Reply::Status(500), Reply::TimesOut]);
        node.created(pix(1)).await;
        pass_ms(240_000).await;
        world.store.always(Op::Load, Fault::Unavailable);
        pass_ms(130_000).await;
        // The next claim lasts until the one that failed is put back.
        world.store.always(Op::Load, Fault::Slow(Duration::from_secs(5)));
        pass_ms(20_000).await;
        world.store.heal();
        pass_ms(30_000).await;
        assert_eq!(world.receivers.received().len(), 3, "and it timed out: one place is left");
        node.created(pix(2)).await;
        pass_ms(60_000).await;
        assert_eq!(node.stored(id(2)).outbox[0].state, DeliveryState::Delivered);
    });
}

#[test]
fn a_receiver_that_is_back_gets_all_that_waited_in_the_store() {
    let world = World::new().with_limits(|limits| {
        limits.webhooks.waiting_per_receiver = 10;
        limits.webhooks.page = 16;
    });
    world.live(async {
        let node = world.node();
        world.receivers.usually(SHOP, Reply::TimesOut);
        create_all(&node, 1..=300, SHOP).await;
        pass_ms(40_000).await;
        world.receivers.usually(SHOP, Reply::Status(204));
        pass_ms(40_000).await;
        let received = world.receivers.received();
        let confirmed = received.iter().filter(|request| request.status == Some(204)).count();
        assert!(confirmed > 290, "but for what was tried before and waits for its next attempt: {confirmed}");
    });
}

/// Notifies a slow receiver of N payments; returns how many events it got, in how many requests, and when the last.
async fn tell_slowly(world: &World, node: &Node<'_>, events: u128, answer_s: u64) -> (usize, usize, u64) {
    world.receivers.usually(SHOP, Reply::Slow(Duration::from_secs(answer_s), 200));
    create_all(node, 1..=events, SHOP).await;
    node.settle().await;
    let received = world.receivers.received();
    let mut ids: Vec<_> = received.iter().map(|request| request.id.clone()).collect();
    ids.sort();
    ids.dedup();
    (ids.len(), received.len(), received.iter().map(|request| request.at_ms).max().unwrap())
}

#[test]
fn a_slow_receiver_with_a_long_queue_gets_every_event_once() {
    let world = World::new().with_limits(|limits| limits.webhooks.places_per_receiver = 2);
    world.live(async {
        let node = world.node();
        let (events, sent, last_ms) = tell_slowly(&world, &node, 60, 2).await;
        assert_eq!((events, sent), (60, 60), "at one a second, with leases of 20 s");
        assert!(last_ms < 70_000, "and no time is lost: {last_ms}");
    });
}

#[test]
fn an_event_whose_lease_ends_while_it_is_sent_is_not_sent_again() {
    let world = World::new().with_limits(|limits| limits.webhooks.places_per_receiver = 2);
    world.live(async {
        let node = world.node();
        // The third is sent from 14 s to 28 s; its lease ends at 20 s, when half of the share is idle.
        let (events, sent, _) = tell_slowly(&world, &node, 3, 14).await;
        assert_eq!((events, sent), (3, 3));
    });
}

#[test]
fn what_another_node_claimed_meanwhile_is_not_sent_here_too() {
    let world = World::new().with_limits(|limits| limits.webhooks.places_per_receiver = 2);
    world.live(async {
        let node = world.node();
        // The other node's timer ticks between this one's, and first after the leases end.
        pass_ms(125).await;
        let other = world.node();
        pass_ms(135).await;
        let (events, sent, last_ms) = tell_slowly(&world, &node, 60, 2).await;
        other.settle().await;
        assert_eq!(events, 60);
        assert!(sent <= 64, "only what was under way when its lease ended: {sent}");
        assert!(last_ms < 60_000, "two nodes are faster: {last_ms}");
    });
}

#[test]
fn the_outcome_of_a_delivery_waits_for_a_store_that_is_away_for_a_moment() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::Slow(Duration::from_millis(500), 200)]);
        node.created(pix(1)).await;
        world.store.always(Op::Commit, Fault::Unavailable);
        pass_ms(2_000).await;
        world.store.heal();
        node.settle().await;
        assert_eq!(world.receivers.received().len(), 1);
    });
}

#[test]
fn the_schedule_survives_a_restart_in_its_middle() {
    let world = World::new().for_hours();
    world.bank.next([Answer::Pays]);
    world.receivers.usually(SHOP, Reply::Status(500));
    world.live(async {
        world.node().created(pix(1)).await;
        pass_ms(3_600_000).await;
        assert_eq!(world.receivers.received().len(), 4);
    });
    world.live(async {
        let node = world.node();
        node.settle().await;
        let at_ms: Vec<_> = world.receivers.received().iter().map(|request| request.at_ms).collect();
        let waits: Vec<_> = at_ms.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits.len(), STEPS_MS.len(), "{waits:?}");
        for (wait, step) in waits.iter().zip(STEPS_MS) {
            assert!((step..step + 2_500).contains(wait), "{wait} instead of {step}");
        }
        let given_up = node.stored(id(1));
        assert_eq!(given_up.outbox[0].state, DeliveryState::Exhausted);
        assert_eq!(node.number("quita_webhook_exhausted_total", &[]), 1);
        pass_ms(40_000_000).await;
        assert_eq!(world.receivers.received().len(), 8, "eight attempts and no more");
        world.receivers.usually(SHOP, Reply::Status(200));
        node.payments.redeliver(id(1), owner(), DeliveryIndex::FIRST).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(1)).outbox[1].state, DeliveryState::Delivered);
    });
}

#[test]
fn a_receiver_may_ask_for_more_time() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::RetryAfter(9_000)]);
        node.created(pix(1)).await;
        node.settle().await;
        let received = world.receivers.received();
        let wait_ms = received[1].at_ms - received[0].at_ms;
        assert!((9_000..9_800).contains(&wait_ms), "{wait_ms}");
    });
}

#[test]
fn a_receiver_that_is_gone_is_told_nothing_more() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::Status(410)]);
        node.created(pix(1)).await;
        pass_ms(1_000).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!(stored.status(), Status::Paid);
        assert!(stored.outbox.iter().all(|delivery| delivery.state == DeliveryState::Exhausted));
        assert_eq!(world.receivers.received().len(), 1);
        assert_eq!(node.number("quita_webhook_exhausted_total", &[]), 2, "the one that was never sent too");
    });
}

#[test]
fn what_does_not_fit_into_the_pool_is_read_from_the_store_later() {
    let world = World::new().with_limits(|limits| {
        limits.webhooks.places = 2;
        limits.webhooks.waiting_per_receiver = 5;
    });
    world.live(async {
        let node = world.node();
        create_all(&node, 1..=60, SHOP).await;
        pass_ms(2_000).await;
        assert!(node.metric("quita_actor_refused_total", "webhook_pool") > 0);
        assert!(world.receivers.received().len() < 60);
        node.settle().await;
        assert_eq!(world.receivers.received().len(), 60);
    });
}

#[test]
fn while_outcomes_can_not_be_stored_little_more_is_sent_and_later_all_of_it() {
    let world = World::new().with_limits(|limits| {
        limits.webhooks.places = 4;
        limits.webhooks.outcomes = 4;
    });
    world.live(async {
        let node = world.node();
        world.store.always(Op::Commit, Fault::Slow(Duration::from_secs(2)));
        create_all(&node, 1..=60, SHOP).await;
        pass_ms(1_000).await;
        let sent = world.receivers.received().len();
        assert!((1..=6).contains(&sent), "{sent}");
        world.store.heal();
        node.settle().await;
        assert_eq!(world.receivers.received().len(), 60, "each once");
    });
}

#[test]
fn a_merchant_without_an_address_is_told_nothing() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix_for(1, None)).await;
        node.settle().await;
        assert_eq!((world.receivers.received().len(), world.trace.stored()), (0, 2));
    });
}
