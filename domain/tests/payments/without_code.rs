//! Charges that the acquirer has, and gives no code for: asked for once more, then withdrawn.

use crate::payments::unknown_outcomes::{charge_answered, found, unknown};
use crate::*;

fn without_code() -> ChargeAnswer {
    ChargeAnswer::WithoutCode(Reference::none().with("txid", "t1"))
}

/// Answered without a code, and asked once more in vain.
fn withdrawn() -> Decision {
    let taken = after(&open(pix_order()).next.unwrap(), charge_answered(without_code()), 500);
    assert_eq!(taken.status(), Status::Initial);
    assert_eq!(taken.due_at(), Some(START.plus_ms(10_500)), "it is asked for");
    let asked = after(&taken, Command::Wake, 10_500);
    asked.decide(found(without_code()), &at(10_600)).unwrap()
}

#[test]
fn a_charge_that_twice_has_no_code_is_withdrawn_and_its_payment_declined() {
    let decision = withdrawn();
    let payment = decision.next.unwrap();
    assert_eq!(
        (payment.status(), payment.state.status_reason.as_deref()),
        (Status::Declined, Some("no_code"))
    );
    let [operation] = payment.operations.as_slice() else { panic!("{:?}", payment.operations) };
    assert_eq!(operation.kind, quita_domain::operation::OperationKind::Cancel);
    assert!(decision.effects.contains(&Effect::Operate(AcquirerName::new("first"), operation.id)));
    assert_eq!(payment.state.attempts.len(), 1, "it goes nowhere else");
    assert!(!payment.state.attempts[0].call.is_open());
    assert_eq!(payment.query().reference.get("txid"), Some("t1"));
    let done = payment.decide(operated(operation.id, OperationAnswer::Done), &at(10_700)).unwrap();
    assert_eq!(done.discrepancies, []);
    assert_eq!(done.next.unwrap().due_at(), None);
}

#[test]
fn a_withdrawal_that_did_not_reach_the_acquirer_is_sent_again() {
    let payment = withdrawn().next.unwrap();
    let id = payment.operations[0].id;
    let away = OperationAnswer::Failed(CallFailure::NotDelivered("down".into()));
    let again = after(&payment, operated(id, away), 10_700);
    let woken = again.decide(Command::Wake, &at(20_000)).unwrap();
    assert!(woken.effects.contains(&Effect::Operate(AcquirerName::new("first"), id)), "{woken:?}");
}

#[test]
fn money_that_comes_for_it_anyway_is_an_exception() {
    let payment = withdrawn().next.unwrap();
    assert_eq!(discrepancy(&payment, notice(settled("s1", 10_000))), DiscrepancyKind::PaidAfterDecline);
    let code = payment.decide(found(ChargeAnswer::known(pending_fact())), &at(20_000)).unwrap();
    assert!(code.next.is_none() && code.discrepancies.is_empty(), "a code that comes now is shown to nobody");
}

#[test]
fn a_code_that_comes_when_it_is_asked_for_again_is_shown() {
    let taken = after(&open(pix_order()).next.unwrap(), charge_answered(without_code()), 500);
    let shown = after(&taken, found(ChargeAnswer::known(pending_fact())), 10_600);
    assert_eq!((shown.status(), shown.operations.len()), (Status::Pending, 0));
}

#[test]
fn the_first_answer_without_a_code_is_no_reason_to_withdraw_whoever_brings_it() {
    let opened = open(pix_order()).next.unwrap();
    let unclear = after(&opened, charge_answered(unknown()), 100);
    let accepted = after(&opened, charge_answered(ChargeAnswer::Accepted(Reference::none())), 100);
    for payment in [unclear, accepted] {
        let first = after(&payment, found(without_code()), 12_000);
        assert_eq!((first.status(), first.operations.len()), (Status::Initial, 0));
        let late = after(&first, charge_answered(without_code()), 12_100);
        assert_eq!(late.status(), Status::Initial, "the answer to the charge itself is from before");
        assert_eq!(after(&late, found(without_code()), 23_000).status(), Status::Declined);
    }
}

#[test]
fn what_a_notice_told_of_is_not_withdrawn() {
    let opened = open(pix_order()).next.unwrap();
    let paid = after(&opened, notice(settled("s1", 10_000)), 100);
    let mut payment = paid;
    for ms in [1_000, 12_000, 30_000] {
        payment = after(&payment, found(without_code()), ms);
    }
    assert_eq!((payment.status(), payment.operations.len()), (Status::Paid, 0));
}
