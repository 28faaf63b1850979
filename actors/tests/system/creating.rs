//! Creating payments: what is written, sent and answered, in which order.

use std::time::Duration;

use futures_util::future::join_all;
use quita_actors::{CreatePayment, Denied, LinkUse};
use quita_domain::card::token::UsedToken;
use quita_domain::identity::LinkId;
use quita_domain::status::Status;
use tokio::time::Instant;
use uuid::Uuid;

use crate::bank::Answer;
use crate::orders::{card, id, keyed, pix};
use crate::trace::Mark::{Begun, Charged, Replied, Stored};
use crate::world::{World, pass_ms};

#[test]
fn nothing_is_sent_to_an_acquirer_before_the_intent_is_stored() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let payment = node.created(pix(1)).await;
        assert_eq!(payment.status(), Status::Pending);
        let expected = [
            Stored(id(1), 1, Status::Initial),
            Charged("first", id(1)),
            Stored(id(1), 2, Status::Pending),
            Replied(id(1)),
        ];
        assert_eq!(world.trace.of(id(1))[..4], expected);
        node.settle().await;
        // One more write: the delivery was confirmed. The claim was in the same write as the status.
        assert_eq!((node.stored(id(1)).revision, world.trace.stored()), (3, 3));
        assert_eq!(world.receivers.received().len(), 1);
    });
}

#[test]
fn a_local_acquirer_costs_one_write_and_begins_only_after_it() {
    let world = World::with_local_bank();
    world.live(async {
        let node = world.node();
        let payment = node.created(pix(1)).await;
        assert_eq!((payment.status(), world.trace.stored()), (Status::Pending, 1));
        pass_ms(10).await;
        let outside = world.trace.of_outside(id(1));
        let stored = Stored(id(1), payment.revision, Status::Pending);
        assert_eq!(outside, [Charged("first", id(1)), stored.clone(), Begun("first", id(1))]);
        let answered = world.trace.of(id(1)).into_iter().filter(|mark| !matches!(mark, Begun(..)));
        assert_eq!(answered.collect::<Vec<_>>(), [Charged("first", id(1)), stored, Replied(id(1))]);
        node.settle().await;
    });
}

#[test]
fn a_local_acquirer_that_is_refused_by_the_store_has_begun_nothing() {
    let world = World::with_local_bank();
    world.live(async {
        let node = world.node();
        world.store.always(crate::store::Op::Commit, crate::store::Fault::Unavailable);
        assert!(matches!(node.create(pix(1)).await, Err(Denied::StoreUnavailable(_))));
        pass_ms(60_000).await;
        assert!(!world.trace.of(id(1)).contains(&Begun("first", id(1))));
    });
}

#[test]
fn a_token_that_another_payment_used_charges_nobody_and_a_replay_is_a_replay() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let with_token = |number: u128, fingerprint: &str| CreatePayment {
            used_token: Some(UsedToken::of(b"sealed", b"key")),
            ..keyed(number, fingerprint)
        };
        let first = node.create(with_token(1, "a")).await.unwrap();
        assert!(!first.is_replay);
        assert!(matches!(node.create(with_token(2, "b")).await, Err(Denied::TokenUsed)));
        assert!(node.create(with_token(1, "a")).await.unwrap().is_replay);
        assert_eq!(world.trace.charges(), 1);
        node.settle().await;
    });
}

#[test]
fn a_payment_whose_use_of_a_link_may_be_free_again_is_neither_stored_nor_charged() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let until = |ms: u64| {
            let stored_before = Instant::now() + Duration::from_millis(ms);
            CreatePayment { link: Some(LinkUse { link: LinkId::new(Uuid::nil()), stored_before }), ..pix(1) }
        };
        let late = until(60_000);
        pass_ms(60_000).await;
        assert!(matches!(node.create(late).await, Err(Denied::Overloaded)));
        pass_ms(60_000).await;
        assert_eq!((world.trace.charges(), world.trace.stored()), (0, 0));
        assert_eq!(node.create(until(1)).await.unwrap().payment.link, Some(LinkId::new(Uuid::nil())));
        node.settle().await;
    });
}

#[test]
fn a_declined_charge_goes_to_nobody_else() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Declines]);
        assert_eq!(node.created(pix(1)).await.status(), Status::Declined);
        assert_eq!(world.trace.charges(), 1);
        node.settle().await;
    });
}

#[test]
fn a_charge_that_was_not_delivered_goes_to_the_next_acquirer() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.usually(Answer::Unreachable);
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending);
        let expected = [
            Stored(id(1), 1, Status::Initial),
            Charged("first", id(1)),
            Stored(id(1), 2, Status::Initial),
            Charged("second", id(1)),
            Stored(id(1), 3, Status::Pending),
        ];
        assert_eq!(world.trace.of_outside(id(1)), expected);
        world.second.as_ref().unwrap().usually(Answer::Unreachable);
        let nobody = node.created(card(2, true)).await;
        assert_eq!(nobody.status(), Status::Declined);
        assert_eq!(nobody.state.status_reason.as_deref(), Some("no_acquirer_available"));
        node.settle().await;
    });
}

#[test]
fn a_card_that_is_captured_at_once_tells_two_events_in_one_write() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let payment = node.created(card(1, true)).await;
        assert_eq!((payment.status(), payment.revision), (Status::Paid, 2));
        node.settle().await;
        assert_eq!(world.receivers.received().len(), 2);
        // The intent, the answer, and both confirmations: the second event is sent under the first one's lease.
        assert_eq!(world.trace.stored(), 3);
    });
}

#[test]
fn of_64_identical_keyed_requests_at_once_one_inserts_and_charges_and_63_are_replays() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let requests = (0..64).map(|_| node.begin(keyed(1, "one request")));
        let created: Vec<_> =
            join_all(requests).await.into_iter().map(|created| created.unwrap().unwrap()).collect();
        assert_eq!(created.iter().filter(|created| created.is_replay).count(), 63);
        assert!(created.iter().all(|created| created.payment.status() == Status::Pending));
        assert_eq!(world.trace.charges(), 1);
        let inserted = world.trace.of(id(1)).into_iter().filter(|mark| matches!(mark, Stored(_, 1, _)));
        assert_eq!(inserted.count(), 1);
        assert_eq!(node.create(keyed(1, "another request")).await.unwrap_err(), Denied::KeyReused);
        node.settle().await;
        pass_ms(20_000).await;
        assert_eq!(node.live("transaction"), 0);
        let same = keyed(1, "one request");
        let other = keyed(1, "another request");
        assert!(node.create(same).await.unwrap().is_replay, "the store knows it too");
        assert_eq!(node.create(other).await.unwrap_err(), Denied::KeyReused);
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn a_payment_is_read_as_its_acquirer_answered_or_as_it_is_when_that_takes_too_long() {
    let world = World::new().with_limits(|limits| limits.answer_within = std::time::Duration::from_secs(2));
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(1_000, Answer::Takes), Answer::after_ms(5_000, Answer::Takes)]);
        for (payment, expected) in [(1, Status::Pending), (2, Status::Initial)] {
            let first = node.begin(pix(payment));
            pass_ms(10).await;
            let read = node.payments.read(id(payment)).await.unwrap().unwrap();
            assert_eq!(read.status(), Status::Initial, "the charge is under way");
            let answered = node.payments.read_answered(id(payment)).await.unwrap().unwrap();
            assert_eq!(answered.status(), expected);
            assert_eq!(
                first.await.unwrap().unwrap().payment.status(),
                expected,
                "as its creator is answered"
            );
        }
        assert!(node.payments.read_answered(id(3)).await.unwrap().is_none());
        node.settle().await;
    });
}

#[test]
fn an_id_that_is_taken_is_no_replay_without_a_key() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        assert_eq!(node.create(pix(1)).await.unwrap_err(), Denied::KeyReused);
        node.settle().await;
    });
}

#[test]
fn a_caller_that_hangs_up_does_not_stop_its_payment() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let caller = node.begin(pix(1));
        pass_ms(1).await;
        caller.abort();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn an_acquirer_that_takes_its_time_answers_a_caller_as_initial_and_the_work_goes_on() {
    let world = World::new().with_limits(|limits| limits.answer_within = std::time::Duration::from_secs(2));
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(4_000, Answer::Takes)]);
        let began_ms = world.clock.elapsed_ms();
        assert_eq!(node.created(pix(1)).await.status(), Status::Initial);
        let waited_ms = world.clock.elapsed_ms() - began_ms;
        assert!((2_000..2_100).contains(&waited_ms), "{waited_ms}");
        pass_ms(2_500).await;
        assert_eq!(node.payments.read(id(1)).await.unwrap().unwrap().status(), Status::Pending);
        node.settle().await;
    });
}
