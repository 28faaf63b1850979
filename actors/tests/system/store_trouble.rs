//! Trouble with the store: it is away, loses replies, is slow, breaks, is written by somebody else.

use std::time::Duration;

use futures_util::future::join_all;
use quita_actors::{CreatePayment, Denied, StoreTrouble};
use quita_domain::numbering::DeliveryIndex;
use quita_domain::operation::{OperationRequest, OperationState, RequestedOperation};
use quita_domain::status::Status;
use quita_ports::{SinkError, StoreError};

use crate::access::owner;
use crate::bank::{Answer, notified, settled};
use crate::orders::{CENTS, card, id, keyed, operation_id, pix, pix_for};
use crate::store::{Fault, Op};
use crate::trace::Mark::{Asked, Charged};
use crate::world::{Node, World, pass_ms};

#[test]
fn a_store_out_of_reach_refuses_and_nothing_is_sent_and_it_recovers_by_itself() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        // Only the commits: a node that tells of itself writes, too.
        world.store.always(Op::Commit, Fault::Unavailable);
        for number in 1..=20 {
            assert!(matches!(node.create(pix(number)).await, Err(Denied::StoreUnavailable(_))));
        }
        assert_eq!(node.number("quita_store_failures_total", &[("kind", "write")]), 20);
        world.store.go_away();
        assert!(matches!(node.payments.read(id(1)).await, Err(Denied::StoreUnavailable(_))));
        pass_ms(120_000).await;
        assert_eq!((world.trace.charges(), world.store.payments().len()), (0, 0));
        let away = node.payments.store_away().expect("reads and writes fail");
        assert_eq!((away.trouble, node.number("quita_store_up", &[])), (StoreTrouble::Silent, 0));
        assert!(
            node.number("quita_store_failures_total", &[("kind", "read")]) > 100,
            "the timer's reads too"
        );
        assert!(!node.payments.readiness().is_ready());
        world.store.heal();
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending);
        assert_eq!((node.payments.store_away(), node.number("quita_store_up", &[])), (None, 1));
        assert!(node.payments.readiness().is_ready());
        node.settle().await;
        assert_eq!(node.restarts("timer") + node.restarts("journal") + node.restarts("reader"), 0);
    });
}

#[test]
fn an_answer_that_the_store_did_not_take_at_first_is_stored_when_it_is_back() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([crate::bank::Answer::after_ms(1_000, crate::bank::Answer::Takes)]);
        let caller = node.begin(pix(1));
        pass_ms(500).await;
        world.store.always(Op::Commit, Fault::Unavailable);
        pass_ms(120_000).await;
        world.store.heal();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Initial);
        assert_eq!(world.trace.charges(), 1, "it was asked for, not charged again");
    });
}

#[test]
fn a_list_of_what_is_due_that_can_not_be_read_is_one_warning_until_it_can() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let warned = || {
            let warnings = world.logs.warnings();
            warnings.iter().filter(|line| line.contains("could not read due")).count()
        };
        for times in 1..=2 {
            pass_ms(1_000).await;
            world.store.always(Op::Due, Fault::Broken);
            pass_ms(60_000).await;
            assert_eq!(warned(), times);
            world.store.heal();
        }
        node.settle().await;
    });
}

#[test]
fn after_a_broken_commit_nothing_more_is_accepted() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.store.once(Op::Commit, Fault::Broken);
        let broken = |denied| matches!(denied, Denied::StoreUnavailable(StoreError::Broken(_)));
        assert!(broken(node.create(pix(2)).await.unwrap_err()));
        let batches = world.store.batches().len();
        let charges = world.trace.charges();
        assert!(broken(node.create(pix(3)).await.unwrap_err()), "although the store would take it");
        let failures = |kind| node.number("quita_store_failures_total", &[("kind", kind)]);
        assert_eq!((failures("write"), failures("refused")), (1, 1));
        assert_eq!(node.payments.store_away().unwrap().trouble, StoreTrouble::Broken);
        let notice = node.notice("e1", id(1), settled(id(1), CENTS));
        let refused = node.payments.submit(notice).await.unwrap_err();
        assert!(matches!(refused, SinkError::Store(StoreError::Broken(_))), "{refused:?}");
        node.payments.probe_store().await;
        assert!(!node.payments.readiness().is_ready(), "although the store answers");
        pass_ms(60_000).await;
        assert_eq!((world.store.batches().len(), world.trace.charges()), (batches, charges));
        assert!(node.payments.read(id(1)).await.unwrap().is_some(), "reads go on");
    });
}

#[test]
fn a_notice_that_the_broken_store_did_not_keep_stops_the_accepting_too() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::PutNotices, Fault::Broken);
        let notice = node.notice("e1", id(1), settled(id(1), CENTS));
        node.payments.submit(notice).await.unwrap_err();
        assert!(matches!(node.create(pix(2)).await, Err(Denied::StoreUnavailable(StoreError::Broken(_)))));
    });
}

#[test]
fn a_commit_whose_reply_was_lost_is_read_back_and_nobody_is_charged_twice() {
    for lost in 0..3 {
        let world = World::new();
        world.live(async {
            let node = world.node();
            for _ in 0..lost {
                world.store.once(Op::Commit, Fault::Slow(Duration::from_millis(1)));
            }
            world.store.once(Op::Commit, Fault::LostReply);
            let payment = node.created(pix(1)).await;
            assert_eq!(payment.status(), Status::Pending, "reply {lost} was lost");
            node.settle().await;
            assert_eq!((world.trace.charges(), world.receivers.received().len()), (1, 1));
            assert_eq!(world.trace.stored(), 3, "nothing was written twice");
        });
    }
}

#[test]
fn a_write_that_a_reader_is_not_shown_yet_is_looked_up_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::LostReply);
        world.store.once(Op::Load, Fault::Unseen);
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending);
        node.settle().await;
        assert_eq!((world.trace.charges(), world.trace.stored()), (1, 3), "nothing was written twice");
    });
}

#[test]
fn writes_that_are_looked_up_hold_nobody_else_up() {
    let world = World::new().with_limits(|limits| limits.journal_in_flight = 1);
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::LostRequest);
        let lost = node.begin(pix(1));
        pass_ms(50).await;
        let began_ms = world.clock.elapsed_ms();
        assert_eq!(node.created(pix(2)).await.status(), Status::Pending);
        assert!(world.clock.elapsed_ms() - began_ms < 50 && !lost.is_finished());
        assert!(matches!(lost.await.unwrap(), Err(Denied::StoreUnavailable(_))));
        assert!(world.clock.elapsed_ms() - began_ms < 3_500);
        node.settle().await;
    });
}

#[test]
fn a_commit_that_never_arrived_is_refused_before_and_repeated_after_the_charge() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::LostRequest);
        assert!(matches!(node.create(pix(1)).await, Err(Denied::StoreUnavailable(_))));
        assert_eq!(world.trace.charges(), 0);
        world.store.once(Op::Commit, Fault::Slow(Duration::ZERO));
        world.store.once(Op::Commit, Fault::LostRequest);
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending);
        assert_eq!(world.trace.charges(), 1);
        node.settle().await;
    });
}

/// Creates a payment whose insert lands, and which is answered 503 because nobody can tell.
async fn created_unknown(world: &World, node: &Node<'_>, new: CreatePayment) {
    world.store.once(Op::Commit, Fault::LostReply);
    world.store.always(Op::Load, Fault::Unavailable);
    assert!(matches!(node.create(new).await, Err(Denied::StoreUnavailable(_))));
    world.store.heal();
    assert_eq!((world.store.payments().len(), world.trace.charges()), (1, 0));
}

fn keyed_card() -> CreatePayment {
    CreatePayment { fingerprint: Some("f".into()), ..card(1, true) }
}

#[test]
fn a_creation_that_was_stored_and_answered_503_goes_on_at_once_when_it_is_asked_again() {
    for (is_card, status) in [(false, Status::Pending), (true, Status::Paid)] {
        let world = World::new();
        let new = || if is_card { keyed_card() } else { keyed(1, "f") };
        world.live(async {
            let node = world.node();
            created_unknown(&world, &node, new()).await;
            let another = CreatePayment { fingerprint: Some("g".into()), ..new() };
            assert_eq!(node.create(another).await.unwrap_err(), Denied::KeyReused);
            let begun_ms = world.clock.elapsed_ms();
            let again = node.create(new()).await.unwrap();
            assert_eq!((again.payment.status(), again.is_replay), (status, false));
            assert!(world.clock.elapsed_ms() - begun_ms < 200, "it waits for no lease");
            assert_eq!((world.trace.asked(), world.trace.charges()), (0, 1));
            let replayed = node.create(new()).await.unwrap();
            assert_eq!((replayed.payment.status(), replayed.is_replay), (status, true));
            node.settle().await;
            assert_eq!(world.trace.charges(), 1);
        });
    }
}

#[test]
fn what_is_read_meanwhile_and_asked_again_later_still_goes_on_with_a_lease_of_its_own() {
    for is_sole_writer in [false, true] {
        let world = if is_sole_writer { World::with_sole_writer() } else { World::new() };
        world.bank.usually(Answer::after_ms(4_500, Answer::Takes));
        world.live(async {
            let node = world.node();
            created_unknown(&world, &node, keyed_card()).await;
            pass_ms(8_000).await;
            let read = node.payments.read(id(1)).await.unwrap().unwrap();
            assert_eq!((read.status(), read.revision), (Status::Initial, 1));
            // Of the first lease there is less left than the call may take.
            pass_ms(27_000 - world.clock.elapsed_ms()).await;
            let again = node.create(keyed_card()).await.unwrap();
            assert_eq!((again.payment.status(), world.trace.charges()), (Status::Paid, 1));
            node.settle().await;
            assert_eq!((world.trace.asked(), world.trace.charges()), (0, 1));
        });
    }
}

#[test]
fn a_creation_that_goes_on_and_whose_reply_is_lost_again_goes_on_after_that() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        created_unknown(&world, &node, keyed_card()).await;
        // The insert, which finds the id taken, and what goes on with it.
        world.store.once(Op::Commit, Fault::Slow(Duration::ZERO));
        world.store.once(Op::Commit, Fault::LostReply);
        world.store.once(Op::Load, Fault::Slow(Duration::ZERO));
        world.store.always(Op::Load, Fault::Unavailable);
        let lost = node.create(keyed_card()).await;
        assert!(matches!(lost, Err(Denied::StoreUnavailable(_))), "{lost:?}");
        world.store.heal();
        assert_eq!((node.stored(id(1)).revision, world.trace.charges()), (2, 0));
        assert_eq!(node.created(keyed_card()).await.status(), Status::Paid);
        node.settle().await;
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn twins_that_ask_again_have_one_payment_charged_once() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        created_unknown(&world, &node, keyed_card()).await;
        let answers = join_all((0..20).map(|_| node.create(keyed_card()))).await;
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert!(answers.iter().all(|answer| answer.payment.status() == Status::Paid));
        assert_eq!(answers.iter().filter(|answer| !answer.is_replay).count(), 1);
        node.settle().await;
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn elsewhere_it_waits_for_the_lease_because_nobody_there_knows_that_nothing_left() {
    let world = World::new();
    world.live(async {
        let (node, other) = (world.node(), world.node());
        created_unknown(&world, &node, keyed(1, "f")).await;
        let again = other.create(keyed(1, "f")).await.unwrap();
        assert_eq!((again.payment.status(), again.is_replay), (Status::Initial, true));
        assert_eq!(world.trace.charges(), 0);
        node.settle().await;
        let outside = world.trace.of_outside(id(1));
        let asked = outside.iter().position(|mark| *mark == Asked("first", id(1)));
        let charged = outside.iter().position(|mark| *mark == Charged("first", id(1)));
        assert!(asked.is_some() && asked < charged, "asked before it was sent: {outside:?}");
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn what_somebody_else_went_on_with_is_not_sent_beside_that() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        created_unknown(&world, &node, keyed_card()).await;
        world.store.forestall(id(1), notified(settled(id(1), CENTS)));
        let again = node.create(keyed_card()).await.unwrap();
        assert_eq!((again.payment.status(), again.is_replay), (Status::Paid, true));
        assert_eq!(world.trace.charges(), 0);
        node.settle().await;
        assert_eq!(world.trace.charges(), 0);
    });
}

#[test]
fn once_it_is_declined_it_stays_so() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        created_unknown(&world, &node, keyed_card()).await;
        pass_ms(120_000).await;
        let declined = node.stored(id(1));
        assert_eq!((declined.status(), world.trace.charges()), (Status::Declined, 0));
        assert_eq!(declined.state.status_reason.as_deref(), Some("interrupted"));
        let again = node.create(keyed_card()).await.unwrap();
        assert_eq!((again.payment.status(), again.is_replay), (Status::Declined, true));
        node.settle().await;
        assert_eq!(world.trace.charges(), 0);
    });
}

#[test]
fn a_write_that_takes_too_long_counts_as_unknown_and_goes_on_when_it_is_asked_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(12)));
        let began_ms = world.clock.elapsed_ms();
        assert!(matches!(node.create(keyed(1, "f")).await, Err(Denied::StoreUnavailable(_))));
        assert!(world.clock.elapsed_ms() - began_ms < 10_100);
        pass_ms(5_000).await;
        let again = node.create(keyed(1, "f")).await.unwrap();
        assert_eq!((again.payment.status(), again.is_replay), (Status::Pending, false));
        node.settle().await;
        assert_eq!((world.trace.asked(), world.trace.charges()), (0, 1));
    });
}

#[test]
fn when_another_writer_was_faster_both_changes_are_there() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let payment = node.created(pix(1)).await;
        node.settle().await;
        let paid = notified(settled(id(1), CENTS));
        world.store.once(Op::Commit, Fault::Forestalled(paid));
        let (after, index) =
            node.payments.redeliver(payment.id, owner(), DeliveryIndex::FIRST).await.unwrap();
        assert_eq!((after.status(), index), (Status::Paid, DeliveryIndex::new(2)));
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.history.len(), stored.outbox.len()), (Status::Paid, 2, 3));
        assert_eq!(stored.outbox[2].repeats, Some(DeliveryIndex::FIRST));
    });
}

#[test]
fn what_another_writer_made_impossible_is_refused_on_the_fresh_state() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.store.once(Op::Commit, Fault::Forestalled(notified(settled(id(1), CENTS))));
        let request =
            OperationRequest { id: operation_id(77), requested: RequestedOperation::Cancel, key: None };
        let denied = node.payments.operate(id(1), owner(), request).await.unwrap_err();
        assert!(matches!(denied, Denied::Refused(_)), "{denied:?}");
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
    });
}

#[test]
fn a_lost_reply_to_an_operation_is_read_back_and_the_operation_runs_once() {
    for lost in 0..2 {
        let world = World::new();
        world.live(async {
            let node = world.node();
            node.created(pix(1)).await;
            node.settle().await;
            for _ in 0..lost {
                world.store.once(Op::Commit, Fault::Slow(Duration::ZERO));
            }
            world.store.once(Op::Commit, Fault::LostReply);
            let request =
                OperationRequest { id: operation_id(77), requested: RequestedOperation::Cancel, key: None };
            let operated = node.payments.operate(id(1), owner(), request).await.unwrap();
            assert_eq!(operated.operation.state(), OperationState::Done);
            node.settle().await;
            assert_eq!(node.stored(id(1)).status(), Status::Cancelled);
            let outside = world.trace.of_outside(id(1)).into_iter();
            let operated = outside.filter(|mark| matches!(mark, crate::trace::Mark::Operated(..)));
            assert_eq!(operated.count(), 1);
        });
    }
}

#[test]
fn a_write_that_its_writer_gave_up_while_it_waited_never_lands() {
    let world = World::new().with_limits(|limits| limits.journal_in_flight = 1);
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(15)));
        drop(node.begin(pix(99)));
        pass_ms(1_000).await;
        let late = node.create(keyed(1, "f")).await;
        assert!(matches!(late, Err(Denied::StoreUnavailable(_))), "its write still waits");
        let again = node.create(keyed(1, "f")).await.unwrap();
        assert!(!again.is_replay, "the first write was left out");
        node.settle().await;
        assert_eq!((node.stored(id(1)).status(), world.trace.charges()), (Status::Pending, 2));
    });
}

#[test]
fn a_whole_batch_without_a_reply_is_read_back_at_once() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::Slow(Duration::from_millis(10)));
        world.store.once(Op::Commit, Fault::Slow(Duration::from_millis(10)));
        world.store.once(Op::Commit, Fault::LostReply);
        let callers: Vec<_> = (1..=200).map(|number| node.begin(pix(number))).collect();
        pass_ms(1_000).await;
        assert!(
            callers.iter().all(tokio::task::JoinHandle::is_finished),
            "nobody waits for the others' lookups"
        );
        assert!(world.store.batches().iter().any(|size| *size > 100), "{:?}", world.store.batches());
        node.settle().await;
        assert_eq!(world.trace.charges(), 200);
    });
}

#[test]
fn a_write_that_lands_after_it_was_given_up_is_not_overlooked_by_the_only_writer() {
    let world = World::with_sole_writer();
    world.live(async {
        let node = world.node();
        node.created(pix_for(1, None)).await;
        pass_ms(1_000).await;
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(15)));
        let cancel =
            OperationRequest { id: operation_id(77), requested: RequestedOperation::Cancel, key: None };
        let told = node.payments.operate(id(1), owner(), cancel).await;
        assert!(matches!(told, Err(Denied::StoreUnavailable(_))), "{told:?}");
        let before = node.payments.read(id(1)).await.unwrap().unwrap();
        assert!(before.operations.is_empty(), "it has not landed");
        pass_ms(6_000).await;
        let after = node.payments.read(id(1)).await.unwrap().unwrap();
        assert_eq!(after.revision, node.stored(id(1)).revision);
        assert_eq!(after.operations.len(), 1, "it has");
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Cancelled, "and is done");
    });
}

#[test]
fn a_failed_fsync_is_heeded_although_nobody_waits_for_it_any_more() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::Commit, Fault::BrokenLate(Duration::from_secs(15)));
        let given_up = node.create(pix(1)).await;
        assert!(
            matches!(given_up, Err(Denied::StoreUnavailable(StoreError::Unavailable(_)))),
            "{given_up:?}"
        );
        pass_ms(6_000).await;
        let commits = world.store.batches().len();
        let refused = node.create(pix(2)).await;
        assert!(matches!(refused, Err(Denied::StoreUnavailable(StoreError::Broken(_)))), "{refused:?}");
        assert_eq!(world.store.batches().len(), commits, "nothing is written after it");
    });
}
