//! Cancellations, captures and refunds of which nobody knows what became, or which take days.

use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::{charge_answered, unknown as charge_unknown};
use crate::*;

const HOUR: u64 = 3_600_000;

const ID: OperationId = operation_id(1);

fn unknown() -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Unknown("time-out".into()))
}

/// Answered to somebody who had been asking for this long.
fn inquired(for_ms: u64, answer: OperationAnswer) -> Command {
    Command::OperationInquired { operation: ID, sending: 1, inquiring: asking_for(for_ms), answer }
}

fn asks() -> Effect {
    Effect::InquireOperation(AcquirerName::new("first"), ID)
}

fn sends() -> Effect {
    Effect::Operate(AcquirerName::new("first"), ID)
}

fn refunding() -> Payment {
    after(&paid(), requested(refund(4_000), None, 1), 3_000)
}

/// Event names, as the merchant receives them.
fn events(payment: &Payment) -> Vec<String> {
    payment.history.iter().map(Event::name).collect()
}

#[test]
fn an_operation_nobody_heard_of_is_asked_for_when_its_lease_is_over_and_not_sent() {
    let cancelling = after(&pending(), requested(RequestedOperation::Cancel, None, 1), 1_000);
    assert_eq!(cancelling.due_at(), Some(START.plus_ms(31_000)), "its lease");
    let woken = cancelling.decide(Command::Wake, &at(31_000)).unwrap();
    assert_eq!(calls(&woken), [asks()]);
    assert_eq!(woken.next.unwrap().operations[0].call.progress, Progress::Unknown);
}

#[test]
fn an_unknown_operation_is_sent_again_only_after_two_not_found_and_twenty_seconds_of_asking() {
    let mut payment = after(&refunding(), operated(ID, unknown()), 3_100);
    let mut asked_ms = Vec::new();
    let first_ms = payment.due_at().unwrap().ms_since(START);
    let sent_ms = loop {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        assert_eq!(calls(&woken), [asks()]);
        asked_ms.push(due_ms - first_ms);
        let answer = inquired(due_ms - first_ms, OperationAnswer::NotFound);
        let answered = woken.next.unwrap().decide(answer, &at(due_ms + 10)).unwrap();
        let called = calls(&answered);
        payment = answered.next.unwrap();
        if called == [sends()] {
            break due_ms - first_ms;
        }
        assert_eq!(called, []);
    };
    assert_eq!((asked_ms, sent_ms), (vec![0, 2_000, 7_000, 20_010], 20_010));
    assert_eq!((payment.operations[0].sent, payment.operations[0].call.not_found), (2, 0));
}

#[test]
fn a_refund_that_its_acquirer_shows_late_is_not_sent_again_before_that_time_however_often_it_is_asked_for() {
    let slowly = |ms| Context { refund_shows_after_ms: HOUR, ..at(ms) };
    let mut payment = after(&refunding(), operated(ID, unknown()), 3_100);
    for asked in 1..=20 {
        // Hints, and nodes whose clocks differ, ask more often than the schedule.
        let ms = asked * 30_000;
        let answered = payment.decide(inquired(ms, OperationAnswer::NotFound), &slowly(3_200 + ms)).unwrap();
        assert_eq!(calls(&answered), [], "asked {asked} times in {ms} ms");
        payment = answered.next.unwrap();
    }
    let early = payment.decide(inquired(HOUR - 1, OperationAnswer::NotFound), &slowly(HOUR)).unwrap();
    assert_eq!(calls(&early), []);
    let late = payment.decide(inquired(HOUR, OperationAnswer::NotFound), &slowly(HOUR)).unwrap();
    assert_eq!(calls(&late), [sends()]);
}

#[test]
fn what_wall_clocks_say_hurries_no_second_refund() {
    let mut payment = after(&refunding(), operated(ID, unknown()), 3_100);
    for hour in 1..5 {
        payment = after(&payment, inquired(19_999, OperationAnswer::NotFound), hour * 3_600_000);
    }
    assert_eq!(payment.operations[0].sent, 1, "hours by the clock, and not twenty seconds of asking");
}

#[test]
fn an_inquiry_that_finds_an_operation_done_or_refused_ends_it() {
    let unknown = after(&refunding(), operated(ID, unknown()), 3_100);
    let done = after(&unknown, inquired(0, OperationAnswer::Done), 4_000);
    assert_eq!((done.state.refunded_amount().cents(), done.due_at()), (4_000, None));
    let refused = after(&unknown, inquired(0, OperationAnswer::Refused("no balance".into())), 4_000);
    assert_eq!(refused.state.refundable_amount().cents(), 10_000);
    assert_eq!(refused.state.refunds[0].failure_reason.as_deref(), Some("no balance"));
}

#[test]
fn what_was_accepted_is_asked_for_over_days_and_never_sent_again_nor_reported() {
    let mut payment = after(&refunding(), operated(ID, OperationAnswer::Accepted), 3_100);
    let mut asked_s = Vec::new();
    while payment.due_at().unwrap() < START.plus_ms(2 * DAY) {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        assert_eq!((calls(&woken), woken.discrepancies.len()), (vec![asks()], 0));
        asked_s.push((due_ms - 3_100) / 1_000);
        payment = after(&woken.next.unwrap(), inquired(0, OperationAnswer::Accepted), due_ms + 10);
    }
    assert_eq!(asked_s[..5], [10, 70, 250, 850, 4_450], "10 s, 1, 3, 10 min, then hourly");
    let late = payment.decide(inquired(DAY, OperationAnswer::NotFound), &at(2 * DAY)).unwrap();
    assert_eq!((calls(&late), late.discrepancies.len()), (vec![], 0), "the answer to a question from before");
    let again =
        late.next.unwrap().decide(inquired(DAY, OperationAnswer::NotFound), &at(2 * DAY + 10)).unwrap();
    assert_eq!(calls(&again), [], "what was accepted is never sent again");
    assert_eq!(again.discrepancies[0].kind, DiscrepancyKind::Contradiction);
    let failed = after(&payment, inquired(0, OperationAnswer::Refused("no balance".into())), 2 * DAY);
    assert_eq!(failed.status(), Status::Paid);
    assert_eq!(events(&failed)[2..], ["payment.refund_failed"]);
}

#[test]
fn a_refused_refund_shows_that_the_books_differ_so_the_charge_is_asked_for() {
    let refused = operated(ID, OperationAnswer::Refused("more than is left".into()));
    let refused = after(&refunding(), refused, 3_100);
    assert_eq!(refused.due_at(), Some(START.plus_ms(3_100)));
    let woken = refused.decide(Command::Wake, &at(3_100)).unwrap();
    assert_eq!(calls(&woken), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)]);
    let desk = Fact::Refunded { refund_id: "desk".into(), amount: Some(Money::from_cents(10)) };
    let answer = ChargeAnswer::known(desk);
    let found = Command::Inquired { attempt: AttemptNumber::FIRST, asked_at: None, inquiring: None, answer };
    let learnt = after(&woken.next.unwrap(), found, 3_200);
    assert_eq!(learnt.state.refunded_amount(), Money::from_cents(10), "given back at the acquirer's desk");
}

#[test]
fn a_refund_that_leaves_the_status_is_an_event_of_its_own_and_the_last_one_a_change_of_status() {
    let part = after(&refunding(), operated(ID, OperationAnswer::Done), 3_100);
    let told = part.history.last().unwrap();
    let third = EventSequence::new(3);
    assert_eq!((told.status, told.previous_status, told.sequence), (Status::Paid, Status::Paid, third));
    assert_eq!(told.refund.as_ref().unwrap().amount.cents(), 4_000);
    assert_eq!((part.outbox.len(), part.as_of(told)), (3, &*part.state), "with a delivery");
    assert!(part.decide(operated(ID, OperationAnswer::Done), &at(3_200)).unwrap().next.is_none(), "once");
    let rest = after(&part, requested(RequestedOperation::Refund(None), None, 2), 4_000);
    let all = after(&rest, operated(operation_id(2), OperationAnswer::Done), 4_100);
    let desk = Fact::Refunded { refund_id: "desk".into(), amount: Some(Money::from_cents(500)) };
    let desk = after(&part, notice(desk), 5_000);
    assert_eq!(events(&all)[2..], ["payment.refund_succeeded", "payment.refund"]);
    assert_eq!(events(&desk)[2..], ["payment.refund_succeeded"; 2]);
}

#[test]
fn what_did_certainly_not_leave_is_sent_again_without_asking() {
    let answer = OperationAnswer::Failed(CallFailure::NotDelivered("no connection".into()));
    let payment = after(&refunding(), operated(ID, answer), 3_100);
    assert_eq!(payment.due_at(), Some(START.plus_ms(4_100)));
    assert_eq!(payment.decide(Command::Wake, &at(4_100)).unwrap().effects, [sends()]);
}

#[test]
fn a_late_failure_of_an_earlier_sending_tells_nothing_of_the_present_one() {
    let answer = || OperationAnswer::Failed(CallFailure::NotDelivered("no connection".into()));
    let again = after(&after(&refunding(), operated(ID, answer()), 3_100), Command::Wake, 4_100);
    for late in [answer(), unknown()] {
        assert!(again.decide(operated(ID, late), &at(4_200)).unwrap().next.is_none());
    }
    assert_eq!(
        after(&again, operated(ID, OperationAnswer::Done), 4_200).state.refunded_amount().cents(),
        4_000
    );
}

#[test]
fn a_late_answer_about_an_earlier_sending_tells_nothing_of_the_present_one() {
    let mut payment = after(&refunding(), operated(ID, unknown()), 3_100);
    for ms in [4_100, 30_000] {
        payment = after(&payment, inquired(60_000, OperationAnswer::NotFound), ms);
    }
    let answered = Command::OperationAnswered { operation: ID, sending: 2, answer: unknown() };
    payment = after(&payment, answered, 31_000);
    assert_eq!(
        (payment.operations[0].sending(), payment.operations[0].call.progress),
        (2, Progress::Unknown)
    );
    for ms in [31_010, 31_020] {
        let late = payment.decide(inquired(60_000, OperationAnswer::NotFound), &at(ms)).unwrap();
        assert!(late.next.is_none() && late.effects.is_empty());
    }
}

#[test]
fn an_acquirer_that_wants_fewer_calls_delays_and_nothing_else() {
    let throttled = || CallFailure::Throttled { after_ms: 120_000 };
    let opened = open(pix_order()).next.unwrap();
    let held = opened.decide(charge_answered(ChargeAnswer::Failed(throttled())), &at(500)).unwrap();
    assert_eq!(held.effects, [], "no other acquirer gets it");
    assert_eq!(held.next.unwrap().due_at(), Some(START.plus_ms(120_500)));
    let mut payment = after(&refunding(), operated(ID, OperationAnswer::Failed(throttled())), 3_100);
    for _ in 0..20 {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
        assert_eq!((calls(&woken), woken.discrepancies.len()), (vec![asks()], 0));
        payment = after(&woken.next.unwrap(), inquired(0, OperationAnswer::Failed(throttled())), due_ms + 10);
        assert_eq!(payment.due_at(), Some(START.plus_ms(due_ms + 120_010)));
    }
    assert_eq!(payment.operations[0].call.inquiries, 0, "none of it counts");
}

#[test]
fn cancellations_are_reported_after_minutes_and_refunds_after_a_day() {
    let cancelling = after(&pending(), requested(RequestedOperation::Cancel, None, 1), 1_000);
    for (mut payment, from_ms, to_ms) in
        [(cancelling, 300_000, 1_500_000), (refunding(), DAY, DAY + 2 * 3_600_000)]
    {
        payment.check = None;
        payment = after(&payment, operated(ID, unknown()), 3_100);
        let reported_ms = loop {
            let due_ms = payment.due_at().unwrap().ms_since(START);
            let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
            if let Some(discrepancy) = woken.discrepancies.first() {
                assert_eq!(discrepancy.kind, DiscrepancyKind::UnknownOutcome);
                assert_eq!(discrepancy.about, Some(ID.to_string()));
                break due_ms;
            }
            payment = after(&woken.next.unwrap(), inquired(0, unknown()), due_ms + 10);
        };
        assert!((from_ms..to_ms).contains(&reported_ms), "{reported_ms}");
    }
}

#[test]
fn an_acquirer_without_ids_for_operations_gets_one_at_a_time_with_the_sums_before_it() {
    let in_turn = |ms| Context { operates_in_turn: true, ..at(ms) };
    let decide = |payment: &Payment, command, ms| payment.decide(command, &in_turn(ms)).unwrap();
    let first = decide(&paid(), requested(refund(4_000), None, 1), 3_000).next.unwrap();
    let second = decide(&first, requested(refund(1_000), None, 2), 3_010);
    assert_eq!(second.effects, [], "it waits for the first");
    let waiting = second.next.unwrap();
    assert_eq!(waiting.due_at(), first.due_at());
    let next = |payment: &Payment, answer| {
        let decision = decide(payment, operated(ID, answer), 3_100);
        let sent = Effect::Operate(AcquirerName::new("first"), operation_id(2));
        assert!(decision.effects.contains(&sent), "{:?}", decision.effects);
        decision.next.unwrap().operations[1].before
    };
    assert_eq!(next(&waiting, OperationAnswer::Done), Money::from_cents(4_000));
    assert_eq!(next(&waiting, OperationAnswer::Refused("no".into())), Money::ZERO);
}

#[test]
fn an_answer_to_a_question_from_before_an_operation_was_sent_again_changes_nothing() {
    let sent_again = refunding();
    let withheld = after(&sent_again, operated(ID, OperationAnswer::Failed(CallFailure::Withheld)), 3_100);
    let throttled = OperationAnswer::Failed(CallFailure::Throttled { after_ms: 60_000 });
    let late = [OperationAnswer::NotFound, OperationAnswer::Failed(CallFailure::Withheld), throttled];
    for payment in [sent_again, withheld] {
        for answer in &late {
            let decision = payment.decide(inquired(90_000, answer.clone()), &at(3_200)).unwrap();
            assert!(decision.next.is_none(), "{answer:?}: {:?}", payment.operations[0].call);
        }
    }
}

#[test]
fn what_may_exist_is_not_called_cancelled() {
    let opened = open(pix_order()).next.unwrap();
    let taken = ChargeAnswer::Accepted(Reference::none());
    let unclear = [
        opened.clone(),
        after(&opened, charge_answered(charge_unknown()), 100),
        after(&opened, charge_answered(taken), 100),
    ];
    for payment in unclear {
        let refused = payment.decide(requested(RequestedOperation::Cancel, None, 1), &at(3_000)).unwrap_err();
        assert_eq!(refused, Refusal::OutcomeUnknown);
    }
    let told = paid().decide(requested(RequestedOperation::Cancel, None, 1), &at(3_000)).unwrap_err();
    assert!(told.to_string().contains("paid"), "{told}");
}

#[test]
fn a_refund_that_the_acquirer_never_knows_is_sent_again_for_a_day_and_then_a_person_is_told() {
    let mut payment = after(&refunding(), operated(ID, unknown()), 3_100);
    let mut sent_ms = Vec::new();
    let mut told_ms = None;
    while told_ms.is_none() {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        payment = payment.decide(Command::Wake, &at(due_ms)).unwrap().next.unwrap();
        let sending = payment.operations[0].sending();
        let inquiring = asking_for(3_600_000);
        let answer = OperationAnswer::NotFound;
        let inquired = Command::OperationInquired { operation: ID, sending, inquiring, answer };
        let answered = payment.decide(inquired, &at(due_ms + 100)).unwrap();
        let sends = Effect::Operate(AcquirerName::new("first"), ID);
        if answered.effects.contains(&sends) {
            sent_ms.push(due_ms);
        }
        let is_told = |one: &quita_domain::payment::Discrepancy| {
            one.kind == DiscrepancyKind::UnknownOutcome && due_ms >= DAY && one.detail.contains("for a day")
        };
        told_ms = answered.discrepancies.iter().any(is_told).then_some(due_ms);
        assert!(told_ms.is_none() || !answered.effects.contains(&sends));
        payment = answered.next.unwrap_or(payment);
        if payment.operations[0].call.progress == Progress::Sent {
            let sending = payment.operations[0].sent;
            let answered = Command::OperationAnswered { operation: ID, sending, answer: unknown() };
            payment = after(&payment, answered, due_ms + 5_000);
        }
    }
    assert!(sent_ms.len() > 10 && sent_ms.iter().all(|ms| *ms <= DAY + 3_000), "{sent_ms:?}");
    assert!((DAY..DAY + 2 * 3_600_000).contains(&told_ms.unwrap()), "{told_ms:?}");
    assert!(payment.due_at().is_some(), "it is asked on");
}

#[test]
fn a_click_asks_beside_the_schedule_and_does_not_move_it() {
    for answer in [unknown(), OperationAnswer::Accepted] {
        let open = after(&refunding(), operated(ID, answer), 3_100);
        let steps = open.operations[0].clone();
        let mut clicked = open.clone();
        for ms in 0..20 {
            let click = clicked.decide(Command::InquireNow, &at(3_200 + ms)).unwrap();
            assert!(click.effects.contains(&Effect::InquireOperation(AcquirerName::new("first"), ID)));
            clicked = click.next.unwrap();
            clicked = after(&clicked, inquired(0, unknown()), 3_200 + ms);
        }
        assert_eq!(clicked.operations[0], steps);
    }
}

#[test]
fn an_acquirer_that_never_has_time_to_say_what_became_of_an_operation_is_reported() {
    let throttled = || OperationAnswer::Failed(CallFailure::Throttled { after_ms: 60_000 });
    let asked = after(&paid(), requested(refund(4_000), None, 1), 3_000);
    let open = after(&asked, operated(ID, throttled()), 3_100);
    for (for_ms, ms, reported) in
        [(0, DAY + 4_000, 0), (360_000, 364_000, 0), (359_999, DAY + 4_000, 0), (360_000, DAY + 4_000, 1)]
    {
        let decision = open.decide(inquired(for_ms, throttled()), &at(ms)).unwrap();
        let kinds: Vec<_> = decision.discrepancies.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, vec![DiscrepancyKind::UnknownOutcome; reported], "{for_ms} {ms}");
    }
}
