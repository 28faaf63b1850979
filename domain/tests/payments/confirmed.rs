//! A receiver's confirmation that waits for its payment's next write.

use quita_domain::delivery::Confirmation;

use super::deliveries::answered;
use crate::*;

fn confirmed(ms: u64) -> Confirmation {
    Confirmation { delivery: 0, attempt: answered(200, ms) }
}

#[test]
fn only_a_confirmation_from_which_nothing_follows_may_wait() {
    let may_wait = |payment: &Payment, new: &Confirmation, ms| payment.may_wait(new, START.plus_ms(ms));
    let told = pending();
    assert!(may_wait(&told, &confirmed(100), 100));
    let failed = Confirmation { attempt: answered(500, 100), ..confirmed(100) };
    assert!(!may_wait(&told, &failed, 100), "when it is tried again has to be stored");
    assert!(!may_wait(&paid(), &confirmed(2_500), 2_500), "the next event waits for it");
    let lease_ends = told.outbox_at().unwrap().ms_since(START);
    assert!(may_wait(&told, &confirmed(100), lease_ends - 10_000));
    assert!(!may_wait(&told, &confirmed(100), lease_ends - 9_999), "somebody else would send it again");
    let nothing_there = Confirmation { delivery: 7, ..confirmed(100) };
    assert!(!may_wait(&told, &nothing_there, 100));
}

#[test]
fn it_goes_along_with_the_next_write_and_makes_none_by_itself() {
    let told = pending();
    let decide = |command| told.decide_with(Some(&confirmed(100)), command, &at(2_000));
    let settled = decide(notice(settled("s1", 10_000))).unwrap();
    assert_eq!(settled.effects, [Effect::Deliver(1)], "nothing is between the next event and its receiver");
    let paid = settled.next.unwrap();
    let states: Vec<_> = paid.outbox.iter().map(|delivery| delivery.state).collect();
    assert_eq!(states, [DeliveryState::Delivered, DeliveryState::Pending]);
    assert_eq!(paid.outbox[0].delivered_at, Some(START.plus_ms(101)));
    assert!(decide(notice(pending_fact())).unwrap().next.is_none(), "a repetition");
    assert_eq!(decide(Command::Redeliver { delivery: 9 }).unwrap_err(), Refusal::NoSuchDelivery);
}

#[test]
fn what_somebody_else_stored_of_the_delivery_stands() {
    let gone = after(&pending(), Command::DeliveryAnswered { delivery: 0, attempt: answered(410, 100) }, 100);
    let decision =
        gone.decide_with(Some(&confirmed(200)), notice(settled("s1", 10_000)), &at(2_000)).unwrap();
    assert_eq!(decision.next.unwrap().outbox[0].state, DeliveryState::Exhausted);
}
