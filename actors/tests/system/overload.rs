//! Too much at once: refused before anything was written, and everything works afterwards.

use futures_util::future::join_all;
use quita_actors::{Created, Denied};
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::status::Status;
use quita_ports::SinkError;
use std::sync::Arc;
use std::time::Duration;

use crate::access::owner;
use crate::bank::{Answer, settled};
use crate::orders::{CENTS, id, operation_id, pix};
use crate::store::{Fault, Op};
use crate::world::{Node, World, pass_ms};

/// Creates N payments at once; returns what came of each.
async fn rush(node: &Node<'_>, count: u128) -> Vec<Result<Created, Denied>> {
    let callers: Vec<_> = (1..=count).map(|number| node.begin(pix(number))).collect();
    join_all(callers).await.into_iter().map(|result| result.unwrap()).collect()
}

/// Those that were refused left no trace, those that were taken are there.
async fn check(world: &World, node: &Node<'_>, results: &[Result<Created, Denied>]) {
    let refused = results.iter().filter(|result| result.is_err()).count();
    assert!(0 < refused && refused < results.len(), "{refused} of {} were refused", results.len());
    for (number, result) in (1..).zip(results) {
        match result {
            Ok(created) => assert_eq!(created.payment.status(), Status::Pending),
            Err(denied) => {
                assert!(denied.is_transient(), "{denied:?}");
                assert_eq!(world.trace.of(id(number)), []);
            }
        }
    }
    node.settle().await;
    pass_ms(20_000).await;
    for number in 1_001..=1_010 {
        assert_eq!(node.created(pix(number)).await.status(), Status::Pending);
    }
    for (number, _) in (1..).zip(results).filter(|(_, result)| result.is_err()).take(5) {
        assert_eq!(node.created(pix(number)).await.status(), Status::Pending);
    }
    node.settle().await;
}

#[test]
fn a_full_front_refuses() {
    let world = World::new().with_limits(|limits| limits.front_mailbox = 20);
    world.live(async {
        let node = world.node();
        let results = rush(&node, 100).await;
        assert!(
            results
                .iter()
                .filter_map(|result| result.as_ref().err())
                .all(|denied| *denied == Denied::Overloaded)
        );
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 20);
        assert_eq!(node.metric("quita_actor_refused_total", "front"), 80);
        check(&world, &node, &results).await;
    });
}

#[test]
fn a_full_journal_refuses() {
    let world = World::new().with_limits(|limits| {
        limits.journal_mailbox = 10;
        limits.journal_batch = 4;
        limits.journal_in_flight = 1;
    });
    world.live(async {
        let node = world.node();
        let results = rush(&node, 200).await;
        let busy = |denied: &Denied| matches!(denied, Denied::StoreUnavailable(_));
        assert!(results.iter().filter_map(|result| result.as_ref().err()).all(busy));
        check(&world, &node, &results).await;
    });
}

#[test]
fn more_live_transactions_than_allowed_are_refused_until_some_are_idle() {
    let world = World::new().with_limits(|limits| limits.live_transactions = 30);
    world.live(async {
        let node = world.node();
        let results = rush(&node, 100).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 30);
        assert_eq!(node.metric("quita_actor_refused_total", "front"), 70);
        check(&world, &node, &results).await;
    });
}

#[test]
fn a_full_transaction_refuses_and_does_what_it_took() {
    let world = World::new().with_limits(|limits| limits.transaction_mailbox = 8);
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(1)));
        let refund = |number: u128| {
            let requested = RequestedOperation::Refund(Some(quita_domain::money::Money::from_cents(10)));
            OperationRequest { id: operation_id(1_000 + number), requested, key: None }
        };
        let payments = &node.payments;
        let results = join_all((0..50).map(|number| payments.operate(id(1), owner(), refund(number)))).await;
        let done = results.iter().filter(|result| result.is_ok()).count();
        assert!((8..=10).contains(&done), "{done}");
        let denied = results.into_iter().filter_map(Result::err);
        assert!(denied.into_iter().all(|denied| denied == Denied::Overloaded));
        node.settle().await;
        assert_eq!(node.stored(id(1)).state.refunds.len(), done);
        assert!(payments.operate(id(1), owner(), refund(99)).await.is_ok());
        node.settle().await;
    });
}

#[test]
fn a_full_inbox_refuses_and_works_what_it_took() {
    let world = World::new().with_limits(|limits| limits.inbox_mailbox = 10);
    world.live(async {
        let node = world.node();
        // Of payments that are not there yet: that is what the inbox is for.
        let notice = |number: u32| {
            let id = id(u128::from(number));
            node.notice(&format!("e{number}"), id, settled(id, CENTS))
        };
        let results = join_all((1..=100).map(|number| node.payments.submit(notice(number)))).await;
        let taken: Vec<_> =
            (1..).zip(&results).filter_map(|(number, result)| result.is_ok().then_some(number)).collect();
        assert!((10..=20).contains(&taken.len()), "{taken:?}");
        assert!(results.iter().any(|result| matches!(result, Err(SinkError::Busy))));
        for number in &taken {
            node.created(pix(*number)).await;
        }
        node.settle().await;
        for number in taken {
            assert_eq!(node.stored(id(number)).status(), Status::Paid);
        }
    });
}

#[test]
fn a_full_reader_refuses_and_goes_on() {
    let world = World::new().with_limits(|limits| limits.reader_mailbox = 10);
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let results = join_all((0..100).map(|_| node.payments.read(id(1)))).await;
        assert!(results.iter().any(|result| matches!(result, Err(Denied::StoreUnavailable(_)))));
        assert!(results.iter().any(|result| matches!(result, Ok(Some(_)))));
        assert!(node.payments.read(id(1)).await.unwrap().is_some());
        node.settle().await;
    });
}

#[test]
fn a_reader_that_waits_for_the_store_holds_so_much_and_no_more() {
    let world = World::new().with_limits(|limits| {
        limits.reader_mailbox = 10;
        limits.reader_in_flight = 1;
    });
    world.live(async {
        let node = world.node();
        world.store.once(Op::Load, Fault::Slow(Duration::from_secs(1)));
        let mut reads = Vec::new();
        for number in 0..20 {
            let payments = node.payments.clone();
            reads.push(actix::spawn(async move { payments.read(id(number)).await }));
            pass_ms(1).await;
        }
        let found: Vec<_> = join_all(reads).await.into_iter().map(|read| read.unwrap()).collect();
        assert_eq!(found.iter().filter(|found| found.is_ok()).count(), 11, "one under way, ten wait");
        assert!(node.payments.read(id(1)).await.is_ok());
    });
}

#[test]
fn an_acquirer_gets_so_many_calls_at_once_and_the_others_wait_for_their_turn() {
    let world = World::new().with_bank_concurrency(4);
    world.live(async {
        let node = world.node();
        world.bank.usually(Answer::after_ms(50, Answer::Takes));
        let results = rush(&node, 36).await;
        assert!(results.iter().all(|result| result.as_ref().unwrap().payment.status() == Status::Pending));
        assert_eq!(world.bank.most_under_way(), 4);
        let all = join_all((101..=140).map(|number| node.create(pix(number)))).await;
        let declined =
            |result: &&Result<Created, Denied>| result.as_ref().unwrap().payment.status() == Status::Declined;
        assert_eq!(all.iter().filter(declined).count(), 4, "four under way, eight wait for each");
        assert_eq!(node.metric("quita_actor_refused_total", "acquirer"), 4);
        assert_eq!(world.trace.charges(), 72, "what did not fit was never sent");
        node.settle().await;
    });
}

#[test]
fn a_full_acquirer_counts_as_not_delivered_and_the_next_one_takes_over() {
    let world = World::new().and_second_bank().with_limits(|limits| limits.acquirer_mailbox = 10);
    world.live(async {
        let node = world.node();
        let results = rush(&node, 15).await;
        assert!(results.iter().all(|result| result.is_ok()));
        node.settle().await;
        let by_second = world.store.payments().into_iter();
        let by_second = by_second.filter(|payment| payment.acquirer().unwrap().as_str() == "second");
        assert!((1..=5).contains(&by_second.count()));
        assert_eq!(world.trace.charges(), 15, "what did not fit was never sent");
    });
}

#[test]
fn a_charge_that_waited_until_its_lease_is_nearly_over_is_not_sent_any_more() {
    let mut world = World::new();
    let bank = Arc::get_mut(&mut world.bank).unwrap();
    bank.limit_calls(1);
    bank.answers_within_ms(20_000);
    world.bank.usually(Answer::after_ms(19_000, Answer::Takes));
    world.live(async {
        let node = world.node();
        for number in 1..=3 {
            drop(node.begin(pix(number)));
        }
        node.settle().await;
        let of = |status| world.store.payments().iter().filter(|known| known.status() == status).count();
        assert_eq!((world.trace.charges(), of(Status::Declined)), (1, 2));
    });
}
