//! Numbers of slips that an acquirer leaves to us, and slips of others under them; money of an unknown amount.

use crate::payments::unknown_outcomes::{charge_answered, found, found_after, unknown};
use crate::*;

/// Opened, with this number for its slip.
fn numbered(number: u32) -> Payment {
    let mut payment = open(pix_order()).next.unwrap();
    assert!(payment.lacks_number());
    payment.allot(number);
    payment
}

fn numbers(payment: &Payment) -> Vec<Option<u32>> {
    payment.state.attempts.iter().map(|attempt| attempt.our_number).collect()
}

fn taken() -> ChargeAnswer {
    ChargeAnswer::NumberTaken("the slip is of OUTRO7".into())
}

#[test]
fn the_number_is_in_every_query_about_the_charge() {
    let payment = numbered(7);
    assert!(!payment.lacks_number());
    assert_eq!(
        (payment.query().our_number, payment.query_of(AttemptNumber::FIRST).our_number),
        (Some(7), Some(7))
    );
    let pending = after(&payment, charge_answered(ChargeAnswer::known(pending_fact())), 500);
    assert_eq!((pending.status(), pending.query().our_number), (Status::Pending, Some(7)));
}

#[test]
fn a_charge_that_is_sent_again_keeps_its_number_and_another_acquirer_gets_none() {
    let asked = after(&numbered(7), charge_answered(unknown()), 100);
    let once = after(&asked, found_after(20_000, ChargeAnswer::NotFound), 30_010);
    let again = after(&once, found_after(20_000, ChargeAnswer::NotFound), 49_010);
    assert_eq!(numbers(&again), [Some(7), Some(7)], "the first sending may still arrive");
    let elsewhere = after(&numbered(7), charge_answered(ChargeAnswer::Refused("no".into())), 100);
    assert_eq!(elsewhere.acquirer().map(AcquirerName::as_str), Some("second"));
    assert_eq!(numbers(&elsewhere), [Some(7), None]);
}

#[test]
fn a_number_that_is_taken_is_skipped_once_and_the_same_acquirer_gets_the_next_charge() {
    for payment in [numbered(7), after(&numbered(7), charge_answered(unknown()), 100)] {
        let command = if payment.revision == 1 { charge_answered(taken()) } else { found(taken()) };
        let decision = payment.decide(command, &at(12_000)).unwrap();
        let kinds: Vec<_> =
            decision.discrepancies.iter().map(|one| (one.kind, one.about.as_deref())).collect();
        assert_eq!(kinds, [(DiscrepancyKind::NumberTaken, Some("7"))]);
        assert!(decision.effects.contains(&Effect::Charge(AcquirerName::new("first"))), "{decision:?}");
        let next = decision.next.unwrap();
        assert!(next.lacks_number());
        assert_eq!((numbers(&next), next.status()), (vec![None, None], Status::Initial));
        assert_eq!(next.state.attempts[0].call.progress, Progress::Ended(ChargeEnd::NotDelivered));
    }
}

#[test]
fn a_bank_that_has_taken_every_number_is_given_up() {
    let mut payment = numbered(1);
    for number in 2..=8 {
        payment = after(&payment, charge_answered_as(number - 1, taken()), 100 * u64::from(number));
        payment.allot(number);
    }
    let ended = after(&payment, charge_answered_as(8, taken()), 2_000);
    let reason = ended.state.status_reason.as_deref();
    assert_eq!((ended.status(), reason), (Status::Declined, Some("acquirer_refused")));
}

fn charge_answered_as(attempt: u32, answer: ChargeAnswer) -> Command {
    Command::ChargeAnswered { attempt: AttemptNumber::new(attempt), answer }
}

#[test]
fn somebody_elses_slip_under_the_number_of_a_charge_that_waits_is_an_exception_and_changes_nothing() {
    let pending = after(&numbered(7), charge_answered(ChargeAnswer::known(pending_fact())), 500);
    let decision = pending.decide(found(taken()), &at(12_000)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::ForeignCharge);
    let next = decision.next.unwrap_or(pending);
    assert_eq!((numbers(&next), next.status()), (vec![Some(7)], Status::Pending));
}

#[test]
fn a_charge_from_before_numbers_reads_back_and_one_without_a_number_is_stored_as_before() {
    let payment = open(pix_order()).next.unwrap();
    let stored = serde_json::to_value(&payment).unwrap();
    assert!(!stored.to_string().contains("ourNumber"), "{stored}");
    assert_eq!(serde_json::from_value::<Payment>(stored).unwrap(), payment);
    let numbered = numbered(7);
    let stored = serde_json::to_value(&numbered).unwrap();
    assert_eq!(stored["state"]["attempts"][0]["ourNumber"], 7);
    assert_eq!(serde_json::from_value::<Payment>(stored).unwrap(), numbered);
}

#[test]
fn money_of_an_unknown_amount_is_asked_for_again_and_reported_the_second_time() {
    let stated = || ChargeAnswer::known(Fact::AmountUnknown);
    let pending = after(&numbered(7), charge_answered(ChargeAnswer::known(pending_fact())), 500);
    let first = pending.decide(found(stated()), &at(12_000)).unwrap();
    assert_eq!(first.discrepancies, []);
    let first = first.next.unwrap();
    assert_eq!((first.status(), first.due_at()), (Status::Pending, Some(START.plus_ms(14_000))));
    let second = first.decide(found(stated()), &at(14_100)).unwrap();
    assert_eq!(second.discrepancies[0].kind, DiscrepancyKind::AmountUnknown);
    let second = second.next.unwrap();
    assert_eq!(second.status(), Status::Pending);
    let paid = after(&second, found(ChargeAnswer::known(settled("s1", 10_000))), 20_000);
    assert_eq!(paid.status(), Status::Paid);
}

#[test]
fn money_of_an_unknown_amount_keeps_a_payment_from_expiring() {
    let stated = || ChargeAnswer::known(Fact::AmountUnknown);
    let pending = after(&numbered(7), charge_answered(ChargeAnswer::known(pending_fact())), 500);
    let over_ms = 30 * 24 * 3_600_000;
    let first = after(&pending, found(stated()), over_ms);
    let second = after(&first, found(stated()), over_ms + 60_000);
    assert_eq!((first.status(), second.status()), (Status::Pending, Status::Pending));
    let open = after(&second, found(ChargeAnswer::known(pending_fact())), over_ms + 120_000);
    assert_eq!(open.status(), Status::Expired, "without money it is over");
}

#[test]
fn money_of_an_unknown_amount_for_a_declined_payment_is_reported() {
    let mut payment = numbered(1);
    for number in 2..=8 {
        payment = after(&payment, charge_answered_as(number - 1, taken()), 100 * u64::from(number));
        payment.allot(number);
    }
    let declined = after(&payment, charge_answered_as(8, taken()), 2_000);
    assert_eq!(declined.status(), Status::Declined);
    let stated = || notice(Fact::AmountUnknown);
    let once = after(&declined, stated(), 10_000);
    let twice = once.decide(stated(), &at(20_000)).unwrap();
    assert_eq!(twice.discrepancies[0].kind, DiscrepancyKind::AmountUnknown);
}

#[test]
fn a_slip_without_its_pix_code_is_an_exception_and_can_be_paid() {
    let facts = vec![pending_fact(), Fact::PixCodeMissing];
    let answer = ChargeAnswer::Known(Statement { facts, reference: Reference::none() });
    let decision = numbered(7).decide(charge_answered(answer), &at(500)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::PixCodeMissing);
    assert_eq!(decision.next.unwrap().status(), Status::Pending);
}
