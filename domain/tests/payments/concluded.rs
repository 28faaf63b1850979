//! Charges that take no more money although what came in is not what was asked for: only a person ends their payments.

use quita_domain::payment::AMOUNT_MISMATCH;

use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::charge_answered;
use crate::*;

fn stated(facts: Vec<Fact>) -> ChargeAnswer {
    ChargeAnswer::Known(Statement { facts, reference: Reference::none() })
}

fn looked(payment: &Payment, answer: ChargeAnswer) -> Command {
    Command::Inquired { attempt: 1, asked_at: payment.inquired_at, inquiring: None, answer }
}

/// What the acquirer has of a charge for which this much came.
fn with_odd_money(cents: u64) -> ChargeAnswer {
    stated(vec![pending_fact(), settled("e1", cents), Fact::Concluded])
}

fn concluded() -> Payment {
    let opened = open(pix_order()).next.unwrap();
    let decision = opened.decide(charge_answered(with_odd_money(9_000)), &at(10)).unwrap();
    let kinds: Vec<_> = decision.discrepancies.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [DiscrepancyKind::AmountMismatch], "said once");
    reported(decision.next.unwrap(), 20)
}

#[test]
fn a_charge_that_concluded_with_other_money_stays_pending_and_is_asked_for_no_more() {
    let asked = after(&pending(), Command::Wake, 60_010);
    let found = asked.decide(looked(&asked, with_odd_money(9_000)), &at(60_100)).unwrap();
    assert_eq!(found.discrepancies[0].kind, DiscrepancyKind::AmountMismatch);
    for payment in [reported(found.next.unwrap(), 60_200), concluded()] {
        assert_eq!((payment.status(), payment.due_at()), (Status::Pending, None));
        assert!(!payment.state.attempts[0].outcome.is_open());
        assert_eq!(after(&payment, Command::Wake, 2 * DAY).status(), Status::Pending);
        assert_eq!(after(&payment, notice(Fact::Expired), 2 * DAY).status(), Status::Pending);
        let read: Payment = serde_json::from_str(&serde_json::to_string(&payment).unwrap()).unwrap();
        assert_eq!(read, payment);
    }
}

#[test]
fn a_hint_about_it_is_asked_for_once_and_ends_nothing() {
    let hinted = after(
        &concluded(),
        Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() },
        2 * DAY,
    );
    let asked = hinted.decide(Command::Wake, &at(2 * DAY + 5_000)).unwrap();
    assert!(asked.effects.contains(&Effect::Inquire(AcquirerName::new("first"), 1)));
    let asked = asked.next.unwrap();
    let found = asked.decide(looked(&asked, with_odd_money(9_000)), &at(2 * DAY + 5_100)).unwrap();
    assert_eq!(found.discrepancies[0].about.as_deref(), Some("e1"), "which is the same exception");
    let found = reported(found.next.unwrap(), 2 * DAY + 5_200);
    assert_eq!((found.status(), found.due_at()), (Status::Pending, None));
}

#[test]
fn one_that_concluded_without_any_money_is_told_to_an_operator_too() {
    let opened = open(pix_order()).next.unwrap();
    let answer = stated(vec![pending_fact(), Fact::Concluded]);
    let decision = opened.decide(charge_answered(answer), &at(10)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::AmountMismatch);
    assert_eq!(decision.next.unwrap().status(), Status::Pending);
}

#[test]
fn one_that_concluded_with_the_right_money_is_paid() {
    let answer = stated(vec![pending_fact(), settled("e1", 9_000), settled("e2", 10_000), Fact::Concluded]);
    let decision = open(pix_order()).next.unwrap().decide(charge_answered(answer), &at(10)).unwrap();
    assert_eq!(decision.discrepancies.len(), 1);
    assert_eq!(decision.next.unwrap().status(), Status::Paid);
    let told = paid().decide(notice(Fact::Concluded), &at(9_000)).unwrap();
    assert!(told.next.is_none() && told.discrepancies.is_empty());
}

#[test]
fn a_person_ends_it() {
    let ended = after(&concluded(), Command::MismatchEnded, DAY);
    assert_eq!(ended.status(), Status::Cancelled);
    assert_eq!(ended.state.status_reason.as_deref(), Some(AMOUNT_MISMATCH));
    assert_eq!(ended.due_at(), None, "the acquirer takes no more money for it");
    for payment in [pending(), paid(), ended] {
        assert_eq!(payment.decide(Command::MismatchEnded, &at(DAY)).unwrap_err(), Refusal::NotStuck);
    }
}
