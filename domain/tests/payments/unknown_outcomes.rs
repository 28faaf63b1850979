//! Charges of which nobody knows what became: how they are asked for, and when an answer is believed.

use crate::payments::time::DAY;
use crate::*;

pub(crate) fn unknown() -> ChargeAnswer {
    ChargeAnswer::Failed(CallFailure::Unknown("time-out".into()))
}

pub(crate) fn charge_answered(answer: ChargeAnswer) -> Command {
    Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }
}

/// Found by somebody who had only begun to ask.
pub(crate) fn found(answer: ChargeAnswer) -> Command {
    found_after(0, answer)
}

/// Found by a process that had been asking for this long.
pub(crate) fn found_after(for_ms: u64, answer: ChargeAnswer) -> Command {
    Command::Inquired { attempt: AttemptNumber::FIRST, asked_at: None, inquiring: asking_for(for_ms), answer }
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
    assert_eq!(decision.effects, [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)]);
    let due = decision.next.unwrap().due_at();
    assert_eq!(due, Some(START.plus_ms(3_500)), "the next question is stored before this one");
}

/// Wakes a payment whenever it is due, and answers each question so, until one is sent again or this time is over.
fn not_found_until_sent_again(mut payment: Payment, end_ms: u64) -> (Payment, Vec<u64>, Option<u64>) {
    let mut asked_ms = Vec::new();
    let opened_with = payment.state.attempts.len();
    loop {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        if due_ms > end_ms {
            return (payment, asked_ms, None);
        }
        payment = after(&payment, Command::Wake, due_ms);
        asked_ms.push(due_ms);
        let for_ms = due_ms - asked_ms[0];
        payment = after(&payment, found_after(for_ms, ChargeAnswer::NotFound), due_ms + 10);
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
    assert_eq!((attempts[0].call.next_at, attempts[1].call.not_found), (None, 0));
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
        assert_eq!(
            asked.effects.first(),
            Some(&Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST))
        );
        let asked = asked.next.unwrap();
        assert_eq!(asked.state.attempts[0].call.progress, Progress::Unknown);
        let told = after(&asked, found(ChargeAnswer::NotFound), found_ms + 10);
        let (_, asked_ms, sent_ms) = not_found_until_sent_again(told, found_ms + 200_000);
        assert_eq!(asked_ms, [2_000, 7_000, 22_000, 52_010].map(|ms| found_ms + ms));
        assert_eq!(sent_ms, Some(found_ms + 52_020), "the lease of thirty seconds, and twenty");
    }
}

/// An acquirer that is slow: the call ended between the inquiry and its answer, and may arrive there for a while yet.
#[test]
fn an_inquiry_from_before_the_call_was_known_to_be_over_is_not_believed_as_if_it_came_after() {
    let opened = open(pix_order()).next.unwrap();
    let asked = after(&opened, Command::Wake, 30_000);
    let timed_out = after(&asked, charge_answered(unknown()), 49_000);
    let not_found = |for_ms, call_is_over| Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: None,
        inquiring: Some(Inquiring { call_is_over, for_ms }),
        answer: ChargeAnswer::NotFound,
    };
    let once = after(&timed_out, not_found(1_000, false), 49_010);
    for (asked, sent_again) in [
        (not_found(49_999, false), false),
        (not_found(50_000, false), true),
        (not_found(19_999, true), false),
        (not_found(20_000, true), true),
    ] {
        let twice = after(&once, asked.clone(), 49_020);
        assert_eq!(twice.state.attempts.len() > 1, sent_again, "{asked:?}");
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
fn the_answer_to_a_question_from_before_the_outcome_was_reported_says_nothing() {
    let opened = open(pix_order()).next.unwrap();
    let known = [Fact::Declined(Decline::of("lost_card")), settled("s1", 10_000), pending_fact()];
    for fact in known {
        let told = after(&opened, charge_answered(ChargeAnswer::known(fact)), 500);
        let stale = told.decide(found(ChargeAnswer::NotFound), &at(600)).unwrap();
        assert!(stale.discrepancies.is_empty() && stale.next.is_none());
    }
    let look = Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: None,
        inquiring: None,
        answer: ChargeAnswer::NotFound,
    };
    assert_eq!(discrepancy(&pending(), look), DiscrepancyKind::Contradiction);
}

#[test]
fn another_amount_that_came_in_before_any_report_ends_the_payment_and_is_reported_to_an_operator() {
    let opened = open(pix_order()).next.unwrap();
    let other = || settled("s1", 9_999);
    assert_eq!(discrepancy(&opened, notice(other())), DiscrepancyKind::AmountMismatch);
    assert!(opened.decide(notice(other()), &at(5)).unwrap().next.is_none(), "the answer follows");
    for answer in [charge_answered, found] {
        let decision = opened.decide(answer(ChargeAnswer::known(other())), &at(40_000)).unwrap();
        assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::AmountMismatch);
        let ended = reported(decision.next.unwrap(), 40_000);
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
    assert!(payment.state.attempts[0].call.is_over);
    payment = after(&payment, found_after(20_000, ChargeAnswer::NotFound), 49_000);
    assert_eq!(payment.state.attempts.len(), 1, "the call was under way until a moment ago");
    payment = after(&payment, found_after(20_000, ChargeAnswer::NotFound), 49_010);
    assert_eq!(payment.state.attempts.len(), 2);
}

#[test]
fn a_charge_whose_time_is_over_and_that_brings_no_answer_is_reported_within_hours() {
    let mut payment = pending();
    let told_ms = loop {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        if let Some(discrepancy) = woken.discrepancies.first() {
            assert_eq!(discrepancy.kind, DiscrepancyKind::UnknownOutcome);
            break due_ms;
        }
        payment = after(&woken.next.unwrap(), found(unknown()), due_ms + 100);
    };
    let hour = 3_600_000;
    assert!((3 * hour..5 * hour).contains(&told_ms), "{told_ms}: two hours after its expiry at one");
    // The service itself was away for days: the acquirer is asked first.
    let late = pending().decide(Command::Wake, &at(3 * DAY)).unwrap();
    assert!(late.discrepancies.is_empty());
}

#[test]
fn an_acquirer_that_never_has_time_to_say_what_became_of_a_charge_is_reported_after_minutes() {
    let throttled = || ChargeAnswer::Failed(CallFailure::Throttled { after_ms: 60_000 });
    let unclear = after(&open(pix_order()).next.unwrap(), charge_answered(throttled()), 500);
    let asked = after(&unclear, Command::Wake, 61_000);
    for (for_ms, reported) in [(0, 0), (359_999, 0), (360_000, 1)] {
        let decision = asked.decide(found_after(for_ms, throttled()), &at(500_000)).unwrap();
        let kinds: Vec<_> = decision.discrepancies.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, vec![DiscrepancyKind::UnknownOutcome; reported]);
        assert!(decision.next.unwrap().due_at().is_some(), "it is asked on");
    }
}
