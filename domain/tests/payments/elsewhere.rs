//! Charges at acquirers that the payment has left: what they hold is given back.

use quita_domain::acquiring::{Holding, SecondCharge};
use quita_domain::operation::OperationKind;

use crate::payments::second::{
    MINUTE, by_name, captured, decide, decided, given_back, inquired, paid_by, sent_again, told, whole,
};
use crate::*;

const SECOND_TRY: u32 = 2;
const ELSEWHERE: u32 = 3;

pub(crate) fn at_first() -> AcquirerName {
    AcquirerName::new("first")
}

/// A payment that was sent to the first acquirer twice, was then certainly not delivered there, and went on to another.
pub(crate) fn gone_on(order: Order) -> Payment {
    let again = sent_again(order);
    let answer = ChargeAnswer::Failed(CallFailure::NotDelivered("401".into()));
    let attempt = AttemptNumber::new(SECOND_TRY);
    let moved = decided(&again, Command::ChargeAnswered { attempt, answer }, 36_000);
    assert_eq!(calls(&moved), [Effect::Charge(AcquirerName::new("second"))]);
    moved.next.unwrap()
}

/// The same, after the other acquirer has answered with this.
pub(crate) fn taken_elsewhere(order: Order, fact: Fact) -> Payment {
    let reference = Reference::none().with("chargeId", "other-1");
    let answer = ChargeAnswer::Known(Statement { facts: vec![fact], reference });
    let attempt = AttemptNumber::new(ELSEWHERE);
    decide(&gone_on(order), Command::ChargeAnswered { attempt, answer }, 37_000)
}

pub(crate) fn paid_elsewhere() -> Payment {
    let paid = taken_elsewhere(card_order(true), settled("other-1", 10_000));
    assert_eq!(paid.status(), Status::Paid);
    paid
}

/// Decides on the answer of the first acquirer, which names its charges.
pub(crate) fn learns(payment: &Payment, facts: Vec<Fact>, ms: u64) -> Decision {
    let command = inquired(payment, SECOND_TRY, told(facts, 1));
    let context = Context { charge_name: None, charge_name_there: Some("paymentId"), ..by_name(ms) };
    payment.decide(command, &context).unwrap()
}

/// Asks what is due, which is to be the first acquirer alone.
fn asks_there(payment: &Payment) -> Payment {
    let due = payment.second_look.as_ref().unwrap().at.ms_since(START);
    let asked = decided(payment, Command::Wake, due);
    let asks = Effect::Inquire(at_first(), AttemptNumber::new(SECOND_TRY));
    assert!(calls(&asked).contains(&asks), "{:?}", asked.effects);
    reported(asked.next.unwrap(), due)
}

#[test]
fn an_acquirer_that_was_left_in_doubt_is_asked_ten_minutes_and_an_hour_later() {
    let paid = paid_elsewhere();
    assert_eq!(paid.second_look.as_ref().unwrap().at, START.plus_ms(36_000 + 10 * MINUTE));
    let asked = asks_there(&paid);
    let again = asks_there(&asked);
    assert_eq!(again.second_look, None);
}

#[test]
fn money_that_turns_up_where_the_payment_was_believed_not_to_be_is_given_back_there_once() {
    let asked = asks_there(&paid_elsewhere());
    let found = learns(&asked, vec![captured(1)], 700_000);
    assert_eq!(found.discrepancies[0].kind, DiscrepancyKind::SecondCharge);
    assert!(
        found.discrepancies[0].detail.contains("at first, sale-1, holds 100.00"),
        "{:?}",
        found.discrepancies
    );
    let twice = reported(found.next.unwrap(), 700_000);
    let operation = &twice.operations[0];
    assert!(found.effects.contains(&Effect::Operate(at_first(), operation.id)), "{:?}", found.effects);
    assert_eq!(given_back(&twice), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
    let query = twice.query_for(operation);
    assert_eq!(query.attempt, AttemptNumber::new(SECOND_TRY));
    assert_eq!(query.reference.get("paymentId"), Some("sale-1"));
    let again = learns(&twice, vec![captured(1)], 701_000);
    assert!(!again.effects.iter().any(|effect| matches!(effect, Effect::Operate(..))), "once");
    let done = decide(&twice, operated(operation.id, OperationAnswer::Done), 702_000);
    assert_eq!((done.status(), done.state.refundable_amount().cents()), (Status::Paid, 10_000));
}

#[test]
fn the_question_about_it_tells_nothing_of_the_charge_that_counts() {
    let asked = asks_there(&paid_elsewhere());
    let query = asked.query_of(AttemptNumber::new(SECOND_TRY));
    assert_eq!((query.paid_amount, query.refunded_amount), (None, Money::ZERO));
    assert_eq!(asked.query().paid_amount, Some(Money::from_cents(10_000)));
}

#[test]
fn a_charge_that_is_being_given_back_and_looks_unpaid_is_not_withdrawn_too() {
    let asked = asks_there(&taken_elsewhere(pix_order(), settled("other-1", 10_000)));
    let twice = learns(&asked, vec![paid_by(1)], 700_000).next.unwrap();
    let again = learns(&twice, vec![pending_fact()], 701_000);
    assert!(again.discrepancies.is_empty(), "{:?}", again.discrepancies);
    assert_eq!(given_back(&twice), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
}

#[test]
fn a_limit_and_a_code_that_turn_up_there_are_released() {
    let approval = Approval { authorization_code: "654321".into() };
    for (order, taken, found) in [
        (card_order(false), Fact::Authorized(approval.clone()), Fact::Authorized(approval)),
        (pix_order(), settled("other-1", 10_000), pending_fact()),
    ] {
        let asked = asks_there(&taken_elsewhere(order, taken));
        let twice = learns(&asked, vec![found], 700_000).next.unwrap();
        let released = ("sale-1".to_owned(), OperationKind::Cancel, OperationState::Processing);
        assert_eq!(given_back(&twice), [released]);
    }
}

#[test]
fn what_went_back_there_already_is_not_given_back_again() {
    let asked = asks_there(&paid_elsewhere());
    let sums = |cents| Fact::RefundedInTotal { refund_id: "r".into(), total: Money::from_cents(cents) };
    let part = learns(&asked, vec![captured(1), sums(4_000)], 700_000).next.unwrap();
    let rest = OperationKind::Refund(Money::from_cents(6_000));
    assert_eq!(given_back(&part), [("sale-1".to_owned(), rest, OperationState::Processing)]);
    let all = learns(&asked, vec![captured(1), sums(10_000)], 700_000);
    assert!(all.discrepancies.is_empty(), "{:?}", all.discrepancies);
    let over = learns(&asked, vec![authorised_there(), Fact::Cancelled], 700_000);
    assert!(over.discrepancies.is_empty(), "{:?}", over.discrepancies);
}

fn authorised_there() -> Fact {
    Fact::Authorized(Approval { authorization_code: "654321".into() })
}

#[test]
fn a_dispute_about_it_is_left_to_a_person() {
    let asked = asks_there(&paid_elsewhere());
    let found = learns(&asked, vec![captured(1), charged_back("c1")], 700_000);
    assert_eq!(found.discrepancies[0].kind, DiscrepancyKind::Contradiction);
    assert_eq!(given_back(&found.next.unwrap()), []);
}

#[test]
fn every_further_charge_there_is_given_back_by_its_own_name() {
    let asked = asks_there(&paid_elsewhere());
    let reference = Reference::none().with("paymentId", "sale-9");
    let further = Fact::SecondCharge(SecondCharge { id: "sale-9".into(), reference, holds: Holding::Limit });
    let found = learns(&asked, vec![captured(1), further], 700_000).next.unwrap();
    let of = |id: &str, kind| (id.to_owned(), kind, OperationState::Processing);
    assert_eq!(given_back(&found), [of("sale-1", whole()), of("sale-9", OperationKind::Cancel)]);
}

#[test]
fn two_acquirers_of_one_account_show_one_charge_which_is_kept() {
    let asked = asks_there(&paid_elsewhere());
    let found = learns(&asked, vec![settled("other-1", 10_000)], 700_000);
    assert!(found.discrepancies.is_empty(), "{:?}", found.discrepancies);
}

#[test]
fn while_it_is_open_which_charge_counts_nothing_is_given_back() {
    let gone = gone_on(card_order(true));
    let hinted = decided(&gone, Command::Hinted { acquirer: at_first(), charge: Reference::none() }, 60_000);
    let asked = hinted.next.unwrap();
    let early = learns(&asked, vec![captured(1)], 61_000).next.unwrap();
    assert_eq!(given_back(&early), []);
    assert!(early.second_look.is_some(), "it is asked once more");
}

#[test]
fn money_there_is_reported_once_it_has_been_open_for_long_which_charge_counts() {
    let gone = gone_on(card_order(true));
    let hinted = decided(&gone, Command::Hinted { acquirer: at_first(), charge: Reference::none() }, 60_000);
    let asked = hinted.next.unwrap();
    for (held, told_at_last) in [
        (captured(1), Some("at first, sale-1, holds 100.00")),
        (authorised_there(), Some("at first, sale-1, holds the card's limit")),
        (pending_fact(), None),
    ] {
        let early = learns(&asked, vec![held.clone()], 36_000 + 6 * MINUTE - 1);
        assert!(early.discrepancies.is_empty(), "{:?}", early.discrepancies);
        let late = learns(&asked, vec![held], 36_000 + 6 * MINUTE);
        let told = late.discrepancies.iter().map(|found| (found.kind, found.about.as_deref()));
        let expected = told_at_last.map(|_| (DiscrepancyKind::SecondCharge, Some("sale-1")));
        assert_eq!(told.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        assert!(late.discrepancies.iter().all(|found| found.detail.contains(told_at_last.unwrap())));
        assert_eq!(given_back(&late.next.unwrap()), []);
    }
}

#[test]
fn no_answer_from_there_has_it_asked_every_hour_for_a_week_and_then_a_person_looks() {
    let mut payment = paid_elsewhere();
    let failed = || ChargeAnswer::Failed(CallFailure::Unknown("504".into()));
    let mut asked_times = 0;
    let told = loop {
        payment = asks_there(&payment);
        asked_times += 1;
        let now = payment.inquired_at.unwrap().ms_since(START);
        let decision = decided(&payment, inquired(&payment, SECOND_TRY, failed()), now + 20);
        if !decision.discrepancies.is_empty() {
            break decision;
        }
        payment = decision.next.unwrap_or(payment);
    };
    assert_eq!(told.discrepancies[0].kind, DiscrepancyKind::UnknownOutcome);
    assert!((168..=220).contains(&asked_times), "{asked_times}");
    assert_eq!(told.next.unwrap().second_look, None);
}

#[test]
fn money_that_a_notice_tells_of_is_asked_about_there() {
    let paid = paid_elsewhere();
    let told = decided(&paid, notice_of("first", captured(1)), 60_000);
    let asks = Effect::Inquire(at_first(), AttemptNumber::new(SECOND_TRY));
    let woken = decided(&told.next.unwrap(), Command::Wake, 60_000);
    assert!(calls(&woken).contains(&asks), "{:?}", woken.effects);
}
