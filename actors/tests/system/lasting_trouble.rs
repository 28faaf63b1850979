//! Trouble that does not pass: it is left alone for a while, told to an operator, and stands in nobody's way.

use quita_domain::status::Status;

use crate::bank::Answer;
use crate::orders::{CENTS, card, id, pix};
use crate::store::{Fault, Op};
use crate::world::{World, pass_ms};

#[test]
fn an_exception_is_stored_when_the_store_takes_it_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS - 1);
        world.store.always(Op::PutException, Fault::Unavailable);
        // The first look is after a minute, the next one two minutes later.
        pass_ms(70_000).await;
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
        world.store.heal();
        pass_ms(31_000).await;
        assert_eq!((world.trace.asked(), world.store.kinds_of_exceptions().len()), (1, 1));
        assert_eq!(world.store.kinds_of_exceptions(), ["amount_mismatch"]);
    });
}

#[test]
fn exceptions_that_wait_for_the_store_are_bounded_and_one_too_many_is_told_of_later() {
    let world = World::new().with_limits(|limits| limits.exceptions_waiting = 1);
    world.live(async {
        let node = world.node();
        for number in 1..=2 {
            node.created(pix(number)).await;
            world.bank.is_paid(id(number), CENTS - 1);
            pass_ms(1_000).await;
        }
        world.store.always(Op::PutException, Fault::Unavailable);
        pass_ms(70_000).await;
        world.store.heal();
        pass_ms(31_000).await;
        assert_eq!(world.store.kinds_of_exceptions().len(), 1);
        pass_ms(90_000).await;
        assert_eq!(world.store.kinds_of_exceptions().len(), 2, "found again by the next look");
    });
}

#[test]
fn what_cannot_be_read_is_told_of_and_keeps_nobody_else_waiting() {
    let world = World::new().with_limits(|limits| limits.timer_batch = 2);
    world.bank.next(std::iter::repeat_n(Answer::TakesSilently, 6));
    world.live(async {
        let node = world.node();
        for number in 1..=6 {
            drop(node.begin(card(number, true)));
            pass_ms(100).await;
        }
    });
    for number in 1..=5 {
        world.store.spoil(id(number));
    }
    world.live(async {
        let node = world.node();
        pass_ms(35_000).await;
        assert_eq!(node.stored(id(6)).status(), Status::Paid, "five that failed stood before it");
        assert_eq!(world.store.kinds_of_exceptions(), ["unreadable"; 5]);
        pass_ms(60_000).await;
        let reads = world.store.reads().len();
        pass_ms(600_000).await;
        let more = world.store.reads().len() - reads;
        assert!(more <= 5 * 11 * 2, "about once a minute each, not with every tick: {more}");
    });
}
