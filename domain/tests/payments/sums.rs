//! An acquirer that tells operations by its sums alone: what an operation of ours hid, and what was asked before it was sent.

use quita_domain::acquiring::{CallFailure, ChargeAnswer, Fact, OperationAnswer, Reference, Statement};
use quita_domain::identity::OperationId;
use quita_domain::money::Money;
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::RequestedOperation;
use quita_domain::payment::{Command, Context, Effect, Payment};
use quita_domain::time::Timestamp;

use crate::payments::approved::looked;
use crate::payments::unknown_outcomes::charge_answered;
use crate::{
    asking_for, at, authorised, opened_card, operated, operation_id, paid, refund, requested, settled,
};

const ID: OperationId = operation_id(1);

fn in_turn(ms: u64) -> Context {
    Context { operates_in_turn: true, ..at(ms) }
}

fn decide(payment: &Payment, command: Command, ms: u64) -> Payment {
    payment.decide(command, &in_turn(ms)).unwrap().next.unwrap_or_else(|| payment.clone())
}

/// A paid one that its acquirer hinted about and was asked about, before a refund was sent.
fn asked_and_then_refunding() -> (Payment, Option<Timestamp>) {
    let acquirer = paid().acquirer().unwrap().clone();
    let hinted = decide(&paid(), Command::Hinted { acquirer, charge: Reference::none() }, 10_000);
    let asked = decide(&hinted, Command::Wake, 10_001);
    let asked_at = asked.inquired_at;
    assert_eq!(asked_at, Some(in_turn(10_001).now));
    (decide(&asked, requested(refund(1_000), None, 1), 10_010), asked_at)
}

/// The acquirer's sums say that this much went back.
fn answered(asked_at: Option<Timestamp>, cents: u64) -> Command {
    let total = Money::from_cents(cents);
    let facts = vec![Fact::RefundedInTotal { refund_id: format!("sum-{cents}"), total }];
    let answer = ChargeAnswer::Known(Statement { facts, reference: Reference::none() });
    Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring: None, answer }
}

#[test]
fn an_answer_from_before_a_refund_was_sent_does_not_count_that_refund_twice() {
    let (refunding, asked_at) = asked_and_then_refunding();
    let early = decide(&refunding, answered(asked_at, 1_000), 10_020);
    assert_eq!(early.state.refunds.len(), 1, "what went back may be what was just sent");
    let done = decide(&early, operated(ID, OperationAnswer::Done), 10_030);
    let late = decide(&done, answered(asked_at, 1_000), 10_040);
    assert_eq!(late.state.refunded_amount(), Money::from_cents(1_000));
}

#[test]
fn what_others_gave_back_beside_a_refund_of_ours_is_recorded() {
    let (refunding, _) = asked_and_then_refunding();
    let done = decide(&refunding, operated(ID, OperationAnswer::Done), 10_030);
    let again = decide(&done, Command::Wake, 12_100);
    let more = decide(&again, answered(again.inquired_at, 2_000), 12_200);
    assert_eq!(more.state.refunded_amount(), Money::from_cents(2_000), "by others, at the acquirer's desk");
    assert_eq!(more.check, None);
}

#[test]
fn of_two_questions_the_one_that_is_not_the_newest_tells_nothing_either() {
    let (refunding, asked_at) = asked_and_then_refunding();
    let done = decide(&refunding, operated(ID, OperationAnswer::Done), 10_030);
    let again = decide(&done, Command::Wake, 12_100);
    assert_ne!(again.inquired_at, asked_at);
    let late = decide(&again, answered(asked_at, 1_000), 12_200);
    assert_eq!(late.state.refunded_amount(), Money::from_cents(1_000));
}

#[test]
fn an_operation_that_leaves_together_with_a_question_hides_what_it_asks() {
    let acquirer = paid().acquirer().unwrap().clone();
    let withheld = OperationAnswer::Failed(CallFailure::Withheld);
    let waits =
        decide(&decide(&paid(), requested(refund(1_000), None, 1), 10_000), operated(ID, withheld), 10_010);
    let hinted = decide(&waits, Command::Hinted { acquirer, charge: Reference::none() }, 10_020);
    let both = hinted.decide(Command::Wake, &in_turn(60_000)).unwrap();
    let leaves = |wanted: fn(&Effect) -> bool| both.effects.iter().any(wanted);
    assert!(leaves(|effect| matches!(effect, Effect::Inquire(..))));
    assert!(leaves(|effect| matches!(effect, Effect::Operate(..))));
    let both = both.next.unwrap();
    let done = decide(&both, operated(ID, OperationAnswer::Done), 60_010);
    let answer = ChargeAnswer::known(settled("s1", 10_000));
    let attempt = AttemptNumber::FIRST;
    let asked_at = both.inquired_at;
    let told = Command::Inquired { attempt, asked_at, inquiring: None, answer };
    assert!(decide(&done, told, 60_020).check.is_some(), "the acquirer's sums were not read for it");
}

#[test]
fn what_is_told_late_of_a_refund_that_was_refused_may_be_the_next_one() {
    let (refunding, _) = asked_and_then_refunding();
    let refused = decide(&refunding, operated(ID, OperationAnswer::Refused("balance".into())), 10_030);
    let done = || Command::OperationInquired {
        operation: ID,
        sending: 1,
        inquiring: asking_for(0),
        answer: OperationAnswer::Done,
    };
    let alone = decide(&refused, done(), 10_040);
    assert_eq!(alone.state.refunded_amount(), Money::from_cents(1_000), "it was done all the same");
    let next = decide(&refused, requested(refund(1_000), None, 2), 15_000);
    for sent in [next.clone(), decide(&next, operated(operation_id(2), OperationAnswer::Done), 15_100)] {
        assert_eq!(decide(&sent, done(), 15_200), sent);
    }
}

#[test]
fn what_was_asked_while_a_refund_hid_it_is_asked_again_when_the_refund_has_ended() {
    let (refunding, _) = asked_and_then_refunding();
    let again = decide(&refunding, Command::Wake, 12_100);
    assert_ne!(again.inquired_at, refunding.inquired_at);
    let settled = ChargeAnswer::known(settled("s1", 10_000));
    let answered = |payment: &Payment| Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: payment.inquired_at,
        inquiring: None,
        answer: settled.clone(),
    };
    let hidden = decide(&again, answered(&again), 12_200);
    assert_eq!(hidden.check, None, "nothing is asked in vain while it is under way");
    let ended = decide(&hidden, operated(ID, OperationAnswer::Refused("no_balance".into())), 13_000);
    assert!(ended.check.is_some(), "somebody else may have given money back meanwhile");
    let asked = decide(&ended, Command::Wake, 15_100);
    assert_eq!(decide(&asked, answered(&asked), 15_200).check, None);
}

#[test]
fn what_a_capture_hid_is_not_forgotten_over_a_question_that_nobody_answers() {
    let decide = |payment: &Payment, command: Command, ms: u64| {
        let context = Context { reads_approved: true, ..in_turn(ms) };
        payment.decide(command, &context).unwrap().next.unwrap_or_else(|| payment.clone())
    };
    let approved = decide(&opened_card(false), charge_answered(ChargeAnswer::known(authorised())), 1_000);
    let acquirer = approved.acquirer().unwrap().clone();
    let capturing = decide(&approved, requested(RequestedOperation::Capture(None), None, 1), 2_000);
    let unclear = OperationAnswer::Failed(CallFailure::Unknown("HTTP 408".to_owned()));
    let unclear = decide(&capturing, operated(ID, unclear), 3_000);
    // Somebody charged it back, which is not told while it may not be captured yet.
    let hinted = decide(
        &decide(&unclear, Command::Hinted { acquirer, charge: Reference::none() }, 4_000),
        Command::Wake,
        4_001,
    );
    let told = decide(&hinted, looked(&hinted, authorised()), 4_100);
    let again = decide(&told, Command::Wake, 61_001);
    assert_ne!(again.inquired_at, told.inquired_at, "it is asked by the schedule, too");
    let done = decide(&again, operated(ID, OperationAnswer::Done), 62_000);
    let asked = done.decide(Command::Wake, &in_turn(66_000)).unwrap();
    assert!(asked.effects.iter().any(|effect| matches!(effect, Effect::Inquire(..))), "{:?}", done.check);
}
