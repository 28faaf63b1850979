//! An hour's outage, after which everything that waits is asked about: new payments are served all the same.

use std::time::Duration;

use futures_util::future::join_all;
use quita_domain::status::Status;

use crate::bank::Answer;
use crate::orders::{CENTS, SHOP, id, pix};
use crate::receivers::Reply;
use crate::store::{Fault, Op};
use crate::world::{Node, World, pass_ms};

const MINUTE_MS: u64 = 60_000;

/// Payments that wait for their payers: more than the bank's whole queue may hold. `QUITA_TEST_PENDING` overrides it.
fn pending() -> u128 {
    std::env::var("QUITA_TEST_PENDING").ok().and_then(|count| count.parse().ok()).unwrap_or(500)
}

/// A bank that takes eight calls at once, and half a second for each inquiry.
fn world() -> World {
    let world = World::new()
        .for_hours()
        .with_bank_concurrency(8)
        .with_limits(|limits| limits.backlog_interval = Duration::from_secs(600));
    world.bank.finds_take_ms(500);
    world
}

/// Creates payments that wait for their payers, a few at a time.
async fn fill(world: &World, node: &Node<'_>) {
    let numbers: Vec<u128> = (1..=pending()).collect();
    for part in numbers.chunks(50) {
        let created = join_all(part.iter().map(|number| node.payments.create(pix(*number)))).await;
        assert!(created.iter().all(Result::is_ok));
    }
    assert!(world.store.payments().iter().all(|payment| payment.status() == Status::Pending));
}

/// Creates payments for a second, fifty of them; each must have its code within that second.
async fn creations_succeed(world: &World, node: &Node<'_>) {
    let begun_ms = world.clock.elapsed_ms();
    let first = 10_000_000;
    let mut callers = Vec::new();
    for number in 0..50 {
        callers.push(node.begin(pix(first + number)));
        pass_ms(10).await;
    }
    for caller in join_all(callers).await {
        let created = caller.unwrap();
        assert_eq!(created.map(|created| created.payment.status()), Ok(Status::Pending));
    }
    let took_ms = world.clock.elapsed_ms() - begun_ms;
    println!("{} wait; fifty creations in {took_ms} ms", pending());
    assert!(took_ms < 1_000, "{took_ms} ms");
}

#[test]
fn after_an_outage_of_ours_new_payments_go_before_everything_that_is_asked_about() {
    let world = world();
    world.live(async { fill(&world, &world.node()).await });
    world.clock.skip_ms(60 * MINUTE_MS);
    world.live(async {
        let node = world.node();
        // Inquiries have a second to fill every queue, then payments come.
        pass_ms(1_000).await;
        creations_succeed(&world, &node).await;
    });
}

#[test]
fn after_an_outage_of_the_acquirer_new_payments_go_before_everything_that_is_asked_about() {
    let world = world();
    world.live(async {
        let node = world.node();
        fill(&world, &node).await;
        world.bank.is_away(true);
        pass_ms(60 * MINUTE_MS).await;
        world.bank.is_away(false);
        creations_succeed(&world, &node).await;
    });
}

#[test]
fn money_whose_notice_was_lost_in_the_outage_is_found_soon_after_it_and_not_hours_later() {
    let world = world();
    world.live(async { fill(&world, &world.node()).await });
    for number in 1..=pending() {
        world.bank.is_paid(id(number), CENTS);
    }
    world.clock.skip_ms(9 * MINUTE_MS);
    world.live(async {
        let node = world.node();
        // There are four inquiries a second; who found no room comes back five minutes later at most.
        pass_ms(u64::try_from(pending()).unwrap() * 500 + 300_000).await;
        let waiting = world.store.payments().into_iter().filter(|payment| payment.status() != Status::Paid);
        assert_eq!(waiting.count(), 0);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
        drop(node);
    });
}

#[test]
fn a_store_that_is_slow_to_count_delays_nothing_that_is_due() {
    let world = World::new();
    world.store.always(Op::Backlog, Fault::Slow(Duration::from_secs(12)));
    world.live(async {
        let node = world.node();
        pass_ms(2_500).await;
        world.bank.next([Answer::TakesSilently]);
        let payment = node.created(pix(1)).await;
        assert_eq!(payment.status(), Status::Pending, "it was asked for while its caller waited");
        world.store.heal();
        pass_ms(13_000).await;
        node.settle().await;
    });
}

#[test]
fn what_waits_is_counted_as_far_as_the_limit() {
    let world = World::new().with_limits(|limits| limits.backlog_counted = 3);
    world.live(async {
        let node = world.node();
        world.receivers.usually(SHOP, Reply::Status(500));
        for number in 1..=5 {
            node.created(pix(number)).await;
            pass_ms(2_500).await;
            assert_eq!(node.number("quita_webhook_backlog", &[]), i64::try_from(number).unwrap().min(3));
        }
    });
}
