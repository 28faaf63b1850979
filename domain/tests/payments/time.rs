//! Passage of time: late money, times that come due, clocks that jump.

use crate::payments::deliveries::answered;
use crate::payments::unknown_outcomes::{charge_answered, found, unknown};
use crate::*;

pub(crate) const DAY: u64 = 24 * 3_600_000;

#[test]
fn what_ended_unpaid_is_looked_at_after_one_and_three_days_and_then_no_more() {
    for over in [Fact::Expired, Fact::Cancelled] {
        let mut closed = after(&pending(), notice(over.clone()), 1_000);
        for day in [1, 3] {
            assert_eq!(closed.due_at(), Some(START.plus_ms(1_000 + day * DAY)), "{over:?}");
            let looked = closed.decide(Command::Wake, &at(1_000 + day * DAY)).unwrap();
            assert!(
                looked.effects.contains(&Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST))
                    && looked.discrepancies.is_empty()
            );
            closed = looked.next.unwrap();
            let late = after(&closed, found(ChargeAnswer::known(settled("s1", 10_000))), 1_000 + day * DAY);
            assert_eq!((late.status(), late.due_at()), (Status::Paid, None));
            assert_eq!(late.state.status_reason.as_deref(), Some("late_settlement"));
            let told = closed.decide(found(ChargeAnswer::NotFound), &at(1_000 + day * DAY)).unwrap();
            assert_eq!(told.discrepancies, [], "an acquirer may forget what was never paid");
            let told =
                closed.decide(found(ChargeAnswer::known(over.clone())), &at(1_000 + day * DAY)).unwrap();
            assert_eq!(told.discrepancies, []);
            closed = told.next.unwrap_or(closed);
        }
        assert_eq!(closed.due_at(), None, "and then no more");
    }
}

#[test]
fn checks_for_late_money_that_bring_no_answer_are_reported() {
    let mut closed = after(&pending(), notice(Fact::Expired), 1_000);
    for day in [1, 3] {
        closed = after(&closed, Command::Wake, 1_000 + day * DAY);
        closed = after(&closed, found(unknown()), 2_000 + day * DAY);
    }
    let again = closed.decide(Command::Wake, &at(1_000 + 5 * DAY)).unwrap();
    assert_eq!(again.discrepancies[0].kind, DiscrepancyKind::UnknownOutcome);
    let closed = after(&again.next.unwrap(), found(ChargeAnswer::known(Fact::Expired)), 2_000 + 5 * DAY);
    assert_eq!(closed.due_at(), None);
}

#[test]
fn what_comes_due_follows_the_clock_after_it_went_ahead_and_back() {
    // A minute is enough to make a change while the clock is a day ahead.
    let ahead = after(&pending(), notice(settled("s1", 10_000)), DAY);
    let told = Command::DeliveryAnswered { delivery: DeliveryIndex::FIRST, attempt: answered(200, 100) };
    let told = after(&ahead, told, 3_000);
    assert_eq!(told.state.updated_at, START.plus_ms(DAY), "times of record never go back");
    assert_eq!(told.outbox_at(), Some(START.plus_ms(3_000 + LEASE_MS)), "and nothing waits for a day");
    let refunding = after(&told, requested(refund(100), None, 1), 4_000);
    assert_eq!(refunding.due_at(), Some(START.plus_ms(34_000)));
    assert_eq!(refunding.operations[0].requested_at, START.plus_ms(DAY));
    let asked = refunding.decide(Command::Wake, &at(34_000)).unwrap();
    assert!(asked.effects.contains(&Effect::InquireOperation(AcquirerName::new("first"), operation_id(1))));
}

#[test]
fn what_was_scheduled_while_the_clock_was_ahead_is_pulled_in_when_something_touches_the_payment() {
    let opened = open(pix_order()).next.unwrap();
    let asked = after(&opened, charge_answered(unknown()), DAY);
    assert_eq!(asked.due_at(), Some(START.plus_ms(DAY + 1_000)));
    let touched = asked.decide(Command::Wake, &at(5_000)).unwrap();
    assert_eq!(touched.effects, [], "a whole step from now, so that no lease is cut");
    let touched = touched.next.unwrap();
    assert_eq!(touched.due_at(), Some(START.plus_ms(35_000)));
    assert_eq!(
        (touched.state.version, &touched.state.attempts[0].call.progress),
        (asked.state.version, &asked.state.attempts[0].call.progress)
    );
}

#[test]
fn a_clock_that_differs_by_minutes_cuts_no_lease() {
    let opened = open(pix_order()).next.unwrap();
    let early = Context { now: Timestamp::from_millis(START.millis() - 500_000), ..at(0) };
    assert!(opened.decide(Command::Wake, &early).unwrap().next.is_none());
}

#[test]
fn every_kind_of_due_time_is_pulled_in() {
    let waits = Context { now: START.plus_ms(DAY), ..at(9) };
    let answer = ChargeAnswer::known(pending_fact());
    let mut payment =
        open(pix_order()).next.unwrap().decide(charge_answered(answer), &waits).unwrap().next.unwrap();
    assert!(
        payment.due_at().unwrap() > START.plus_ms(DAY - 1)
            && payment.outbox_at().unwrap() > START.plus_ms(DAY)
    );
    payment = after(&payment, Command::Wake, 1_000);
    assert!(payment.due_at().unwrap() <= START.plus_ms(61_000), "the look at a waiting charge");
    assert!(payment.outbox_at().unwrap() <= START.plus_ms(1_000 + LEASE_MS), "the delivery");
    let cancelling =
        payment.decide(requested(RequestedOperation::Cancel, None, 1), &waits).unwrap().next.unwrap();
    let cancelling = after(&cancelling, Command::Wake, 2_000);
    assert_eq!(cancelling.operations[0].call.next_at, Some(START.plus_ms(32_000)), "the operation");
}

#[test]
fn a_charge_that_ended_before_its_code_was_known_is_cancelled_and_may_still_be_paid_late() {
    let opened = open(pix_order()).next.unwrap();
    for answer in [charge_answered, found] {
        let ended = after(&opened, answer(ChargeAnswer::known(Fact::Expired)), 40_000);
        assert_eq!(ended.status(), Status::Cancelled);
        assert_eq!(ended.state.status_reason.as_deref(), Some("expired_at_acquirer"));
        assert_eq!(ended.due_at(), Some(START.plus_ms(40_000 + DAY)), "only late money is looked for");
        assert_eq!(after(&ended, notice(Fact::Expired), 50_000).history.len(), 1);
        let paid = after(&ended, notice(settled("s1", 10_000)), 50_000);
        assert_eq!(paid.state.status_reason.as_deref(), Some("late_settlement"));
    }
    assert_eq!(discrepancy(&opened, notice(Fact::Expired)), DiscrepancyKind::TooEarly);
}

const HOUR: u64 = 3_600_000;

/// The answer to the newest inquiry of a payment.
fn looked(payment: &Payment, answer: ChargeAnswer) -> Command {
    let asked_at = payment.inquired_at;
    Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring: None, answer }
}

/// Woken whenever something is due; every inquiry finds it unpaid. Says when the last one was before it expired.
fn expires_at(unpaid: &Fact) -> u64 {
    let mut payment = pending();
    loop {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        payment = after(&payment, Command::Wake, due_ms);
        payment = after(&payment, looked(&payment, ChargeAnswer::known(unpaid.clone())), due_ms + 1);
        if payment.status() == Status::Expired {
            return due_ms;
        }
        assert_eq!(payment.status(), Status::Pending);
    }
}

#[test]
fn a_pix_expires_only_after_the_acquirer_was_asked_90_seconds_after_its_time() {
    assert_eq!(expires_at(&pending_fact()), HOUR + 90_000);
}

#[test]
fn a_pix_that_was_paid_in_its_last_seconds_is_paid_and_not_late() {
    let asked = after(&pending(), Command::Wake, HOUR + 1_000);
    for unpaid in [pending_fact(), Fact::Expired] {
        let answered = after(&asked, looked(&asked, ChargeAnswer::known(unpaid.clone())), HOUR + 1_100);
        assert_eq!(answered.status(), Status::Pending, "{unpaid:?}");
        assert!(answered.due_at() <= Some(START.plus_ms(HOUR + 90_000)), "it is asked when it may be known");
        assert_eq!(after(&answered, notice(Fact::Expired), HOUR + 2_000).status(), Status::Pending);
        let paid = after(&answered, notice(settled("s1", 10_000)), HOUR + 30_000);
        assert_eq!((paid.status(), paid.state.status_reason.as_deref()), (Status::Paid, None));
    }
}

#[test]
fn a_charge_that_its_acquirer_ends_before_its_time_expires_at_once() {
    assert_eq!(after(&pending(), notice(Fact::Expired), 1_000).status(), Status::Expired);
    assert_eq!(after(&pending(), notice(Fact::Expired), HOUR + 90_000).status(), Status::Expired);
}

#[test]
fn a_pix_of_a_silent_acquirer_is_asked_on_for_days_and_only_an_answer_expires_it() {
    let mut payment = pending();
    let mut asked = 0;
    while payment.due_at().unwrap() < START.plus_ms(3 * DAY) {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        payment = after(&payment, Command::Wake, due_ms);
        payment = after(&payment, looked(&payment, unknown()), due_ms + 5_000);
        asked += 1;
        assert_eq!(payment.status(), Status::Pending, "after {due_ms} ms");
    }
    assert!(asked > 48, "{asked}");
    let asked = after(&payment, Command::Wake, 3 * DAY + HOUR);
    // Its bank still calls it active, with a time to pay that is long over.
    let expired = after(&asked, looked(&asked, ChargeAnswer::known(pending_fact())), 3 * DAY + HOUR + 100);
    assert_eq!(expired.status(), Status::Expired);
}

#[test]
fn an_answer_to_a_question_from_before_the_last_moment_does_not_expire_a_pix() {
    let asked = after(&pending(), Command::Wake, HOUR + 89_000);
    let unpaid = || ChargeAnswer::known(pending_fact());
    let late = after(&asked, looked(&asked, unpaid()), HOUR + 91_000);
    assert_eq!(late.status(), Status::Pending, "money may have come in between");
    let again_ms = late.due_at().unwrap().ms_since(START).max(HOUR + 91_000);
    assert!(again_ms < HOUR + 150_000, "{again_ms}");
    let again = after(&late, Command::Wake, again_ms);
    assert_eq!(after(&again, looked(&again, unpaid()), again_ms + 100).status(), Status::Expired);
}
