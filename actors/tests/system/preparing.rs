//! Preparation of a call before it can leave: waited for as long as a merchant waits, and not in the call's own
//! time.

use quita_actors::Denied;
use quita_domain::payment::Payment;
use quita_domain::status::Status;

use crate::bank::{Answer, TIME_OUT_MS};
use crate::orders::{id, pix};
use crate::world::World;

fn charged(payment: &Payment) -> Vec<&str> {
    payment.state.attempts.iter().map(|attempt| attempt.acquirer.as_str()).collect()
}

#[test]
fn what_is_waited_for_does_not_use_up_the_time_of_the_call() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let answers = Answer::after_ms(TIME_OUT_MS - 100, Answer::Takes);
        world.bank.next([Answer::waits_ms(TIME_OUT_MS + 1_000, answers)]);
        node.create(pix(1)).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!((world.trace.charges(), world.bank.asked_ms().len()), (1, 0), "it was answered in time");
    });
}

#[test]
fn a_charge_that_would_wait_for_longer_than_its_merchant_goes_to_the_next_acquirer() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::waits_ms(60_000, Answer::Takes)]);
        node.create(pix(1)).await.unwrap();
        node.settle().await;
        let payment = node.stored(id(1));
        assert_eq!((payment.status(), charged(&payment)), (Status::Pending, vec!["first", "second"]));
        assert!(!world.bank.holds(id(1)), "nothing had left");
    });
}

#[test]
fn a_payment_is_stored_once_what_its_charge_needs_is_there() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.lacks_for_ms(3_000, false);
        let began_ms = world.clock.elapsed_ms();
        let payment = node.created(pix(1)).await;
        assert_eq!((payment.status(), charged(&payment)), (Status::Pending, vec!["first"]));
        assert!(world.clock.elapsed_ms() >= began_ms + 3_000);
        let waited_ms = payment.state.attempts[0].at.ms_since(payment.created_at);
        assert_eq!(waited_ms, 0, "its lease begins when it may leave");
    });
}

#[test]
fn who_lacks_it_for_longer_than_a_merchant_waits_is_passed_over() {
    for is_known in [true, false] {
        let world = World::new().and_second_bank();
        world.live(async {
            let node = world.node();
            world.bank.lacks_for_ms(60_000, is_known);
            let began_ms = world.clock.elapsed_ms();
            let payment = node.created(pix(1)).await;
            node.settle().await;
            let considered: Vec<_> =
                payment.considered.iter().map(|one| (one.acquirer.as_str(), one.reason.as_ref())).collect();
            assert_eq!(considered, [("second", "eligible"), ("first", "throttled")]);
            assert_eq!(node.stored(id(1)).status(), Status::Pending);
            let took_ms = world.clock.elapsed_ms() - began_ms;
            assert!(is_known || took_ms >= 8_000, "{took_ms}");
        });
    }
}

#[test]
fn where_nobody_has_it_in_time_the_payment_is_refused_and_not_stored() {
    for is_known in [true, false] {
        let world = World::new();
        world.live(async {
            let node = world.node();
            world.bank.lacks_for_ms(60_000, is_known);
            assert_eq!(node.create(pix(1)).await.unwrap_err(), Denied::NoRoute);
            assert!(world.store.payments().is_empty() && world.bank.calls().is_empty());
        });
    }
}
