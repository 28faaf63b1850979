//! A receiver's confirmation that waits for its payment's next write.

use quita_domain::delivery::Confirmation;
use quita_domain::payment::MayWait;

use super::deliveries::answered;
use super::unknown_outcomes::charge_answered;
use crate::*;

fn confirmed(ms: u64) -> Confirmation {
    Confirmation { delivery: DeliveryIndex::FIRST, attempt: answered(200, ms) }
}

#[test]
fn only_a_confirmation_from_which_nothing_follows_may_wait() {
    let may_wait = |payment: &Payment, new: &Confirmation, ms| {
        payment.may_wait(&[], new, START.plus_ms(ms)) == Some(MayWait { then: None })
    };
    let told = pending();
    assert!(may_wait(&told, &confirmed(100), 100));
    let failed = Confirmation { attempt: answered(500, 100), ..confirmed(100) };
    assert!(!may_wait(&told, &failed, 100), "when it is tried again has to be stored");
    assert!(!may_wait(&paid(), &confirmed(2_500), 2_500), "the next event waits for it, and is sent now");
    let lease_ends = told.outbox_at().unwrap().ms_since(START);
    assert!(may_wait(&told, &confirmed(100), lease_ends - 10_000));
    assert!(!may_wait(&told, &confirmed(100), lease_ends - 9_999), "somebody else would send it again");
    let nothing_there = Confirmation { delivery: DeliveryIndex::new(7), ..confirmed(100) };
    assert!(!may_wait(&told, &nothing_there, 100));
}

#[test]
fn it_goes_along_with_the_next_write_and_makes_none_by_itself() {
    let told = pending();
    let decide = |command| told.decide_with(&[confirmed(100)], command, &at(2_000));
    let settled = decide(notice(settled("s1", 10_000))).unwrap();
    assert_eq!(
        settled.effects,
        [Effect::Deliver(DeliveryIndex::new(1))],
        "nothing is between the next event and its receiver"
    );
    let paid = settled.next.unwrap();
    let states: Vec<_> = paid.outbox.iter().map(|delivery| delivery.state).collect();
    assert_eq!(states, [DeliveryState::Delivered, DeliveryState::Pending]);
    assert_eq!(paid.outbox[0].delivered_at, Some(START.plus_ms(101)));
    assert!(decide(notice(pending_fact())).unwrap().next.is_none(), "a repetition");
    assert_eq!(
        decide(Command::Redeliver { delivery: DeliveryIndex::new(9) }).unwrap_err(),
        Refusal::NoSuchDelivery
    );
}

#[test]
fn what_somebody_else_stored_of_the_delivery_stands() {
    let gone = after(
        &pending(),
        Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt: answered(410, 100) },
        100,
    );
    let decision = gone.decide_with(&[confirmed(200)], notice(settled("s1", 10_000)), &at(2_000)).unwrap();
    assert_eq!(decision.next.unwrap().outbox[0].state, DeliveryState::Exhausted);
}

/// A card that was approved and captured in one write: two events, of which the first is claimed.
fn captured_at_once() -> Payment {
    let amount = Money::from_cents(10_000);
    let approval = Some(Approval { authorization_code: "123".into() });
    let money = Settlement { id: "s1".into(), amount, paid_on: None, end_to_end_id: None, approval };
    after(&opened_card(true), charge_answered(ChargeAnswer::known(Fact::Settled(money))), 0)
}

fn confirmed_of(delivery: u32, ms: u64) -> Confirmation {
    Confirmation { delivery: DeliveryIndex::new(delivery), ..confirmed(ms) }
}

#[test]
fn the_next_event_is_sent_under_the_lease_of_the_first_and_both_are_stored_in_one_write() {
    let captured = captured_at_once();
    let states = |payment: &Payment| -> Vec<_> { payment.outbox.iter().map(|one| one.state).collect() };
    assert_eq!(states(&captured), [DeliveryState::Pending; 2]);
    let lease_ends = captured.outbox[0].next_attempt_at.unwrap();
    let then = captured.may_wait(&[], &confirmed_of(0, 100), START.plus_ms(100)).unwrap().then.unwrap();
    assert_eq!((then.delivery, then.ends_at), (DeliveryIndex::new(1), lease_ends.minus_ms(18_000)));
    let late = then.ends_at.ms_since(START);
    assert!(
        captured.may_wait(&[], &confirmed_of(0, late), then.ends_at).is_none(),
        "it could not end in time"
    );
    let waiting = [confirmed_of(0, 100)];
    let second = captured.may_wait(&waiting, &confirmed_of(1, 200), START.plus_ms(200));
    assert_eq!(second, Some(MayWait { then: None }), "nothing follows from it");
    let again = captured.may_wait(&waiting, &confirmed_of(0, 200), START.plus_ms(200));
    assert_eq!(again, None, "a repetition waits for nothing");
    let unknown = captured.may_wait(&waiting, &confirmed_of(2, 200), START.plus_ms(200));
    assert_eq!(unknown, None, "a delivery that does not exist has nothing to store");
    let last = Command::DeliveryAnswered { delivery: DeliveryIndex::new(1), attempt: answered(200, 200) };
    let stored = captured.decide_with(&waiting, last, &at(4_000)).unwrap();
    assert_eq!((stored.effects.len(), states(&stored.next.unwrap())), (0, vec![DeliveryState::Delivered; 2]));
}

#[test]
fn a_next_event_that_failed_is_stored_at_once_with_the_confirmation_before_it() {
    let captured = captured_at_once();
    let waiting = [confirmed_of(0, 100)];
    let failed = Confirmation { delivery: DeliveryIndex::new(1), attempt: answered(500, 200) };
    assert_eq!(captured.may_wait(&waiting, &failed, START.plus_ms(200)), None);
    let command = Command::DeliveryAnswered { delivery: DeliveryIndex::new(1), attempt: failed.attempt };
    let stored = captured.decide_with(&waiting, command, &at(201)).unwrap().next.unwrap();
    assert_eq!(stored.outbox[0].state, DeliveryState::Delivered);
    assert_eq!((stored.outbox[1].state, stored.outbox[1].attempts.len()), (DeliveryState::Pending, 1));
}

#[test]
fn nothing_is_sent_under_a_lease_that_keeps_nothing_back() {
    let captured = captured_at_once();
    let again = after(&captured, Command::Redeliver { delivery: DeliveryIndex::FIRST }, 50);
    let now = START.plus_ms(100);
    assert_eq!(again.may_wait(&[], &confirmed_of(0, 100), now), None, "a redelivery is under way beside it");
    assert_eq!(again.may_wait(&[], &confirmed_of(2, 100), now), None, "its lease is not that of the order");
}

#[test]
fn a_confirmation_waits_longer_while_a_payer_may_pay_any_moment() {
    let wait = |payment: &Payment, ms, is_long| {
        payment.confirmations_wait_ms(&[confirmed(100)], START.plus_ms(ms), is_long)
    };
    let told = pending();
    let lease_ends = told.outbox_at().unwrap().ms_since(START);
    assert_eq!((wait(&told, 100, true), wait(&told, 100, false)), (lease_ends - 100 - 6_000, 4_000));
    assert_eq!(wait(&told, lease_ends - 10_000, true), 4_000, "the lease keeps others from sending it again");
    assert_eq!(wait(&paid(), 2_500, true), 4_000, "nothing else is expected soon");
}
