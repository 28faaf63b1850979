//! Hints: something changed, and the acquirer has to be asked what. And notices that bind only their own charge.

use quita_domain::time::DAY_MS;

use crate::payments::unknown_outcomes::{charge_answered, found, unknown};
use crate::*;

fn hint() -> Command {
    Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() }
}

fn asks() -> Effect {
    Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)
}

/// Answered to the last inquiry.
fn answered(payment: &Payment, answer: ChargeAnswer) -> Command {
    Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: payment.inquired_at,
        inquiring: None,
        answer,
    }
}

fn checked(payment: &Payment, facts: Vec<Fact>) -> Command {
    answered(payment, ChargeAnswer::Known(Statement { facts, reference: Reference::none() }))
}

#[test]
fn a_hint_brings_the_check_of_a_waiting_charge_forward_and_its_schedule_goes_on() {
    let pending = pending();
    let hinted = after(&pending, hint(), 5_000);
    assert_eq!(hinted.due_at(), Some(START.plus_ms(5_000)));
    assert!(hinted.decide(hint(), &at(5_001)).unwrap().next.is_none(), "a second one changes nothing");
    let woken = hinted.decide(Command::Wake, &at(5_001)).unwrap();
    assert_eq!(woken.effects, [asks()]);
    let asked = woken.next.unwrap();
    let nothing_new = after(&asked, checked(&asked, vec![pending_fact()]), 5_100);
    assert_eq!(nothing_new.check, pending.check, "as if nothing had been asked");
    assert_eq!(after(&asked, checked(&asked, vec![settled("s1", 10_000)]), 5_100).status(), Status::Paid);
}

#[test]
fn many_hints_cause_one_inquiry_in_two_seconds() {
    let mut payment = after(&pending(), hint(), 5_000);
    let mut asked = Vec::new();
    for ms in (5_000..9_000).step_by(100) {
        payment = after(&payment, hint(), ms);
        let woken = payment.decide(Command::Wake, &at(ms)).unwrap();
        asked.extend(woken.effects.contains(&asks()).then_some(ms));
        payment = woken.next.unwrap_or(payment);
    }
    assert_eq!(asked, [5_000, 7_000]);
}

#[test]
fn a_hint_about_a_paid_payment_finds_what_no_notice_told() {
    let hinted = after(&paid(), hint(), 5_000);
    let asked = hinted.decide(Command::Wake, &at(5_000)).unwrap();
    assert_eq!(asked.effects, [asks()]);
    let asked = asked.next.unwrap();
    assert!(asked.due_at().is_some(), "asked again until it is answered");
    let same = after(&asked, checked(&asked, vec![settled("s1", 10_000)]), 5_100);
    assert_eq!((same.status(), same.due_at()), (Status::Paid, None));
    assert_eq!(same.state.version, paid().state.version, "nothing that a merchant sees");
    let desk = Fact::Refunded { refund_id: "desk".into(), amount: Some(Money::from_cents(500)) };
    let facts = vec![settled("s1", 10_000), desk, charged_back("c1")];
    let found = after(&asked, checked(&asked, facts.clone()), 5_100);
    assert_eq!((found.status(), found.due_at()), (Status::Chargeback, None));
    assert_eq!(found.state.refunded_amount().cents(), 500);
    let again = after(&after(&found, hint(), 9_000), Command::Wake, 9_000);
    assert_eq!(
        after(&again, checked(&again, facts), 9_100).history,
        found.history,
        "what repeats changes nothing"
    );
}

#[test]
fn what_a_hint_asked_for_is_asked_again_until_it_is_answered_although_the_status_changes() {
    let mut payment = after(&pending(), hint(), 5_000);
    let planned_ms = 60_000;
    for due_ms in [5_000, 7_000, 9_000, 14_000, 29_000] {
        assert_eq!(payment.due_at(), Some(START.plus_ms(due_ms)));
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        assert_eq!((woken.effects.first(), woken.discrepancies.len()), (Some(&asks()), 0));
        let asked = woken.next.unwrap();
        payment = after(&asked, answered(&asked, unknown()), due_ms + 10);
    }
    let waiting = after(&payment, checked(&payment, vec![pending_fact()]), 29_500);
    assert!(waiting.due_at() > Some(START.plus_ms(planned_ms)), "the schedule goes on");
    let paid = after(&payment, notice(settled("s1", 10_000)), 29_500);
    assert_eq!(paid.due_at(), payment.due_at(), "the hint may have been about something else");
    let woken = paid.decide(Command::Wake, &at(90_000)).unwrap();
    assert_eq!(
        woken.discrepancies[0].kind,
        DiscrepancyKind::UnknownOutcome,
        "after six minutes at the latest"
    );
    let asked = reported(woken.next.unwrap(), 90_000);
    let stale = after(&asked, checked(&payment, vec![settled("s1", 10_000)]), 90_050);
    assert_eq!(stale.due_at(), asked.due_at(), "an answer to an older inquiry");
    let answered = after(&asked, checked(&asked, vec![settled("s1", 10_000)]), 90_100);
    assert_eq!((answered.status(), answered.due_at()), (Status::Paid, None));
}

#[test]
fn a_hint_without_an_answer_is_asked_about_less_and_less_and_given_up_after_three_months() {
    let mut payment = after(&paid(), hint(), 5_000);
    let mut asked_at = Vec::new();
    let mut reported = Vec::new();
    while payment.check.is_some() {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        reported.extend(woken.discrepancies.iter().map(|found| (asked_at.len(), found.kind)));
        let is_asked = woken.effects.contains(&asks());
        payment = self::reported(woken.next.unwrap(), due_ms);
        if is_asked {
            asked_at.push(due_ms);
            payment = after(&payment, answered(&payment, unknown()), due_ms + 10);
        }
    }
    let within = |days: u64| asked_at.iter().filter(|at| **at < days * DAY_MS).count();
    assert_eq!((within(1), within(8), asked_at.len()), (31, 59, 141));
    assert!(asked_at.windows(2).all(|pair| pair[1] - pair[0] <= DAY_MS), "{asked_at:?}");
    assert_eq!(asked_at.last().unwrap() / DAY_MS, 89);
    assert_eq!(reported.first(), Some(&(5, DiscrepancyKind::UnknownOutcome)));
    assert_eq!(
        reported.last(),
        Some(&(141, DiscrepancyKind::UnknownOutcome)),
        "it is a person's from now on"
    );
    assert_eq!((payment.due_at(), payment.status()), (None, Status::Paid));
}

#[test]
fn a_hint_that_comes_sooner_than_its_news_can_be_read_is_asked_about_again() {
    let mut payment = after(&paid(), hint(), 5_000);
    let mut reported = Vec::new();
    while payment.check.is_some() {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        payment = after(&payment, Command::Wake, due_ms);
        let answer = answered(&payment, ChargeAnswer::NotFound);
        let decision = payment.decide(answer, &at(due_ms + 10)).unwrap();
        reported.extend(decision.discrepancies.iter().map(|found| (found.kind, due_ms)));
        payment = decision.next.unwrap_or(payment);
    }
    assert_eq!(reported, [(DiscrepancyKind::Contradiction, 29_000)]);
}

#[test]
fn a_hint_about_a_charge_that_had_no_effect_finds_nothing_to_report() {
    let refused = |number| {
        let answer = ChargeAnswer::Refused("no contract".into());
        Command::ChargeAnswered { attempt: AttemptNumber::new(number), answer }
    };
    let declined = after(&after(&open(pix_order()).next.unwrap(), refused(1), 5), refused(2), 10);
    assert_eq!(declined.status(), Status::Declined);
    let hint = Command::Hinted { acquirer: AcquirerName::new("second"), charge: Reference::none() };
    let asked = after(&after(&declined, hint, 5_000), Command::Wake, 5_000);
    let asked_at = asked.inquired_at;
    let answer = Command::Inquired {
        attempt: AttemptNumber::new(2),
        asked_at,
        inquiring: None,
        answer: ChargeAnswer::NotFound,
    };
    let answered = asked.decide(answer, &at(5_100)).unwrap();
    assert_eq!((answered.discrepancies.len(), answered.next.unwrap().check), (0, None));
}

#[test]
fn a_hint_while_the_charge_is_under_way_is_remembered_until_it_is_answered() {
    let opened = open(pix_order()).next.unwrap();
    let hinted = opened.decide(hint(), &at(50)).unwrap();
    assert_eq!(hinted.effects, [], "its answer comes");
    let hinted = hinted.next.unwrap();
    assert_eq!(hinted.due_at(), opened.due_at());
    let answered = after(&hinted, charge_answered(ChargeAnswer::known(pending_fact())), 100);
    assert_eq!(answered.due_at(), Some(START.plus_ms(100)), "what was hinted may be newer than the answer");
    let asked = answered.decide(Command::Wake, &at(100)).unwrap();
    assert_eq!(asked.effects.first(), Some(&asks()));
    assert!(!asked.next.unwrap().hinted);
}

#[test]
fn what_was_hinted_before_a_question_that_failed_is_asked_though_the_charge_is_answered_by_itself() {
    let opened = open(pix_order()).next.unwrap();
    let hinted = after(&opened, hint(), 1_000);
    let asked = after(&hinted, Command::Wake, 40_000);
    assert!(!asked.hinted, "it is asked");
    let failed = answered(&asked, ChargeAnswer::Failed(CallFailure::Withheld));
    let paid = ChargeAnswer::known(settled("s1", 10_000));
    let withheld = after(&asked, failed.clone(), 40_010);
    let first = after(&withheld, charge_answered(paid.clone()), 40_020);
    let last = after(&after(&asked, charge_answered(paid), 40_005), failed, 40_010);
    for payment in [first, last] {
        assert_eq!(payment.status(), Status::Paid);
        assert!(payment.check.is_some(), "the hint may be about a chargeback");
    }
}

#[test]
fn what_was_hinted_before_a_question_that_is_lost_is_asked_though_the_charge_is_answered_by_itself() {
    let hinted = after(&open(pix_order()).next.unwrap(), hint(), 1_000);
    let asked = after(&hinted, Command::Wake, 40_000);
    let paid = after(&asked, charge_answered(ChargeAnswer::known(settled("s1", 10_000))), 40_005);
    assert_eq!((paid.status(), paid.due_at()), (Status::Paid, Some(START.plus_ms(40_005))));
    let again = after(&paid, Command::Wake, 40_005);
    let learnt = after(&again, checked(&again, vec![settled("s1", 10_000)]), 40_010);
    assert_eq!((learnt.check, learnt.hinted), (None, false), "once it was answered nothing is left to ask");
}

#[test]
fn a_hint_about_an_unknown_outcome_brings_its_inquiry_forward() {
    let mut payment = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    for ms in [1_500, 3_500, 8_500] {
        payment = after(&after(&payment, Command::Wake, ms), found(unknown()), ms + 10);
    }
    assert_eq!(payment.due_at(), Some(START.plus_ms(23_500)));
    assert_eq!(
        after(&payment, hint(), 9_000).due_at(),
        Some(START.plus_ms(10_500)),
        "two seconds after the last"
    );
}

#[test]
fn a_hint_that_comes_while_an_answer_is_learnt_is_not_lost() {
    let asked = after(&after(&pending(), hint(), 5_000), Command::Wake, 5_000);
    let hinted_again = after(&asked, hint(), 5_500);
    let paid = after(&hinted_again, checked(&hinted_again, vec![settled("s1", 10_000)]), 5_600);
    assert_eq!((paid.status(), paid.due_at()), (Status::Paid, Some(START.plus_ms(7_000))));
}

/// A payment that the first acquirer certainly did not take, and that the second one has.
fn at_the_second() -> Payment {
    let down = ChargeAnswer::Failed(CallFailure::NotDelivered("down".into()));
    let moved = after(&open(pix_order()).next.unwrap(), charge_answered(down), 5);
    let answer = ChargeAnswer::known(pending_fact());
    after(&moved, Command::ChargeAnswered { attempt: AttemptNumber::new(2), answer }, 20)
}

#[test]
fn a_notice_of_an_earlier_charge_does_not_end_the_present_one() {
    let payment = at_the_second();
    for over in [Fact::Expired, Fact::Cancelled, Fact::Declined(Decline::of("x"))] {
        let decision = payment.decide(notice(over.clone()), &at(1_000)).unwrap();
        assert!(decision.next.is_none() && decision.discrepancies.is_empty(), "{over:?}");
        assert_ne!(after(&payment, notice_of("second", over), 1_000), payment, "its own acquirer may");
    }
    for money in [settled("s1", 10_000), charged_back("c1")] {
        assert_eq!(discrepancy(&payment, notice(money)), DiscrepancyKind::Contradiction);
    }
}

#[test]
fn a_hint_about_an_earlier_charge_has_that_acquirer_asked_about_that_charge() {
    let hinted = at_the_second().decide(hint(), &at(1_000)).unwrap();
    assert_eq!(hinted.effects, [asks()]);
    let asked = hinted.next.unwrap();
    assert!(asked.decide(hint(), &at(1_500)).unwrap().effects.is_empty(), "once in two seconds");
    let found = asked.decide(checked(&asked, vec![settled("s1", 10_000)]), &at(1_600)).unwrap();
    assert_eq!(found.discrepancies[0].kind, DiscrepancyKind::SecondCharge, "it is given back");
}

#[test]
fn what_the_acquirer_calls_a_charge_goes_into_every_later_question() {
    let reference = Reference::none().with("paymentId", "p1");
    let statement = Statement { facts: vec![pending_fact()], reference };
    let opened = open(pix_order()).next.unwrap();
    let pending = after(&opened, charge_answered(ChargeAnswer::Known(statement)), 10);
    assert_eq!(pending.query().reference.get("paymentId"), Some("p1"));
    let later = Statement {
        facts: vec![settled("s1", 10_000)],
        reference: Reference::none().with("endToEndId", "E1").with("", "x").with("long", &"x".repeat(300)),
    };
    let paid = after(&pending, found(ChargeAnswer::Known(later)), 2_000);
    let expected = Reference::none().with("paymentId", "p1").with("endToEndId", "E1");
    assert_eq!(paid.query().reference, expected);
}

#[test]
fn a_charge_that_is_taken_and_registered_later_waits_for_its_code() {
    let opened = open(pix_order()).next.unwrap();
    let taken =
        after(&opened, charge_answered(ChargeAnswer::Accepted(Reference::none().with("id", "7"))), 10);
    assert_eq!((taken.status(), taken.due_at()), (Status::Initial, Some(START.plus_ms(10_010))));
    let asked = after(&taken, Command::Wake, 10_010);
    let not_found = || Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: None,
        inquiring: asking_for(60_000),
        answer: ChargeAnswer::NotFound,
    };
    let late = asked.decide(not_found(), &at(70_000)).unwrap();
    assert_eq!(late.discrepancies.len(), 0, "perhaps the answer to a question from before");
    let missing = late.next.unwrap().decide(not_found(), &at(75_000)).unwrap();
    assert_eq!(calls(&missing), [], "what was accepted is never sent again");
    assert_eq!(missing.discrepancies[0].kind, DiscrepancyKind::Contradiction);
    assert_eq!(after(&asked, found(ChargeAnswer::known(pending_fact())), 11_000).status(), Status::Pending);
}

#[test]
fn a_charge_that_was_taken_is_not_sent_elsewhere_because_its_call_fails_afterwards() {
    let opened = open(pix_order()).next.unwrap();
    let unheard = after(&opened, Command::Wake, 31_000);
    let taken = after(&unheard, found(ChargeAnswer::Accepted(Reference::none())), 31_100);
    assert_eq!(taken.state.attempts[0].call.progress, Progress::Taken);
    let failures = [
        CallFailure::NotDelivered("down".into()),
        CallFailure::Unknown("time-out".into()),
        CallFailure::Throttled { after_ms: 1_000 },
        CallFailure::Withheld,
    ];
    for answer in failures.map(ChargeAnswer::Failed).into_iter().chain([ChargeAnswer::NotFound]) {
        let decision = taken.decide(charge_answered(answer.clone()), &at(31_200)).unwrap();
        assert!(decision.next.is_none() && decision.effects.is_empty(), "{answer:?}");
    }
}

#[test]
fn an_acquirer_that_refuses_a_charge_makes_room_for_the_next_and_else_declines_it() {
    let refused = |number| {
        let answer = ChargeAnswer::Refused("no contract".into());
        Command::ChargeAnswered { attempt: AttemptNumber::new(number), answer }
    };
    let moved = open(pix_order()).next.unwrap().decide(refused(1), &at(5)).unwrap();
    assert_eq!(moved.effects, [Effect::Charge(AcquirerName::new("second"))]);
    let over = after(&moved.next.unwrap(), refused(2), 10);
    assert_eq!(over.state.status_reason.as_deref(), Some("acquirer_refused"));
    assert_eq!(over.status(), Status::Declined);
}

#[test]
fn a_refusal_of_a_charge_that_may_have_been_taken_before_is_asked_about() {
    let mut payment = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    for ms in [1_500, 30_000] {
        let inquiring = asking_for(ms);
        let answer = ChargeAnswer::NotFound;
        payment = after(
            &payment,
            Command::Inquired { attempt: AttemptNumber::FIRST, asked_at: None, inquiring, answer },
            ms,
        );
    }
    let answer = ChargeAnswer::Refused("duplicate".into());
    let refused = after(&payment, Command::ChargeAnswered { attempt: AttemptNumber::new(2), answer }, 31_000);
    assert_eq!(
        (refused.status(), refused.state.attempts[1].call.progress),
        (Status::Initial, Progress::Unknown)
    );
    let answer = ChargeAnswer::known(pending_fact());
    let found = after(
        &refused,
        Command::Inquired {
            attempt: AttemptNumber::new(2),
            asked_at: None,
            inquiring: asking_for(0),
            answer,
        },
        32_000,
    );
    assert_eq!(found.status(), Status::Pending, "the first one had arrived after all");
}

#[test]
fn a_hint_that_came_while_the_clock_was_far_ahead_is_asked_about_soon() {
    let ahead_ms = 12 * 3_600_000;
    let cancelled = after(&pending(), notice(Fact::Cancelled), 5_000);
    let hinted = after(&after(&cancelled, hint(), ahead_ms), hint(), ahead_ms + 1);
    for payment in [hinted.clone(), after(&hinted, notice(settled("s1", 10_000)), 5_100)] {
        let woken = after(&payment, Command::Wake, 5_200);
        assert!(woken.due_at() <= Some(START.plus_ms(10_000)), "{}: {:?}", payment.status(), woken.due_at());
    }
}

#[test]
fn a_hint_that_comes_when_a_check_is_due_outlives_a_notice_that_comes_before_the_check() {
    let hinted = after(&pending(), hint(), 90_000);
    let paid = after(&hinted, notice(settled("s1", 10_000)), 90_010);
    let woken = paid.decide(Command::Wake, &at(90_020)).unwrap();
    assert!(woken.effects.contains(&asks()), "it may have been about something else");
    let asked = woken.next.unwrap();
    assert_eq!(after(&asked, checked(&asked, vec![settled("s1", 10_000)]), 90_100).due_at(), None);
}

#[test]
fn what_is_not_understood_changes_nothing_and_an_operator_sees_its_text_once() {
    let pending = pending();
    let unclear = Fact::Unclear { id: "case 7, Reversed".into(), text: "chargeback 7 is Reversed".into() };
    let decision = pending.decide(checked(&pending, vec![unclear.clone(), unclear]), &at(5_000)).unwrap();
    assert_eq!(decision.next.map_or(Status::Pending, |next| next.status()), Status::Pending);
    let seen: Vec<_> = decision.discrepancies.iter().map(|seen| (seen.kind, seen.about.as_deref())).collect();
    assert!(
        seen.iter().all(|one| *one == (DiscrepancyKind::Contradiction, Some("case 7, Reversed"))),
        "{seen:?}"
    );
    assert!(decision.discrepancies[0].detail.starts_with("chargeback 7 is Reversed"));
}

#[test]
fn an_acquirer_that_wants_a_longer_gap_is_asked_no_sooner() {
    let slow = |ms| Context { hint_gap_ms: 5_000, ..at(ms) };
    let mut payment = pending();
    let mut asked = Vec::new();
    for ms in (5_000..21_000).step_by(100) {
        payment = payment.decide(hint(), &slow(ms)).unwrap().next.unwrap_or(payment);
        let woken = payment.decide(Command::Wake, &slow(ms)).unwrap();
        asked.extend(woken.effects.contains(&asks()).then_some(ms));
        payment = woken.next.unwrap_or(payment);
    }
    assert_eq!(asked, [5_000, 10_000, 15_000, 20_000]);
    let unclear = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    let asked = after(&unclear, Command::Wake, 1_500);
    let hinted = asked.decide(hint(), &slow(1_600)).unwrap().next.unwrap();
    assert_eq!(hinted.due_at(), Some(START.plus_ms(3_500)), "the schedule's own step is sooner");
}

#[test]
fn a_hint_needs_no_write_where_nothing_else_is_asked_and_the_gap_is_over() {
    let first = AcquirerName::new("first");
    let may = |payment: &Payment, context: &Context| payment.may_be_inquired_about(&first, context);
    assert!(may(&pending(), &at(5_000)) && may(&paid(), &at(5_000)));
    assert!(!pending().may_be_inquired_about(&AcquirerName::new("second"), &at(5_000)), "another's charge");
    let hinted = after(&pending(), hint(), 5_000);
    assert!(!may(&hinted, &at(5_000)), "an inquiry is to be made already");
    let asked = after(&hinted, Command::Wake, 5_000);
    assert!(!may(&asked, &at(9_000)), "one is under way");
    let answered = after(&asked, checked(&asked, vec![pending_fact()]), 5_100);
    assert!(!may(&answered, &at(6_999)) && may(&answered, &at(7_000)), "two seconds after the last one");
    for outcome in [unknown(), ChargeAnswer::Accepted(Reference::none())] {
        let open = after(&open(pix_order()).next.unwrap(), charge_answered(outcome), 10);
        assert!(!may(&open, &at(5_000)), "what the inquiry is worth depends on what is stored of it");
    }
    assert!(!may(&open(pix_order()).next.unwrap(), &at(50)), "its answer is on the way");
    assert!(!may(&paid(), &Context { operates_in_turn: true, ..at(5_000) }), "sums hide what others move");
    assert!(!may(&paid(), &Context { charge_name: Some("id"), ..at(5_000) }), "it may name another charge");
}

#[test]
fn an_inquiry_that_was_not_stored_counts_for_the_gap_and_its_answer_ends_no_later_hint() {
    let asked = |ms: u64, at_ms| Context { asked_at: Some(START.plus_ms(ms)), ..at(at_ms) };
    let pending = pending();
    assert!(!pending.may_be_inquired_about(&AcquirerName::new("first"), &asked(5_000, 6_999)));
    assert!(pending.may_be_inquired_about(&AcquirerName::new("first"), &asked(5_000, 7_000)));
    let hinted = pending.decide(hint(), &asked(5_000, 5_100)).unwrap().next.unwrap();
    assert_eq!(hinted.due_at(), Some(START.plus_ms(7_000)), "the acquirer was asked before this hint");
    let statement = Statement { facts: vec![settled("s1", 10_000)], reference: Reference::none() };
    let answer = ChargeAnswer::Known(statement);
    // As new as the last stored inquiry: there was none.
    let asked_at = Some(pending.created_at);
    let answered = Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring: None, answer };
    let paid = after(&hinted, answered.clone(), 5_200);
    assert_eq!((paid.status(), paid.due_at()), (Status::Paid, Some(START.plus_ms(7_000))));
    let asked = after(&hinted, Command::Wake, 7_000);
    let paid = after(&asked, answered, 7_100);
    assert_eq!((paid.status(), paid.due_at()), (Status::Paid, asked.due_at()), "its own answer is to come");
}
