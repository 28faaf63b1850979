//! Numbers of slips: known and stored before the call, each of one payment, until they are used up.

use quita_actors::Denied;
use quita_domain::boleto::NumberDigit;
use quita_domain::exception::NUMBERS_LOW;
use quita_domain::payment::Payment;
use quita_domain::status::Status;

use crate::bank::Answer;
use crate::orders::{id, keyed, pix};
use crate::store::{Fault, Op};
use crate::world::{World, pass_ms};

fn numbers(payment: &Payment) -> Vec<Option<u32>> {
    payment.state.attempts.iter().map(|attempt| attempt.our_number).collect()
}

#[test]
fn a_charge_of_unknown_outcome_has_its_number_stored_and_is_sent_again_with_it() {
    let world = World::new().with_bank_numbers(1_000, 99_999);
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Silence]);
        node.create(pix(1)).await.unwrap();
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), numbers(&stored)), (Status::Initial, vec![Some(1_000)]));
        pass_ms(120_000).await;
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!(stored.status(), Status::Pending);
        assert_eq!(numbers(&stored), [Some(1_000), Some(1_000)]);
        assert_eq!(world.bank.charged_numbers(), [Some(1_000), Some(1_000)]);
    });
}

#[test]
fn no_number_is_given_out_twice_over_a_restart_and_a_block_is_one_write() {
    let world = World::new().with_bank_numbers(1, 99_999);
    world.live(async {
        let node = world.node();
        for number in 1..=51 {
            node.created(pix(number)).await;
        }
        node.settle().await;
        assert_eq!(world.store.called(Op::TakeNumbers), 2);
    });
    world.live(async {
        let node = world.node();
        node.created(pix(60)).await;
        node.settle().await;
    });
    let charged = world.bank.charged_numbers();
    let expected: Vec<_> = (1..=51).chain([101]).map(Some).collect();
    assert_eq!(charged, expected);
}

#[test]
fn a_range_that_is_used_up_sends_payments_elsewhere() {
    let world = World::new().and_second_bank().with_bank_numbers(1, 2);
    world.live(async {
        let node = world.node();
        for number in 1..=4 {
            let payment = node.created(pix(number)).await;
            let expected = if number <= 2 { "first" } else { "second" };
            assert_eq!(payment.acquirer().unwrap().as_str(), expected, "{number}");
            let first = payment.considered.iter().find(|one| one.acquirer.as_str() == "first").unwrap();
            let reason = if number <= 2 { "eligible" } else { "numbers_used_up" };
            assert_eq!((first.eligible, first.reason.as_ref()), (number <= 2, reason));
        }
        node.settle().await;
        assert_eq!(node.number("quita_acquirer_numbers_left", &[("acquirer", "first")]), 0);
    });
    assert_eq!(world.bank.charged_numbers(), [Some(1), Some(2)]);
    assert_eq!(world.store.kinds_of_exceptions(), [NUMBERS_LOW], "once");
}

#[test]
fn a_sole_acquirer_without_numbers_is_no_acquirer() {
    let world = World::new().with_bank_numbers(1, 1);
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        assert!(matches!(node.create(pix(2)).await, Err(Denied::MethodUnavailable)));
        assert!(world.store.payment(id(2)).is_none(), "nothing is stored");
        node.settle().await;
    });
}

#[test]
fn without_a_number_nothing_is_stored_and_nothing_leaves() {
    let world = World::new().with_bank_numbers(1, 99_999);
    world.live(async {
        let node = world.node();
        world.store.always(Op::TakeNumbers, Fault::Unavailable);
        assert!(matches!(node.create(pix(1)).await, Err(Denied::StoreUnavailable(_))));
        assert!(world.store.payment(id(1)).is_none());
        assert!(world.bank.charged_numbers().is_empty());
        world.store.heal();
        assert_eq!(node.created(pix(2)).await.status(), Status::Pending);
        node.settle().await;
    });
}

#[test]
fn numbers_that_were_in_use_before_a_restore_are_passed_over_ever_faster() {
    let world = World::new().with_bank_numbers(1, 99_999_999);
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::NumberTaken]);
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending);
        assert_eq!(world.bank.charged_numbers(), [Some(1), Some(2)], "one is no reason");
        world.bank.next(vec![Answer::NumberTaken; 5]);
        node.create(pix(2)).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(2)).status(), Status::Pending);
        let charged = world.bank.charged_numbers();
        let numbers: Vec<u32> = charged[2..].iter().map(|number| number.unwrap()).collect();
        assert_eq!(numbers[0], 3);
        let steps: Vec<u32> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        node.created(pix(3)).await;
        node.settle().await;
        let next = world.bank.charged_numbers().last().copied().flatten().unwrap();
        assert_eq!(next, numbers.last().unwrap() + 1, "then it goes on as before");
    });
}

#[test]
fn a_number_is_stored_sent_and_passed_over_with_its_check_digit() {
    let world = World::new().with_bank_numbers_and_digits(1, 9_999_999);
    world.live(async {
        let node = world.node();
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending);
        assert_eq!(numbers(&node.stored(id(1))), world.bank.charged_numbers());
        // Two in a row are somebody else's, although their digits lie between them.
        world.bank.next([Answer::NumberTaken, Answer::NumberTaken]);
        node.create(pix(2)).await.unwrap();
        node.settle().await;
        let charged: Vec<u32> = world.bank.charged_numbers().iter().map(|number| number.unwrap()).collect();
        let counted: Vec<u32> = charged.iter().map(|number| number / 10).collect();
        assert_eq!(counted, [1, 2, 3, 101]);
        let digit = NumberDigit::sicoob(1, 19).unwrap();
        assert_eq!(charged, counted.iter().map(|number| digit.appended(*number)).collect::<Vec<_>>());
    });
}

#[test]
fn the_last_number_of_others_of_a_payment_that_is_given_up_counts_too() {
    let world = World::new().with_bank_numbers(1, 99_999_999);
    world.live(async {
        let node = world.node();
        world.bank.next(vec![Answer::NumberTaken; 8]);
        node.create(pix(1)).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Declined);
        node.created(pix(2)).await;
        node.settle().await;
        let numbers: Vec<u32> = world.bank.charged_numbers().iter().map(|number| number.unwrap()).collect();
        assert_eq!(numbers.len(), 9);
        assert!(numbers[8] - numbers[7] > numbers[7] - numbers[6], "{numbers:?}");
    });
}

#[test]
fn twenty_charges_at_once_that_meet_numbers_of_others_pass_over_one_stretch() {
    let world = World::new().with_bank_numbers(1, 99_999_999);
    world.live(async {
        let node = world.node();
        world.bank.next(vec![Answer::NumberTaken; 20]);
        let begun: Vec<_> = (1..=20).map(|number| node.begin(pix(number))).collect();
        for created in begun {
            created.await.unwrap().unwrap();
        }
        node.settle().await;
        let numbers = world.bank.charged_numbers();
        let highest = numbers.iter().copied().flatten().max().unwrap();
        assert_eq!(numbers.len(), 40);
        assert!(highest <= 150, "one block was passed over: {numbers:?}");
        assert!((1..=20).all(|number| node.stored(id(number)).status() == Status::Pending));
    });
}

#[test]
fn a_creation_that_is_not_stored_gives_its_number_back() {
    let world = World::new().with_bank_numbers(1, 99_999);
    world.live(async {
        let node = world.node();
        node.created(keyed(1, "a")).await;
        world.store.once(Op::Commit, Fault::Unavailable);
        assert!(matches!(node.create(keyed(2, "b")).await, Err(Denied::StoreUnavailable(_))));
        node.created(keyed(3, "c")).await;
        node.settle().await;
    });
    assert_eq!(world.bank.charged_numbers(), [Some(1), Some(2)]);
    world.live(async {
        let node = world.node();
        assert!(node.create(keyed(1, "a")).await.unwrap().is_replay);
        assert!(node.create(keyed(3, "c")).await.unwrap().is_replay);
        node.created(keyed(4, "d")).await;
        node.settle().await;
    });
    assert_eq!(world.bank.charged_numbers(), [Some(1), Some(2), Some(51)]);
}

#[test]
fn a_creation_that_may_be_stored_keeps_its_number() {
    for fault in [Fault::LostReply, Fault::LostRequest] {
        let world = World::new().with_bank_numbers(1, 99_999);
        world.live(async {
            let node = world.node();
            world.store.once(Op::Commit, fault);
            node.create(keyed(1, "a")).await.ok();
            node.created(keyed(2, "b")).await;
            node.created(keyed(1, "a")).await;
            node.settle().await;
            let first = numbers(&node.stored(id(1)));
            let second = numbers(&node.stored(id(2)));
            assert_ne!(second, [Some(1)]);
            assert_ne!(first, second);
        });
    }
}

#[test]
fn a_bank_that_knows_the_first_number_of_a_process_is_asked_for_one_that_it_does_not_know() {
    let world = World::new().with_bank_numbers(1, 99_999_999);
    world.live(async {
        let node = world.node();
        world.bank.has_numbers_to(220);
        let begun: Vec<_> = (1..=3).map(|number| node.begin(pix(number))).collect();
        for created in begun {
            created.await.unwrap().unwrap();
        }
        node.settle().await;
        let mut numbers: Vec<u32> =
            world.bank.charged_numbers().iter().map(|number| number.unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [251, 252, 253]);
    });
}
