//! Calls that an operator's order withheld, and questions that an operator asks.

use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::{charge_answered, found, unknown};
use crate::*;

fn withheld() -> ChargeAnswer {
    ChargeAnswer::Failed(CallFailure::Withheld)
}

fn find() -> Effect {
    Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)
}

/// Asked for twice, long enough after the first question: it is sent again.
fn sent_again() -> Payment {
    let mut payment = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    for ms in [1_500, 30_000] {
        payment = after(&payment, Command::Wake, ms);
        let answer = ChargeAnswer::NotFound;
        payment = after(
            &payment,
            Command::Inquired {
                attempt: AttemptNumber::FIRST,
                asked_at: None,
                inquiring: asking_for(ms),
                answer,
            },
            ms,
        );
    }
    assert_eq!(payment.state.attempts.len(), 2);
    payment
}

fn answered_withheld(attempt: u32) -> Command {
    Command::ChargeAnswered { attempt: AttemptNumber::new(attempt), answer: withheld() }
}

#[test]
fn a_new_payment_whose_charge_is_withheld_goes_elsewhere_and_ends_only_if_there_is_no_other_route() {
    let opened = open(pix_order()).next.unwrap();
    let moved = opened.decide(answered_withheld(1), &at(10)).unwrap();
    assert_eq!(moved.effects, [Effect::Charge(AcquirerName::new("second"))]);
    let over = after(&moved.next.unwrap(), answered_withheld(2), 20);
    assert_eq!(over.status(), Status::Declined);
    assert_eq!(over.state.status_reason.as_deref(), Some("no_acquirer_available"));
}

#[test]
fn a_charge_that_is_sent_again_goes_elsewhere_if_it_can() {
    let moved = sent_again().decide(answered_withheld(2), &at(31_000)).unwrap();
    assert_eq!(moved.effects, [Effect::Charge(AcquirerName::new("second"))]);
}

#[test]
fn a_charge_that_is_sent_again_waits_if_no_other_acquirer_is_left_and_is_asked_for_later() {
    let mut payment = sent_again();
    payment.considered = payment.considered.iter().take(1).cloned().collect();
    let held = payment.decide(answered_withheld(2), &at(31_000)).unwrap();
    assert_eq!(held.effects, []);
    let held = held.next.unwrap();
    assert_eq!((held.status(), held.due_at()), (Status::Initial, Some(START.plus_ms(61_000))));
    let mut payment = after(&held, Command::Wake, 61_000);
    payment = after(
        &payment,
        Command::Inquired {
            attempt: AttemptNumber::new(2),
            asked_at: None,
            inquiring: asking_for(0),
            answer: withheld(),
        },
        61_010,
    );
    assert_eq!(payment.due_at(), Some(START.plus_ms(91_010)), "it goes on waiting");
    for (ms, for_ms) in [(91_010, 30_000), (121_010, 60_000)] {
        payment = after(&payment, Command::Wake, ms);
        let inquiring = asking_for(for_ms);
        let answer = ChargeAnswer::NotFound;
        payment = after(
            &payment,
            Command::Inquired { attempt: AttemptNumber::new(2), asked_at: None, inquiring, answer },
            ms,
        );
    }
    assert_eq!((payment.state.attempts.len(), payment.status()), (3, Status::Initial));
}

#[test]
fn questions_that_are_withheld_for_a_day_do_not_count_and_are_asked_soon_afterwards() {
    let mut payment = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    let mut now_ms = 0;
    while now_ms < DAY {
        now_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(now_ms)).unwrap();
        assert_eq!((woken.discrepancies.len(), woken.effects), (0, vec![find()]));
        payment = after(&woken.next.unwrap(), found(withheld()), now_ms + 10);
        assert_eq!(payment.state.attempts[0].call.inquiries, 0);
        assert_eq!(payment.due_at().unwrap(), START.plus_ms(now_ms + 30_010));
    }
    let seen = after(&payment, found(ChargeAnswer::known(settled("s1", 10_000))), now_ms + 40_000);
    assert_eq!(seen.status(), Status::Paid);
}

/// The answer to the last sending of the first operation.
fn answered(payment: &Payment, answer: OperationAnswer) -> Command {
    let operation = &payment.operations[0];
    Command::OperationAnswered { operation: operation.id, sending: operation.sending(), answer }
}

#[test]
fn that_an_operation_never_left_may_be_told_again_after_the_next_sending_and_then_means_nothing() {
    let asked = after(&paid(), requested(refund(100), None, 1), 3_000);
    let withheld = answered(&asked, OperationAnswer::Failed(CallFailure::Withheld));
    let waits = after(&asked, withheld.clone(), 3_010);
    let sent = after(&waits, Command::Wake, 60_000);
    assert_eq!((sent.operations[0].sent, sent.operations[0].call.progress), (1, Progress::Sent));
    let told_again = sent.decide(withheld, &at(60_010)).unwrap();
    assert!(told_again.next.is_none(), "{told_again:?}");
    let done = after(&sent, answered(&sent, OperationAnswer::Done), 60_020);
    assert_eq!(done.state.refunded_amount().cents(), 100);
}

#[test]
fn an_operation_that_is_withheld_for_a_day_is_neither_refused_nor_odd_and_is_sent_soon_afterwards() {
    let mut payment = after(&paid(), requested(refund(100), None, 1), 3_000);
    let mut now_ms = 3_000;
    while now_ms < DAY {
        let withheld = answered(&payment, OperationAnswer::Failed(CallFailure::Withheld));
        payment = after(&payment, withheld, now_ms + 10);
        assert_eq!(payment.due_at().unwrap(), START.plus_ms(now_ms + 30_010));
        now_ms += 30_010;
        let woken = payment.decide(Command::Wake, &at(now_ms)).unwrap();
        assert_eq!(woken.discrepancies, []);
        payment = woken.next.unwrap();
        assert_eq!(payment.operations[0].sent, 1);
    }
    let done = after(&payment, answered(&payment, OperationAnswer::Done), now_ms + 10);
    assert_eq!(done.state.refunded_amount().cents(), 100);
}

#[test]
fn what_was_asked_too_often_before_is_not_reported_more_often_while_it_is_withheld() {
    let mut payment = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    let mut told = 0;
    while payment.due_at().unwrap() < START.plus_ms(DAY) {
        let now_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(now_ms)).unwrap();
        told += u32::from(woken.discrepancies.len() == 1);
        let answer = if now_ms < 2 * 3_600_000 { unknown() } else { withheld() };
        payment = after(&woken.next.unwrap(), found(answer), now_ms + 10);
    }
    assert!((20..=30).contains(&told), "once an hour: {told}");
}

#[test]
fn an_operator_who_asks_has_an_unknown_outcome_asked_for_at_once() {
    let timed_out = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    let asked = timed_out.decide(Command::InquireNow, &at(600)).unwrap();
    assert_eq!(asked.effects, [find()]);
    let asked = asked.next.unwrap();
    assert_eq!(
        (asked.due_at(), asked.state.attempts[0].call.inquiries),
        (Some(START.plus_ms(1_500)), 0),
        "as scheduled"
    );
}

#[test]
fn an_operator_who_asks_leaves_a_charge_alone_that_may_be_under_way() {
    let opened = open(pix_order()).next.unwrap();
    let asked = opened.decide(Command::InquireNow, &at(600)).unwrap();
    assert!(asked.next.is_none() && asked.effects.is_empty());
}

#[test]
fn an_operator_who_asks_has_a_waiting_charge_looked_at_beside_its_schedule() {
    let pending = pending();
    let asked = pending.decide(Command::InquireNow, &at(600)).unwrap();
    assert_eq!(asked.effects, [find()]);
    let asked = asked.next.unwrap();
    assert_eq!((asked.check, asked.revision), (pending.check, pending.revision + 1));
    assert_eq!(asked.state.version, pending.state.version, "nothing that a merchant sees");
    let look = Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: None,
        inquiring: None,
        answer: ChargeAnswer::known(settled("s1", 10_000)),
    };
    assert_eq!(after(&asked, look, 700).status(), Status::Paid);
}

#[test]
fn an_operator_who_asks_goes_on_with_an_operation_unless_its_call_may_be_under_way() {
    let refunding = after(&paid(), requested(refund(100), None, 1), 3_000);
    let effects = |payment: &Payment, ms| {
        let mut effects = payment.decide(Command::InquireNow, &at(ms)).unwrap().effects;
        effects.retain(|effect| !matches!(effect, Effect::Deliver(_) | Effect::Report));
        effects
    };
    let first = AcquirerName::new("first");
    let id = operation_id(1);
    assert_eq!(effects(&refunding, 3_100), [], "under way");
    let failed = |why: CallFailure| OperationAnswer::Failed(why);
    let unknown = after(&refunding, operated(id, failed(CallFailure::Unknown("502".into()))), 3_200);
    assert_eq!(effects(&unknown, 3_300), [Effect::InquireOperation(first.clone(), id)]);
    let mut payment = refunding;
    for sending in 1..=8 {
        let answer = failed(CallFailure::NotDelivered("no connection".into()));
        let answered = Command::OperationAnswered { operation: id, sending, answer };
        payment = after(&payment, answered, payment.due_at().unwrap().ms_since(START));
        if sending < 8 {
            payment = after(&payment, Command::Wake, payment.due_at().unwrap().ms_since(START));
        }
    }
    let next_ms = payment.due_at().unwrap().ms_since(START);
    assert_eq!(effects(&payment, next_ms - 700_000), [Effect::Operate(first, id)]);
    assert_eq!(effects(&payment, next_ms - 600_000), [], "a node whose clock is ahead may be sending it");
}

#[test]
fn there_is_nothing_to_ask_of_what_is_settled() {
    assert!(paid().decide(Command::InquireNow, &at(9_000)).unwrap().effects.is_empty());
    assert!(paid().decide(Command::InquireNow, &at(9_000)).unwrap().next.is_none());
}

#[test]
fn a_look_for_late_money_that_was_withheld_is_no_look_that_brought_no_answer() {
    let mut closed = after(&pending(), notice(Fact::Expired), 1_000);
    for (day, answer) in [(1, ChargeAnswer::NotFound), (3, withheld())] {
        closed = after(&closed, Command::Wake, 1_000 + day * DAY);
        closed = after(&closed, found(answer), 2_000 + day * DAY);
    }
    let again = closed.decide(Command::Wake, &at(1_000 + 5 * DAY)).unwrap();
    assert!(again.discrepancies.is_empty() && again.effects.contains(&find()));
    let told = after(&again.next.unwrap(), found(ChargeAnswer::NotFound), 2_000 + 5 * DAY);
    assert_eq!(told.due_at(), None, "and then no more");
}

#[test]
fn a_waiting_charge_is_not_called_overdue_while_its_looks_are_withheld() {
    let mut payment = pending();
    let mut answers = 0;
    let told_at = loop {
        let now_ms = payment.due_at().unwrap().ms_since(START);
        let woken = payment.decide(Command::Wake, &at(now_ms)).unwrap();
        if let Some(discrepancy) = woken.discrepancies.first() {
            assert_eq!(discrepancy.kind, DiscrepancyKind::UnknownOutcome);
            break now_ms;
        }
        let answer = if now_ms < 2 * DAY { withheld() } else { unknown() };
        answers += u32::from(now_ms >= 2 * DAY);
        payment = after(&woken.next.unwrap(), found(answer), now_ms + 10);
    };
    assert!(told_at > 2 * DAY && answers >= 1, "{told_at} after {answers}");
}

fn withheld_operation() -> Command {
    operated(operation_id(1), OperationAnswer::Failed(CallFailure::Withheld))
}

#[test]
fn a_refund_that_never_left_is_not_sent_after_a_chargeback_and_fails() {
    let held = after(&after(&paid(), requested(refund(4_000), None, 1), 3_000), withheld_operation(), 3_010);
    let disputed = after(&held, notice(charged_back("c1")), 4_000);
    let woken = disputed.decide(Command::Wake, &at(33_010)).unwrap();
    assert_eq!((calls(&woken), woken.discrepancies.len()), (vec![], 0), "the holder has the money already");
    let refused = woken.next.unwrap();
    assert_eq!((refused.status(), refused.due_at()), (Status::Chargeback, None));
    assert_eq!(refused.operations[0].call.refusal.as_deref(), Some("status_changed"));
    assert_eq!(refused.state.refunds[0].failure_reason.as_deref(), Some("status_changed"));
    let told = refused.history.last().unwrap();
    assert_eq!((told.name().as_str(), told.actor), ("payment.refund_failed", Cause::Service));
}

#[test]
fn a_refund_that_never_left_is_sent_if_the_dispute_was_won_before_it_could_leave() {
    let held = after(&after(&paid(), requested(refund(4_000), None, 1), 3_000), withheld_operation(), 3_010);
    let disputed = after(&held, notice(charged_back("c1")), 4_000);
    let won = after(&disputed, notice(dispute_won("w1")), 5_000);
    let sent = Effect::Operate(AcquirerName::new("first"), operation_id(1));
    assert_eq!(calls(&won.decide(Command::Wake, &at(33_010)).unwrap()), [sent]);
}

#[test]
fn a_cancellation_that_never_left_is_not_sent_after_the_payment_was_paid_and_changes_nothing() {
    let cancelling = after(&pending(), requested(RequestedOperation::Cancel, None, 1), 1_000);
    let paid = after(&after(&cancelling, withheld_operation(), 1_010), notice(settled("s1", 10_000)), 2_000);
    let woken = paid.decide(Command::Wake, &at(31_010)).unwrap();
    assert_eq!((calls(&woken), woken.discrepancies.len()), (vec![], 0), "a void would give the money back");
    let refused = woken.next.unwrap();
    assert_eq!((refused.status(), &refused.history), (Status::Paid, &paid.history));
    assert_eq!(refused.operations[0].call.refusal.as_deref(), Some("status_changed"));
}

#[test]
fn what_never_left_and_was_done_without_us_is_done() {
    let cancelling = after(&pending(), requested(RequestedOperation::Cancel, None, 1), 1_000);
    let cancelled = after(&after(&cancelling, withheld_operation(), 1_010), notice(Fact::Cancelled), 2_000);
    let woken = cancelled.decide(Command::Wake, &at(31_010)).unwrap();
    assert_eq!(calls(&woken), []);
    assert_eq!(woken.next.unwrap().operations[0].state(), OperationState::Done);
}

#[test]
fn a_refund_that_the_acquirer_does_not_know_is_not_sent_again_after_a_chargeback() {
    let unknown = operated(operation_id(1), OperationAnswer::Failed(CallFailure::Unknown("502".into())));
    let mut payment = after(&after(&paid(), requested(refund(4_000), None, 1), 3_000), unknown, 3_010);
    payment = after(&payment, notice(charged_back("c1")), 4_000);
    for ms in [5_000, 30_000] {
        let operation = operation_id(1);
        let sending = 1;
        let answer = OperationAnswer::NotFound;
        let asked = Command::OperationInquired { operation, sending, inquiring: asking_for(ms), answer };
        let decision = payment.decide(asked, &at(ms)).unwrap();
        assert_eq!(calls(&decision), []);
        payment = decision.next.unwrap();
    }
    assert_eq!(payment.state.refunds[0].failure_reason.as_deref(), Some("status_changed"));
    let late = payment.decide(operated(operation_id(1), OperationAnswer::Done), &at(40_000)).unwrap();
    let kinds: Vec<_> = late.discrepancies.iter().map(|discrepancy| discrepancy.kind).collect();
    assert_eq!(kinds, [DiscrepancyKind::RefundedAndChargedBack], "an answer that comes after all counts");
    assert_eq!(late.next.unwrap().state.refunded_amount().cents(), 4_000);
}
