//! Group commit and group read: many callers, few calls to the store.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;

use crate::bank::settled;
use crate::orders::{CENTS, id, pix, pix_for};
use crate::store::{Fault, Op};
use crate::world::{World, pass_ms};

#[test]
fn a_thousand_creations_at_once_take_few_batches() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let callers: Vec<_> = (1..=1_000).map(|number| node.begin(pix_for(number, None))).collect();
        for created in join_all(callers).await {
            created.unwrap().unwrap();
        }
        node.settle().await;
        let batches = world.store.batches();
        let writes: usize = batches.iter().sum();
        assert_eq!((writes, world.trace.stored()), (2_000, 2_000), "intent and answer");
        assert!(batches.len() <= 20, "{batches:?}");
        assert!(batches.iter().all(|size| *size <= world.limits.journal_batch));
        assert_eq!(world.trace.charges(), 1_000);
    });
}

#[test]
fn a_thousand_reads_at_once_are_few_and_equal_ones_are_shared() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=100 {
            drop(node.begin(pix_for(number, None)));
        }
        node.settle().await;
        let before = world.store.reads().len();
        let reads = (0..1_000).map(|read| node.payments.read(id(read % 100 + 1)));
        let found: HashSet<_> =
            join_all(reads).await.into_iter().map(|found| found.unwrap().unwrap().id).collect();
        assert_eq!(found.len(), 100);
        let reads = world.store.reads().split_off(before);
        assert!(reads.len() <= 2 * world.limits.reader_in_flight, "{reads:?}");
        assert!(reads.iter().all(|size| *size <= world.limits.reader_batch));
    });
}

#[test]
fn a_read_sees_what_was_written_before_it_was_asked() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=20 {
            let created = node.created(pix(number)).await;
            let one = node.payments.read(id(number)).await;
            let two = node.payments.read(id(number)).await;
            assert!(one.unwrap().unwrap().revision >= created.revision);
            assert!(two.unwrap().unwrap().revision >= created.revision);
        }
        node.settle().await;
    });
}

#[test]
fn the_only_writer_answers_reads_of_what_lives_without_the_store() {
    let world = World::with_sole_writer();
    world.live(async {
        let node = world.node();
        node.created(pix_for(1, None)).await;
        assert!(node.payments.read(id(1)).await.unwrap().is_some());
        assert_eq!(world.store.reads().len(), 0);
        pass_ms(30_000).await;
        assert_eq!(node.live("transaction"), 0);
        assert!(node.payments.read(id(1)).await.unwrap().is_some());
        assert_eq!((world.store.reads().len(), node.live("transaction")), (1, 0), "reading wakes nobody");
        assert!(node.payments.read(id(2)).await.unwrap().is_none());
    });
}

#[test]
fn a_payment_that_can_not_be_read_keeps_no_other_of_its_batch_from_being_read() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=50 {
            drop(node.begin(pix_for(number, None)));
        }
        node.settle().await;
        world.store.spoil(id(25));
        let found = join_all((1..=50).map(|number| node.payments.read(id(number)))).await;
        assert_eq!(found.iter().filter(|found| found.is_err()).count(), 1);
    });
}

#[test]
fn a_read_while_a_payment_is_written_waits_and_sees_the_new_one() {
    let world = World::with_sole_writer();
    world.live(async {
        let node = world.node();
        let created = node.created(pix_for(1, None)).await;
        world.store.once(Op::Commit, Fault::Slow(Duration::from_millis(300)));
        let notice = node.notice("e1", id(1), settled(id(1), CENTS));
        let payments = node.payments.clone();
        let submitted = actix::spawn(async move { payments.submit(notice).await });
        pass_ms(50).await;
        let begun = world.clock.elapsed_ms();
        let seen = node.payments.read(id(1)).await.unwrap().unwrap();
        assert!(world.clock.elapsed_ms() > begun, "it had to wait");
        assert!(seen.revision > created.revision, "{:?}", seen.status());
        assert_eq!(submitted.await.unwrap(), Ok(true));
        assert_eq!(world.store.reads().len(), 0);
        node.settle().await;
    });
}

#[test]
fn a_small_batch_leaves_beside_one_that_hangs() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(5)));
        let large: Vec<_> = (1..=20).map(|number| node.begin(pix_for(number, None))).collect();
        pass_ms(10).await;
        let begun = world.clock.elapsed_ms();
        node.created(pix_for(21, None)).await;
        assert!(world.clock.elapsed_ms() - begun < 1_000, "one alone must not wait for twenty");
        for one in large {
            assert!(one.await.unwrap().is_ok());
        }
        node.settle().await;
    });
}
