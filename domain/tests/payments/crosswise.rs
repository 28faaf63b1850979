//! Facts that cross each other: early, late, repeated, ahead of the answer, against what was asked for.

use std::sync::Arc;

use crate::*;

#[test]
fn a_notice_that_came_before_its_forerunner_waits_and_has_the_acquirer_asked_at_once() {
    let refunded = || Fact::Refunded { refund_id: "desk".into(), amount: None };
    let expired = after(&pending(), notice(Fact::Expired), 1_000);
    for waiting in [pending(), expired] {
        for early in [charged_back("c1"), dispute_won("w1"), refunded()] {
            assert_eq!(discrepancy(&waiting, notice(early.clone())), DiscrepancyKind::TooEarly);
            let next = after(&waiting, notice(early), 9_000);
            assert_eq!(next.due_at(), Some(START.plus_ms(9_000)), "the money is asked for");
        }
    }
    assert_eq!(discrepancy(&paid(), notice(dispute_won("w1"))), DiscrepancyKind::TooEarly);
    let disputed = after(&paid(), notice(charged_back("c1")), 3_000);
    let won = after(&disputed, notice(dispute_won("w1")), 4_000);
    assert_eq!(won.status(), Status::Paid);
    assert_eq!(discrepancy(&won, notice(dispute_won("w2"))), DiscrepancyKind::TooEarly);
}

#[test]
fn a_chargeback_or_a_won_dispute_that_repeats_changes_nothing_whatever_came_in_between() {
    let repeats = |payment: &Payment, fact| {
        let decision = payment.decide(notice(fact), &at(9_000)).unwrap();
        decision.next.is_none() && decision.discrepancies.is_empty()
    };
    let disputed = after(&paid(), notice(charged_back("c1")), 3_000);
    assert!(repeats(&disputed, charged_back("c1")));
    let won = after(&disputed, notice(dispute_won("w1")), 4_000);
    assert!(repeats(&won, charged_back("c1")) && repeats(&won, dispute_won("w1")));
    let again = after(&won, notice(charged_back("c2")), 5_000);
    assert_eq!(again.status(), Status::Chargeback, "another one is another one");
    assert!(repeats(&again, dispute_won("w1")) && repeats(&again, charged_back("c1")));
}

#[test]
fn a_refund_at_the_desk_waits_while_one_of_ours_is_under_way() {
    let asked = after(&paid(), requested(refund(10_000), None, 1), 3_000);
    let desk = Fact::Refunded { refund_id: "desk".into(), amount: Some(Money::from_cents(500)) };
    assert_eq!(discrepancy(&asked, notice(desk.clone())), DiscrepancyKind::TooEarly);
    let answer = OperationAnswer::Refused("not_possible".into());
    let operation = asked.operations[0].id;
    let refused = after(&asked, operated(operation, answer), 4_000);
    let learnt = after(&refused, notice(desk), 5_000);
    assert_eq!(learnt.state.refunded_amount(), Money::from_cents(500));
}

#[test]
fn money_of_another_amount_does_not_keep_an_expired_charge_waiting() {
    let settled = ChargeAnswer::known(settled("s1", 9_999));
    let found =
        Command::Inquired { attempt: AttemptNumber::FIRST, asked_at: None, inquiring: None, answer: settled };
    let decision = pending().decide(found, &at(3_700_000)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::AmountMismatch);
    assert_eq!(decision.next.unwrap().status(), Status::Expired);
}

#[test]
fn a_notice_ahead_of_the_answer_pays_and_the_answer_still_brings_the_code() {
    let opened = open(pix_order()).next.unwrap();
    let paid = after(&opened, notice(settled("s1", 10_000)), 5);
    assert_eq!(paid.status(), Status::Paid);
    let answer = ChargeAnswer::known(pending_fact());
    let both = after(&paid, Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }, 10);
    assert_eq!(both.status(), Status::Paid);
    assert!(both.state.issued.is_some());
    assert_eq!(both.history.len(), 1);
}

#[test]
fn money_that_arrives_late_is_accepted_and_says_so() {
    for over in [Fact::Expired, Fact::Cancelled] {
        let closed = after(&pending(), notice(over), 1_000);
        let paid = after(&closed, notice(settled("s1", 10_000)), 2_000);
        assert_eq!(paid.status(), Status::Paid);
        assert_eq!(paid.history.last().unwrap().reason.as_deref(), Some("late_settlement"));
    }
}

#[test]
fn a_settlement_that_confirms_a_capture_is_no_second_payment() {
    let mut captured = paid();
    Arc::make_mut(&mut captured.state).settlement_id = None;
    let confirmed = after(&captured, notice(settled("s9", 10_000)), 3_000);
    assert_eq!(confirmed.state.settlement_id.as_deref(), Some("s9"));
    assert_eq!(confirmed.history.len(), captured.history.len());
    assert_eq!(discrepancy(&confirmed, notice(settled("s10", 10_000))), DiscrepancyKind::PaidTwice);
}

#[test]
fn a_refund_that_a_notice_reported_is_not_undone_by_the_answer_to_its_repetition() {
    let asked = after(&paid(), requested(refund(4_000), None, 1), 3_000);
    let id = operation_id(1);
    let told = Fact::Refunded { refund_id: id.to_string(), amount: None };
    let refunded = after(&asked, notice(told), 4_000);
    assert_eq!(refunded.state.refunded_amount(), Money::from_cents(4_000));
    assert_eq!(refunded.due_at(), None, "it need not be sent again");
    let answer = OperationAnswer::Refused("done already".into());
    let answered = after(&refunded, operated(id, answer), 5_000);
    assert_eq!(answered.state.refundable_amount(), Money::from_cents(6_000));
}

#[test]
fn a_refused_refund_that_was_done_after_all_is_an_exception_if_its_money_went_back_meanwhile() {
    let operation = operation_id(1);
    let asked = after(&paid(), requested(refund(10_000), None, 1), 3_000);
    let answer = OperationAnswer::Refused("no".into());
    let refused = after(&asked, operated(operation, answer), 4_000);
    let told = Fact::Refunded { refund_id: operation.to_string(), amount: None };
    assert_eq!(after(&refused, notice(told.clone()), 5_000).status(), Status::Refund);
    let again = after(&refused, requested(refund(1), None, 2), 5_000);
    assert_eq!(discrepancy(&again, notice(told)), DiscrepancyKind::RefundExceedsPaid);
}

#[test]
fn a_charge_that_had_an_effect_after_another_one_followed_is_looked_at_again() {
    let failed = ChargeAnswer::Failed(CallFailure::NotDelivered("no".into()));
    let opened = open(pix_order()).next.unwrap();
    let second =
        after(&opened, Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: failed }, 10);
    let late = ChargeAnswer::known(settled("s1", 10_000));
    let told = after(&second, Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: late }, 20);
    assert_eq!(
        told.second_look.unwrap().acquirer,
        AcquirerName::new("first"),
        "once it is known which one counts"
    );
}

#[test]
fn the_settlement_of_a_partial_capture_may_come_before_the_captures_answer() {
    let answer = ChargeAnswer::known(Fact::Authorized(Approval { authorization_code: "123456".into() }));
    let opened = Payment { order: Arc::new(card_order(false)), ..open(pix_order()).next.unwrap() };
    let authorized = after(&opened, Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }, 10);
    let capture = requested(RequestedOperation::Capture(Some(Money::from_cents(6_000))), None, 1);
    let capturing = after(&authorized, capture, 3_000);
    let paid = after(&capturing, notice(settled("s1", 6_000)), 3_100);
    assert_eq!((paid.status(), paid.state.captured_amount), (Status::Paid, Some(Money::from_cents(6_000))));
    let done = operated(operation_id(1), OperationAnswer::Done);
    let done = paid.decide(done, &at(3_200)).unwrap();
    assert_eq!((done.discrepancies.len(), done.next.unwrap().due_at()), (0, None));
}

#[test]
fn a_charge_that_a_notice_reported_is_never_sent_again() {
    let down = || ChargeAnswer::Failed(CallFailure::NotDelivered("down".into()));
    let paid_early = after(&open(pix_order()).next.unwrap(), notice(settled("s1", 10_000)), 5);
    for command in [
        Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: down() },
        Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: ChargeAnswer::NotFound },
        Command::Inquired {
            attempt: AttemptNumber::FIRST,
            asked_at: None,
            inquiring: asking_for(60_000),
            answer: ChargeAnswer::NotFound,
        },
    ] {
        // The first answer may be older than the notice.
        let asked_once = Command::Inquired {
            attempt: AttemptNumber::FIRST,
            asked_at: None,
            inquiring: asking_for(50_000),
            answer: ChargeAnswer::NotFound,
        };
        let decision = paid_early.decide(asked_once, &at(50_000)).unwrap();
        assert!(decision.discrepancies.is_empty());
        let decision = decision.next.unwrap().decide(command, &at(60_000)).unwrap();
        assert!(!decision.effects.iter().any(|effect| matches!(effect, Effect::Charge(_))));
        assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::Contradiction);
        let next = reported(decision.next.unwrap(), 60_000);
        assert_eq!(
            (next.status(), next.due_at()),
            (Status::Paid, None),
            "an operator looks, nobody asks again"
        );
    }
}

#[test]
fn money_of_a_capture_that_a_dispute_overtook_is_counted() {
    let Payment { owner, id, considered, .. } = pending();
    let order = card_order(true);
    let page_token = String::new();
    let considered = considered.to_vec();
    let routed = Routed::default();
    let new = NewPayment {
        id,
        owner,
        order: Arc::new(order),
        fingerprint: None,
        card_fingerprint: None,
        used_token: None,
        page_token,
        link: None,
        considered,
        routed,
    };
    let opened = Payment::open(new, &Context { card_at_hand: true, ..at(0) }).next.unwrap();
    let approval = Approval { authorization_code: "1".into() };
    let authorised = after(&opened, notice(Fact::Authorized(approval)), 5);
    let disputed = after(&authorised, notice(charged_back("c1")), 10);
    let won = after(&disputed, notice(dispute_won("w1")), 20);
    assert_eq!((won.status(), won.state.refundable_amount()), (Status::Paid, Money::ZERO), "not told yet");
    let operation = disputed.operations[0].id;
    let answer = OperationAnswer::Done;
    let answered = after(&won, operated(operation, OperationAnswer::Done), 30);
    assert_eq!(
        (answered.status(), answered.state.refundable_amount()),
        (Status::Paid, Money::from_cents(10_000))
    );
    let decision = disputed.decide(operated(operation, answer), &at(30)).unwrap();
    assert!(decision.discrepancies.is_empty());
    let told = disputed.decide(notice(settled("s1", 10_000)), &at(30)).unwrap();
    assert!(told.discrepancies.is_empty(), "its settlement may be told before its answer");
    for captured in [decision.next.unwrap(), told.next.unwrap()] {
        assert_eq!(captured.status(), Status::Chargeback);
        assert_eq!(captured.state.captured_amount, Some(Money::from_cents(10_000)));
    }
    let other = discrepancy(&disputed, notice(settled("s1", 9_000)));
    assert_eq!(other, DiscrepancyKind::TooEarly, "others may have captured, if it was not this capture");
}

#[test]
fn what_a_new_payment_cannot_become_leaves_its_charge_open_and_asked_for() {
    for fact in [charged_back("c1"), dispute_won("w1")] {
        let opened = open(pix_order()).next.unwrap();
        let answer = ChargeAnswer::known(fact.clone());
        let decision = opened
            .decide(
                Command::Inquired { attempt: AttemptNumber::FIRST, asked_at: None, inquiring: None, answer },
                &at(40_000),
            )
            .unwrap();
        assert_eq!(decision.discrepancies.len(), 1, "{fact:?}");
        let told = reported(decision.next.unwrap(), 40_000);
        assert_eq!((&told.state, told.due_at()), (&opened.state, opened.due_at()), "it is asked for again");
    }
}

#[test]
fn an_inquiry_that_finds_what_can_not_be_yet_is_not_made_again_at_once() {
    let asked = after(&paid(), requested(RequestedOperation::Refund(None), None, 1), 3_000);
    let hinted = after(
        &asked,
        Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() },
        4_000,
    );
    let woken = after(&hinted, Command::Wake, 4_000);
    let desk = Fact::Refunded { refund_id: "desk".into(), amount: Some(Money::from_cents(500)) };
    let answer = Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: woken.inquired_at,
        inquiring: None,
        answer: ChargeAnswer::known(desk),
    };
    let decision = woken.decide(answer, &at(4_100)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::TooEarly, "our refund is under way");
    assert_eq!(
        decision.next.unwrap().check,
        None,
        "an operator knows; refused, ours would have it asked again"
    );
}

#[test]
fn a_sum_that_went_back_is_counted_against_what_is_known_when_it_is_told() {
    let id = operation_id(1);
    let total = |cents| Money::from_cents(cents);
    let told =
        |cents| notice(Fact::RefundedInTotal { refund_id: format!("sum-{cents}"), total: total(cents) });
    let desk = after(&paid(), told(300), 4_000);
    assert_eq!(desk.state.refunded_amount(), total(300));
    assert!(desk.decide(told(300), &at(4_100)).unwrap().next.is_none(), "it is known");
    let asked = after(&desk, requested(refund(500), None, 1), 5_000);
    assert!(asked.decide(told(800), &at(5_100)).unwrap().next.is_none(), "it may be ours");
    let done = after(&asked, operated(id, OperationAnswer::Done), 5_200);
    for stale in [300, 800] {
        let decision = done.decide(told(stale), &at(5_300)).unwrap();
        assert!(decision.next.is_none() && decision.discrepancies.is_empty(), "{stale} was read earlier");
    }
    let more = after(&done, told(1_000), 6_000);
    assert_eq!(more.state.refunded_amount(), total(1_000));
    assert_eq!(more.state.refunds.last().unwrap().amount, total(200));
}
