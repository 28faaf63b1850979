//! Answers about somebody else's charge, about another one, or about sums that nobody here moved.

use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::{charge_answered, found, unknown};
use crate::*;

const ID: OperationId = operation_id(1);

fn foreign() -> ChargeAnswer {
    ChargeAnswer::Foreign("another key receives its money".into())
}

fn mismatched() -> ChargeAnswer {
    ChargeAnswer::Mismatched("it is about another charge".into())
}

/// Decides, and says what an operator sees of it.
fn told(payment: &Payment, command: Command, ms: u64) -> (Payment, Vec<(&'static str, Option<String>)>) {
    let decision = payment.decide(command, &at(ms)).unwrap();
    let told = decision.discrepancies.iter().map(|one| (one.kind.as_str(), one.about.clone()));
    (decision.next.clone().unwrap_or_else(|| payment.clone()), told.collect())
}

#[test]
fn somebody_elses_charge_is_an_exception_and_decides_nothing() {
    let expected = vec![("foreign_charge", Some("charge".to_owned()))];
    let opened = open(pix_order()).next.unwrap();
    let (unclear, seen) = told(&opened, charge_answered(foreign()), 100);
    assert_eq!(seen, expected);
    assert_eq!(unclear.state.attempts.len(), 1, "it goes nowhere else");
    assert_eq!(unclear.state.attempts[0].call.progress, Progress::Unknown);
    let (asked, seen) = told(&unclear, found(foreign()), 2_000);
    assert_eq!(seen, expected, "which is the same exception");
    assert_eq!((asked.status(), asked.state.attempts.len()), (Status::Initial, 1));
    assert!(asked.due_at().is_some(), "it is asked on");
    let (waiting, seen) = told(&pending(), found(foreign()), 90_000);
    assert_eq!((waiting.status(), seen), (Status::Pending, expected));
}

#[test]
fn an_answer_about_another_charge_is_unclear_and_the_second_one_an_exception() {
    let opened = open(pix_order()).next.unwrap();
    let (unclear, seen) = told(&opened, charge_answered(mismatched()), 100);
    assert_eq!((unclear.state.attempts[0].call.progress, seen.len()), (Progress::Unknown, 0));
    let (again, seen) = told(&unclear, found(mismatched()), 2_000);
    assert_eq!((again.status(), seen[0].0), (Status::Initial, "contradiction"));
    let (pending, _) = told(&again, found(ChargeAnswer::known(pending_fact())), 3_000);
    let (same, seen) = told(&pending, found(mismatched()), 70_000);
    assert_eq!((same.status(), seen[0].0), (Status::Pending, "contradiction"));
    let (once, seen) = told(&crate::pending(), found(mismatched()), 70_000);
    assert_eq!((once.status(), seen.len()), (Status::Pending, 0));
    let (_, seen) = told(&once, found(mismatched()), 80_000);
    assert_eq!(seen[0].0, "contradiction", "in the payment's life");
}

#[test]
fn what_the_acquirer_took_is_not_sent_again_after_a_strange_answer() {
    let opened = open(pix_order()).next.unwrap();
    let taken = after(&opened, found(ChargeAnswer::Accepted(Reference::none())), 2_000);
    for strange in [foreign(), mismatched()] {
        let answered = after(&taken, charge_answered(strange), 3_000);
        assert_eq!(answered.state.attempts[0].call.progress, Progress::Taken);
    }
}

fn contradicted() -> OperationAnswer {
    OperationAnswer::Contradicted("2.00 more were given back than before, not 40.00".into())
}

fn inquired(answer: OperationAnswer) -> Command {
    Command::OperationInquired { operation: ID, sending: 1, inquiring: asking_for(3_600_000), answer }
}

#[test]
fn sums_that_others_moved_are_an_exception_and_nothing_is_sent_again() {
    let asked = after(&paid(), requested(refund(4_000), None, 1), 3_000);
    let unclear =
        after(&asked, operated(ID, OperationAnswer::Failed(CallFailure::Unknown("?".into()))), 3_100);
    let cases = [(&asked, operated(ID, contradicted())), (&unclear, inquired(contradicted()))];
    for (payment, command) in cases {
        let (mut payment, seen) = told(payment, command, 4_000);
        assert_eq!(seen, [("contradiction", Some(ID.to_string()))]);
        assert_eq!(payment.operations[0].call.progress, Progress::Unknown);
        for _ in 0..8 {
            let due_ms = payment.due_at().unwrap().ms_since(START);
            let woken = payment.decide(Command::Wake, &at(due_ms)).unwrap();
            assert!(woken.effects.iter().all(|effect| !matches!(effect, Effect::Operate(..))), "{woken:?}");
            payment = woken.next.unwrap();
            let answered = payment.decide(inquired(OperationAnswer::NotFound), &at(due_ms + 100)).unwrap();
            let sends = answered.effects.iter().any(|effect| matches!(effect, Effect::Operate(..)));
            assert!(!sends && payment.operations[0].sent == 1, "it may have been done");
            payment = answered.next.unwrap_or(payment);
        }
        let resolved =
            Command::OperationResolved { operation: ID, verdict: quita_domain::operation::Verdict::Refused };
        assert_eq!(after(&payment, resolved, DAY).state.refundable_amount().cents(), 10_000);
        let done = after(&payment, inquired(OperationAnswer::Done), DAY);
        assert_eq!(done.state.refunded_amount().cents(), 4_000, "an answer that fits still counts");
    }
}

#[test]
fn a_late_word_that_it_never_left_sends_nothing_that_an_operator_was_told_of() {
    let asked = after(&paid(), requested(refund(4_000), None, 1), 3_000);
    let told_of = after(&asked, operated(ID, contradicted()), 4_000);
    for failure in [CallFailure::NotDelivered("too late to begin".into()), CallFailure::Withheld] {
        let answered = after(&told_of, operated(ID, OperationAnswer::Failed(failure)), 5_000);
        assert_eq!(answered.operations[0].call.progress, Progress::Unknown);
        let due_ms = answered.due_at().unwrap().ms_since(START);
        let woken = answered.decide(Command::Wake, &at(due_ms)).unwrap();
        assert!(matches!(woken.effects[..], [Effect::InquireOperation(..)]), "{woken:?}");
    }
}

#[test]
fn a_card_captured_in_part_at_the_acquirers_desk_is_paid_with_that() {
    let approved = after(&opened_card(false), notice(authorised()), 1_000);
    let (paid, seen) = told(&approved, notice(settled("s1", 6_000)), 2_000);
    assert_eq!((paid.status(), seen.len()), (Status::Paid, 0));
    assert_eq!(paid.state.captured_amount, Some(Money::from_cents(6_000)));
    assert_eq!(paid.state.refundable_amount(), Money::from_cents(6_000));
    let unclear = after(&opened_card(false), charge_answered(unknown()), 1_000);
    let Fact::Settled(with_approval) = settled("s1", 6_000) else { panic!() };
    let approval = Some(Approval { authorization_code: "123456".into() });
    let with_approval = Fact::Settled(Settlement { approval, ..with_approval });
    let (found, seen) = told(&unclear, found(ChargeAnswer::known(with_approval)), 2_000);
    assert_eq!((found.status(), found.history.len(), seen.len()), (Status::Paid, 2, 0));
    assert_eq!(found.state.captured_amount, Some(Money::from_cents(6_000)));
    let (_, seen) = told(&approved, notice(settled("s1", 10_001)), 2_000);
    assert_eq!(seen[0].0, "amount_mismatch", "more than was authorised");
    let capture = RequestedOperation::Capture(Some(Money::from_cents(7_000)));
    let asked = after(&approved, requested(capture, None, 1), 1_500);
    let (_, seen) = told(&asked, notice(settled("s1", 6_000)), 2_000);
    assert_eq!(seen[0].0, "amount_mismatch", "while one of ours is unclear it may be part of that");
    let never_left = after(&asked, operated(ID, OperationAnswer::Failed(CallFailure::Withheld)), 1_600);
    let (paid, seen) = told(&never_left, notice(settled("s1", 6_000)), 2_000);
    assert_eq!((paid.status(), seen.len()), (Status::Paid, 0));
    assert!(!never_left.query().operation_under_way && asked.query().operation_under_way);
    let ended = after(&paid, Command::Wake, 100_000);
    assert_eq!(ended.operations[0].state(), OperationState::Refused, "it is not sent any more");
}

#[test]
fn what_was_hinted_is_still_asked_for_after_a_strange_answer() {
    let hinted = after(
        &paid(),
        Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() },
        5_000,
    );
    let asked = after(&hinted, Command::Wake, 5_000);
    for answer in [foreign(), mismatched()] {
        let strange = Command::Inquired {
            attempt: AttemptNumber::FIRST,
            asked_at: asked.inquired_at,
            inquiring: None,
            answer,
        };
        assert_eq!(after(&asked, strange, 5_100).due_at(), Some(START.plus_ms(7_000)));
    }
}

#[test]
fn an_unclear_charge_is_still_asked_for_by_the_schedule_after_a_strange_answer() {
    let opened = open(pix_order()).next.unwrap();
    let unclear = after(&opened, charge_answered(unknown()), 100);
    let asked = after(&unclear, Command::Wake, 1_100);
    for strange in [foreign(), mismatched()] {
        assert_eq!(after(&asked, found(strange), 1_200).due_at(), asked.due_at());
    }
}
