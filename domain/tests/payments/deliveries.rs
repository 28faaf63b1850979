//! Deliveries of events: their order, their attempts, their end.

use crate::*;

pub(crate) fn answered(status: u16, ms: u64) -> DeliveryAttempt {
    DeliveryAttempt {
        at: START.plus_ms(ms),
        duration_ms: 1,
        status: Some(status),
        error: None,
        answer: None,
        retry_after_ms: None,
    }
}

#[test]
fn the_next_event_waits_until_the_one_before_is_confirmed() {
    let paid = paid();
    assert_eq!(paid.outbox.len(), 2);
    assert_eq!(paid.outbox_at(), paid.outbox[0].next_attempt_at, "only the first may go out");
    let attempt = answered(200, 2_500);
    let decision = paid
        .decide(Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt }, &at(2_501))
        .unwrap();
    assert_eq!(
        decision.effects,
        [Effect::Deliver(DeliveryIndex::new(1))],
        "and then the next goes out at once"
    );
    assert_eq!(decision.next.unwrap().outbox[0].state, DeliveryState::Delivered);
}

#[test]
fn a_delivery_counts_as_delivered_since_its_receiver_answered_however_late_that_is_stored() {
    let attempt = DeliveryAttempt { duration_ms: 40, ..answered(200, 100) };
    let told =
        after(&pending(), Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt }, 4_100);
    assert_eq!(told.outbox[0].delivered_at, Some(START.plus_ms(140)));
}

#[test]
fn a_delivery_is_tried_eight_times_and_then_exhausted() {
    let mut payment = pending();
    for made in 1..=8 {
        assert_eq!(payment.outbox[0].state, DeliveryState::Pending, "before attempt {made}");
        let attempt = answered(500, 100 * made);
        payment = after(
            &payment,
            Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt },
            100 * made,
        );
    }
    assert_eq!(payment.outbox[0].state, DeliveryState::Exhausted);
    assert_eq!(payment.outbox_at(), None);
}

#[test]
fn a_receiver_that_is_gone_gets_nothing_more_of_this_payment() {
    let attempt = answered(410, 100);
    let gone = after(&pending(), Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt }, 100);
    assert_eq!(gone.outbox[0].state, DeliveryState::Exhausted);
    let paid = after(&gone, notice(settled("s1", 10_000)), 2_000);
    assert_eq!(paid.outbox[1].state, DeliveryState::Exhausted);
    assert_eq!(paid.history.len(), 2, "the event itself is there");
}

#[test]
fn an_event_is_delivered_again_on_demand_outside_of_the_order() {
    let attempt = answered(200, 100);
    let told = after(&pending(), Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt }, 100);
    let decision = told.decide(Command::Redeliver { delivery: DeliveryIndex::FIRST }, &at(200)).unwrap();
    assert_eq!(decision.effects, [Effect::Deliver(DeliveryIndex::new(1))]);
    let again = decision.next.unwrap();
    let second = (again.outbox[1].sequence, again.outbox[1].repeats);
    assert_eq!(second, (EventSequence::FIRST, Some(DeliveryIndex::FIRST)));
    assert_eq!(
        told.decide(Command::Redeliver { delivery: DeliveryIndex::new(9) }, &at(200)).unwrap_err(),
        Refusal::NoSuchDelivery
    );
}

#[test]
fn a_receiver_that_is_gone_is_not_back_because_a_redelivery_timed_out() {
    let gone = Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt: answered(410, 100) };
    let again =
        after(&after(&pending(), gone, 100), Command::Redeliver { delivery: DeliveryIndex::FIRST }, 200);
    let attempt = DeliveryAttempt { status: None, ..answered(0, 300) };
    let tried = after(&again, Command::DeliveryAnswered { delivery: DeliveryIndex::new(1), attempt }, 300);
    let paid = after(&tried, notice(settled("s1", 10_000)), 2_000);
    assert_eq!(paid.outbox[2].state, DeliveryState::Exhausted);
}

#[test]
fn a_delivery_is_claimed_while_its_lease_runs_by_the_one_who_holds_it_alone() {
    let waiting = pending();
    let ends_at = waiting.outbox_at().unwrap();
    let deliver = |lease: Lease, ms| waiting.decide(Command::Deliver { held: vec![lease] }, &at(ms)).unwrap();
    let held = Lease { delivery: DeliveryIndex::FIRST, ends_at };
    let claimed = deliver(held, 3_000);
    assert_eq!(claimed.effects, [Effect::Deliver(DeliveryIndex::FIRST)]);
    assert_eq!(claimed.next.unwrap().outbox_at(), Some(START.plus_ms(3_000 + LEASE_MS)), "renewed");
    let somebody_elses = Lease { ends_at: ends_at.plus_ms(1), ..held };
    for other in [somebody_elses, Lease { delivery: DeliveryIndex::new(1), ..held }] {
        assert!(deliver(other, 3_000).next.is_none(), "nothing is written");
    }
    let after_its_end = ends_at.ms_since(START);
    assert_eq!(deliver(somebody_elses, after_its_end).effects, [Effect::Deliver(DeliveryIndex::FIRST)]);
}
