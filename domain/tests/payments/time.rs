//! What happens when time goes by: unknown outcomes, late money, clocks that jump.

use crate::*;

const DAY: u64 = 24 * 3_600_000;

fn unknown() -> ChargeAnswer {
    ChargeAnswer::Failed(CallFailure::Unknown("time-out".into()))
}

fn charge_answered(answer: ChargeAnswer) -> Command {
    Command::ChargeAnswered { attempt: 1, answer }
}

/// Found by somebody who had only begun to ask.
fn found(answer: ChargeAnswer) -> Command {
    found_after(0, answer)
}

/// Found by somebody who had been asking for so long.
fn found_after(asking_for_ms: u64, answer: ChargeAnswer) -> Command {
    Command::Found { attempt: 1, asking_for_ms: Some(asking_for_ms), answer }
}

#[test]
fn what_ended_unpaid_is_looked_at_after_one_and_three_days_and_then_no_more() {
    for over in [Fact::Expired, Fact::Cancelled] {
        let mut closed = after(&pending(), Command::Notified(over.clone()), 1_000);
        for day in [1, 3] {
            assert_eq!(closed.due_at(), Some(START.plus_ms(1_000 + day * DAY)), "{over:?}");
            let looked = closed.decide(Command::Wake, &at(1_000 + day * DAY)).unwrap();
            assert!(
                looked.effects.contains(&Effect::Find(AcquirerName::new("first"))) && looked.oddity.is_none()
            );
            closed = looked.next.unwrap();
            let late = after(&closed, found(ChargeAnswer::Known(settled("s1", 10_000))), 1_000 + day * DAY);
            assert_eq!((late.status(), late.due_at()), (Status::Paid, None));
            assert_eq!(late.state.status_reason.as_deref(), Some("late_settlement"));
            let told = closed.decide(found(ChargeAnswer::NotFound), &at(1_000 + day * DAY)).unwrap();
            assert_eq!(told.oddity, None, "an acquirer may forget what was never paid");
            let told =
                closed.decide(found(ChargeAnswer::Known(over.clone())), &at(1_000 + day * DAY)).unwrap();
            assert_eq!(told.oddity, None);
            closed = told.next.unwrap_or(closed);
        }
        assert_eq!(closed.due_at(), None, "and then no more");
    }
}

#[test]
fn looks_for_late_money_that_bring_no_answer_are_told_of() {
    let mut closed = after(&pending(), Command::Notified(Fact::Expired), 1_000);
    for day in [1, 3] {
        closed = after(&closed, Command::Wake, 1_000 + day * DAY);
        closed = after(&closed, found(unknown()), 2_000 + day * DAY);
    }
    let again = closed.decide(Command::Wake, &at(1_000 + 5 * DAY)).unwrap();
    assert_eq!(again.oddity.unwrap().kind, OddityKind::UnknownOutcome);
    let closed = after(&again.next.unwrap(), found(ChargeAnswer::Known(Fact::Expired)), 2_000 + 5 * DAY);
    assert_eq!(closed.due_at(), None);
}

#[test]
fn an_unknown_outcome_is_asked_for_a_second_later_and_never_at_once() {
    let opened = open(pix_order()).next.unwrap();
    let decision = opened.decide(charge_answered(unknown()), &at(500)).unwrap();
    assert_eq!(decision.effects, [], "the acquirer may still be at work");
    let timed_out = decision.next.unwrap();
    assert_eq!(timed_out.due_at(), Some(START.plus_ms(1_500)));
    assert!(timed_out.decide(Command::Wake, &at(1_499)).unwrap().next.is_none());
    let decision = timed_out.decide(Command::Wake, &at(1_500)).unwrap();
    assert_eq!(decision.effects, [Effect::Find(AcquirerName::new("first"))]);
    let due = decision.next.unwrap().due_at();
    assert_eq!(due, Some(START.plus_ms(3_500)), "the next question is stored before this one");
}

/// Wakes a payment whenever it is due, and answers each question so, until one is sent again or this time is over.
fn not_found_until_sent_again(mut payment: Payment, end_ms: u64) -> (Payment, Vec<u64>, Option<u64>) {
    let (mut asked_ms, opened_with) = (Vec::new(), payment.state.attempts.len());
    loop {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        if due_ms > end_ms {
            return (payment, asked_ms, None);
        }
        payment = after(&payment, Command::Wake, due_ms);
        asked_ms.push(due_ms);
        let asking_for_ms = due_ms - asked_ms[0];
        payment = after(&payment, found_after(asking_for_ms, ChargeAnswer::NotFound), due_ms + 10);
        if payment.state.attempts.len() > opened_with {
            return (payment, asked_ms, Some(due_ms + 10));
        }
    }
}

#[test]
fn a_charge_that_is_not_known_is_sent_again_only_after_two_answers_and_twenty_seconds_of_asking() {
    let opened = open(pix_order()).next.unwrap();
    let timed_out = after(&opened, charge_answered(unknown()), 500);
    let (sent_again, asked_ms, sent_ms) = not_found_until_sent_again(timed_out, 60_000);
    assert_eq!(asked_ms, [1_500, 3_500, 8_500, 21_510], "by the schedule, and when it may be believed");
    assert_eq!(sent_ms, Some(21_520));
    let attempts = &sent_again.state.attempts;
    assert_eq!(attempts[1].acquirer, AcquirerName::new("first"), "the same acquirer again");
    assert_eq!((attempts[0].ask_at, attempts[1].not_found), (None, 0));
}

#[test]
fn one_late_answer_that_a_charge_is_not_known_is_not_believed() {
    let opened = open(pix_order()).next.unwrap();
    let timed_out = after(&opened, charge_answered(unknown()), 500);
    let not_found = || found_after(60_000, ChargeAnswer::NotFound);
    let once = timed_out.decide(not_found(), &at(60_000)).unwrap();
    assert_eq!(once.effects, []);
    let twice = once.next.unwrap().decide(not_found(), &at(60_010)).unwrap();
    assert_eq!(twice.effects, [Effect::Charge(AcquirerName::new("first"))]);
}

#[test]
fn a_charge_that_nobody_heard_of_is_asked_for_longer_than_its_call_may_last_by_any_clock() {
    let opened = open(pix_order()).next.unwrap();
    for found_ms in [30_000, 7_200_000] {
        let asked = opened.decide(Command::Wake, &at(found_ms)).unwrap();
        assert_eq!(asked.effects.first(), Some(&Effect::Find(AcquirerName::new("first"))));
        let asked = asked.next.unwrap();
        assert_eq!(asked.state.attempts[0].outcome, AttemptOutcome::Unknown);
        let told = after(&asked, found(ChargeAnswer::NotFound), found_ms + 10);
        let (_, asked_ms, sent_ms) = not_found_until_sent_again(told, found_ms + 200_000);
        assert_eq!(asked_ms, [2_000, 7_000, 22_000, 52_010].map(|ms| found_ms + ms));
        assert_eq!(sent_ms, Some(found_ms + 52_020), "the lease of thirty seconds, and twenty");
    }
}

#[test]
fn what_wall_clocks_say_hurries_no_second_charge() {
    let mut payment = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    for hour in 1..5 {
        payment = after(&payment, found_after(19_999, ChargeAnswer::NotFound), hour * 3_600_000);
    }
    assert_eq!(payment.state.attempts.len(), 1, "hours by the clock, and not twenty seconds of asking");
}

#[test]
fn the_answer_to_a_question_from_before_the_outcome_was_told_tells_nothing() {
    let opened = open(pix_order()).next.unwrap();
    let known = [Fact::Declined { code: "lost_card".into() }, settled("s1", 10_000), pending_fact()];
    for fact in known {
        let told = after(&opened, charge_answered(ChargeAnswer::Known(fact)), 500);
        let stale = told.decide(found(ChargeAnswer::NotFound), &at(600)).unwrap();
        assert!(stale.oddity.is_none() && stale.next.is_none());
    }
    let look = Command::Found { attempt: 1, asking_for_ms: None, answer: ChargeAnswer::NotFound };
    assert_eq!(oddity(&pending(), look), OddityKind::Contradiction);
}

#[test]
fn another_amount_that_came_in_before_anything_was_told_ends_the_payment_and_is_told_to_an_operator() {
    let opened = open(pix_order()).next.unwrap();
    let other = || settled("s1", 9_999);
    assert_eq!(oddity(&opened, Command::Notified(other())), OddityKind::AmountMismatch);
    assert!(opened.decide(Command::Notified(other()), &at(5)).unwrap().next.is_none(), "the answer follows");
    for answer in [charge_answered, found] {
        let decision = opened.decide(answer(ChargeAnswer::Known(other())), &at(40_000)).unwrap();
        assert_eq!(decision.oddity.unwrap().kind, OddityKind::AmountMismatch);
        let ended = decision.next.unwrap();
        assert_eq!(ended.status(), Status::Cancelled);
        assert_eq!(ended.state.status_reason.as_deref(), Some("amount_mismatch"));
        assert_eq!(
            ended.due_at(),
            Some(START.plus_ms(40_000 + DAY)),
            "nobody asks any more but for late money"
        );
    }
}

#[test]
fn a_call_that_fails_after_its_lease_was_over_makes_earlier_answers_worthless() {
    let opened = open(pix_order()).next.unwrap();
    let mut payment = after(&opened, Command::Wake, 30_000);
    payment = after(&payment, found(ChargeAnswer::NotFound), 30_010);
    payment = after(&payment, charge_answered(unknown()), 39_000);
    assert!(payment.state.attempts[0].call_is_over);
    payment = after(&payment, found_after(20_000, ChargeAnswer::NotFound), 49_000);
    assert_eq!(payment.state.attempts.len(), 1, "the call was under way until a moment ago");
    payment = after(&payment, found_after(20_000, ChargeAnswer::NotFound), 49_010);
    assert_eq!(payment.state.attempts.len(), 2);
}

#[test]
fn an_open_attempt_of_an_older_version_is_asked_for_as_any_other() {
    let timed_out = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    let mut stored = serde_json::to_value(&timed_out).unwrap();
    let attempt = stored["state"]["attempts"][0].as_object_mut().unwrap();
    assert!(attempt.remove("callIsOver").is_some() && attempt.get("notFound").is_none());
    let older: Payment = serde_json::from_value(stored).unwrap();
    let (_, _, sent_ms) = not_found_until_sent_again(older, 200_000);
    assert_eq!(sent_ms, Some(51_520));
}

#[test]
fn every_operation_that_stays_unknown_is_told_of_in_its_turn() {
    let mut payment =
        after(&after(&paid(), wish(refund(1), None, 1), 3_000), wish(refund(2), None, 2), 3_000);
    let mut told = Vec::new();
    while payment.due_at().unwrap() < START.plus_ms(2 * DAY) && told.len() < 4 {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        told.extend(woken.oddity.map(|oddity| (due_ms, oddity.kind, oddity.about.unwrap())));
        payment = woken.next.unwrap();
        for number in 1..=2 {
            let answer = OperationAnswer::Failed(CallFailure::Unknown("502".into()));
            payment = after(
                &payment,
                Command::OperationAnswered { operation: Uuid::from_u128(number), answer },
                due_ms,
            );
        }
    }
    assert!(told[0].0 < 10 * 60_000, "within ten minutes: {told:?}");
    assert!(told.iter().all(|(_, kind, _)| *kind == OddityKind::UnknownOutcome));
    for number in 1..=2 {
        assert!(
            told[..2].iter().any(|(_, _, about)| *about == Uuid::from_u128(number).to_string()),
            "{told:?}"
        );
    }
}

#[test]
fn a_charge_whose_time_is_over_and_that_brings_no_answer_is_told_of_within_hours() {
    let mut payment = pending();
    let told_ms = loop {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        if let Some(oddity) = woken.oddity {
            assert_eq!(oddity.kind, OddityKind::UnknownOutcome);
            break due_ms;
        }
        payment = after(&woken.next.unwrap(), found(unknown()), due_ms + 100);
    };
    let hour = 3_600_000;
    assert!((3 * hour..5 * hour).contains(&told_ms), "{told_ms}: two hours after its expiry at one");
    // The service itself was away for days: the acquirer is asked first.
    let late = pending().decide(Command::Wake, &at(3 * DAY)).unwrap();
    assert!(late.oddity.is_none());
}

#[test]
fn what_comes_due_follows_the_clock_after_it_went_ahead_and_back() {
    // A minute is enough to make a change while the clock is a day ahead.
    let ahead = after(&pending(), Command::Notified(settled("s1", 10_000)), DAY);
    let told = Command::DeliveryAnswered { delivery: 0, attempt: answered(200, 100) };
    let told = after(&ahead, told, 3_000);
    assert_eq!(told.state.updated_at, START.plus_ms(DAY), "times of record never go back");
    assert_eq!(told.outbox_at(), Some(START.plus_ms(3_000 + LEASE_MS)), "and nothing waits for a day");
    let refunding = after(&told, wish(refund(100), None, 1), 4_000);
    assert_eq!(refunding.due_at(), Some(START.plus_ms(34_000)));
    assert_eq!(refunding.operations[0].requested_at, START.plus_ms(DAY));
    let sent_again = refunding.decide(Command::Wake, &at(34_000)).unwrap();
    assert!(sent_again.effects.contains(&Effect::Operate(AcquirerName::new("first"), Uuid::from_u128(1))));
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
        (touched.state.version, &touched.state.attempts[0].outcome),
        (asked.state.version, &asked.state.attempts[0].outcome)
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
    let answer = ChargeAnswer::Known(pending_fact());
    let mut payment =
        open(pix_order()).next.unwrap().decide(charge_answered(answer), &waits).unwrap().next.unwrap();
    assert!(
        payment.due_at().unwrap() > START.plus_ms(DAY - 1)
            && payment.outbox_at().unwrap() > START.plus_ms(DAY)
    );
    payment = after(&payment, Command::Wake, 1_000);
    assert!(payment.due_at().unwrap() <= START.plus_ms(61_000), "the look at a waiting charge");
    assert!(payment.outbox_at().unwrap() <= START.plus_ms(1_000 + LEASE_MS), "the delivery");
    let cancelling = payment.decide(wish(Wish::Cancel, None, 1), &waits).unwrap().next.unwrap();
    let cancelling = after(&cancelling, Command::Wake, 2_000);
    assert_eq!(cancelling.operations[0].send_at, Some(START.plus_ms(32_000)), "the operation");
}

#[test]
fn a_charge_that_ended_before_its_code_was_told_is_cancelled_and_may_still_be_paid_late() {
    let opened = open(pix_order()).next.unwrap();
    for answer in [charge_answered, found] {
        let ended = after(&opened, answer(ChargeAnswer::Known(Fact::Expired)), 40_000);
        assert_eq!(ended.status(), Status::Cancelled);
        assert_eq!(ended.state.status_reason.as_deref(), Some("expired_at_acquirer"));
        assert_eq!(ended.due_at(), Some(START.plus_ms(40_000 + DAY)), "only late money is looked for");
        assert_eq!(after(&ended, Command::Notified(Fact::Expired), 50_000).history.len(), 1);
        let paid = after(&ended, Command::Notified(settled("s1", 10_000)), 50_000);
        assert_eq!(paid.state.status_reason.as_deref(), Some("late_settlement"));
    }
    assert_eq!(oddity(&opened, Command::Notified(Fact::Expired)), OddityKind::TooEarly);
}
