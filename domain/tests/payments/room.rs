//! Limits of a payment's operations: the acquirer's refusals lock nobody out.
//! The document stays bounded.

use crate::*;

fn no_balance() -> OperationAnswer {
    OperationAnswer::Refused("no balance".into())
}

/// Asks for a refund of one cent under a key of its own, and has it answered.
fn refund_answered(payment: &Payment, number: u128, ms: u64, answer: OperationAnswer) -> Payment {
    let asked = after(payment, requested(refund(1), Some(&format!("k{number}")), number), ms);
    after(&asked, operated(operation_id(number), answer), ms)
}

/// A paid payment with this many refunds that the acquirer refused at once.
fn after_refusals(count: u128) -> Payment {
    (1..=count).fold(paid(), |payment, number| refund_answered(&payment, number, 3_000, no_balance()))
}

fn refused(payment: &Payment, number: u128, ms: u64) -> Refusal {
    payment.decide(requested(refund(1), None, number), &at(ms)).unwrap_err()
}

#[test]
fn refused_operations_do_not_use_up_the_hundred() {
    let mut payment = after_refusals(150);
    for number in 1_001..=1_100 {
        payment = refund_answered(&payment, number, 4_000, OperationAnswer::Done);
    }
    assert_eq!(payment.state.refunded_amount().cents(), 100);
    assert_eq!(refused(&payment, 2_000, 5_000), Refusal::TooManyOperations(100));
}

#[test]
fn a_refused_operation_is_a_replay_under_its_key_for_ever() {
    let payment = refund_answered(&after_refusals(150), 1_001, 4_000, OperationAnswer::Done);
    for number in [1, 75, 150] {
        let again = requested(refund(1), Some(&format!("k{number}")), 5_000);
        let again = payment.decide(again, &at(9_000)).unwrap();
        assert!(again.is_replay && again.next.is_none(), "{number}");
        assert_eq!(again.operation, Some(operation_id(number)));
        let other = requested(refund(2), Some(&format!("k{number}")), 5_000);
        assert_eq!(payment.decide(other, &at(9_000)).unwrap_err(), Refusal::KeyReused);
    }
}

#[test]
fn what_was_refused_hundreds_of_times_is_taken_again_after_pauses_that_grow() {
    let mut payment = after_refusals(200);
    let mut ms = 3_000;
    let mut waited_s = Vec::new();
    for number in 201..206 {
        let Refusal::RefusedTooOften { verb: "refund", until, .. } = refused(&payment, number, ms) else {
            panic!("it has to wait");
        };
        let next_ms = until.ms_since(START);
        assert!(matches!(refused(&payment, number, next_ms - 1), Refusal::RefusedTooOften { .. }));
        waited_s.push((next_ms - ms) / 1_000);
        payment = refund_answered(&payment, number, next_ms, no_balance());
        ms = next_ms;
    }
    assert_eq!(waited_s, [60, 120, 240, 480, 960]);
    let done = refund_answered(&payment, 300, ms + 1_920_000, OperationAnswer::Done);
    assert_eq!(done.state.refunded_amount().cents(), 1, "the balance was filled up");
}

#[test]
fn a_year_of_refusals_leaves_the_document_bounded() {
    let mut payment = after_refusals(200);
    let year_ms = 365 * crate::payments::time::DAY;
    let mut ms = 3_000;
    let mut number = 201;
    while ms < year_ms {
        ms = match payment.decide(requested(refund(1), None, number), &at(ms)) {
            Err(Refusal::RefusedTooOften { until, .. }) => until.ms_since(START),
            Err(refusal) => panic!("{refusal}"),
            Ok(_) => {
                payment = refund_answered(&payment, number, ms, no_balance());
                number += 1;
                ms
            }
        };
    }
    assert!(payment.operations.len() < 280, "{}", payment.operations.len());
    let size = serde_json::to_vec(&payment).unwrap().len();
    assert!(size < 10_000_000, "MongoDB holds 16 MB: {size}");
}

#[test]
fn a_reason_is_kept_up_to_two_hundred_characters() {
    let long = OperationAnswer::Refused("é".repeat(10_000));
    let payment = refund_answered(&paid(), 1, 3_000, long);
    assert_eq!(payment.operations[0].call.refusal, Some("é".repeat(200)));
    assert_eq!(payment.state.refunds[0].failure_reason, Some("é".repeat(200)));
}
