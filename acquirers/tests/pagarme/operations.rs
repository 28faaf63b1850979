use quita_banks::pagarme::{Config, Status};
use quita_domain::acquiring::{CallFailure, ChargeQuery, OperationAnswer};
use quita_domain::identity::OperationId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::outbound_call::Progress;
use serde_json::json;

use crate::payment::*;
use crate::there::There;

#[tokio::test(start_paused = true)]
async fn a_held_card_is_captured_in_whole_or_in_part() {
    for (cents, kept) in [(15_700, 15_700), (10_000, 10_000)] {
        let there = There::open();
        let query = there.made(&uncaptured(15_700)).await;
        assert_eq!(there.adapter().operate(&query, &capture(cents)).await, OperationAnswer::Done);
        assert_eq!(there.only().kept_cents(), kept);
        assert_eq!(there.adapter().inquire_operation(&query, &capture(cents)).await, OperationAnswer::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_void_lets_go_and_never_gives_money_back() {
    let there = There::open();
    let query = there.made(&uncaptured(15_700)).await;
    assert_eq!(there.adapter().operate(&query, &cancel()).await, OperationAnswer::Done);
    assert_eq!(there.only().status, Status::Canceled);
    let there = There::open();
    let query = there.made(&uncaptured(15_700)).await;
    there.control(json!({ "do": "capture", "charge": CODE }));
    let answer = there.adapter().operate(&query, &cancel()).await;
    assert!(matches!(answer, OperationAnswer::Contradicted(_)), "{answer:?}");
    assert_eq!(there.only().kept_cents(), 15_700);
}

#[tokio::test(start_paused = true)]
async fn an_unpaid_pix_or_boleto_is_withdrawn_and_the_withdrawal_of_a_paid_one_is_refused() {
    for method in [Method::Pix, Method::Boleto] {
        let there = There::open();
        let query = there.made(&charge(method, 10_000)).await;
        assert_eq!(there.adapter().operate(&query, &cancel()).await, OperationAnswer::Done);
        let there = There::open();
        let query = there.made(&charge(method, 10_000)).await;
        there.control(json!({ "do": "pay", "charge": CODE }));
        let answer = there.adapter().operate(&query, &cancel()).await;
        assert!(matches!(answer, OperationAnswer::Refused(_)), "{answer:?}");
        assert_eq!(there.only().kept_cents(), 10_000);
    }
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_of_unknown_outcome_that_its_payer_crossed_is_refused_once_it_can_arrive_no_more() {
    let there = There::open();
    let query = there.made(&charge(Method::Pix, 10_000)).await;
    there.control(json!({ "do": "pay", "charge": CODE }));
    let adapter = there.adapter();
    let unclear = adapter.inquire_operation(&query, &cancel()).await;
    assert!(matches!(unclear, OperationAnswer::Failed(CallFailure::Unknown(_))), "{unclear:?}");
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    let answer = adapter.inquire_operation(&query, &cancel()).await;
    assert!(matches!(answer, OperationAnswer::Refused(_)), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_that_gave_back_what_its_payer_had_just_paid_is_refused_and_shows_as_a_refund() {
    let there = There::open();
    let query = there.made(&charge(Method::Pix, 10_000)).await;
    there.control(json!({ "do": "pay", "charge": CODE }));
    there.control(json!({ "do": "cancel", "charge": CODE }));
    let adapter = there.adapter();
    adapter.inquire_operation(&query, &cancel()).await;
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    let answer = adapter.inquire_operation(&query, &cancel()).await;
    assert!(matches!(answer, OperationAnswer::Refused(_)), "{answer:?}");
    assert_eq!(sums(&facts(adapter.inquire(&query).await)), (10_000, 10_000));
}

#[tokio::test(start_paused = true)]
async fn a_pix_is_withdrawn_at_most_eight_times_and_then_asked_for() {
    let there = There::open();
    let query = there.made(&charge(Method::Pix, 10_000)).await;
    let often = Operation { sent: 9, ..cancel() };
    assert_eq!(there.adapter().operate(&query, &often).await, OperationAnswer::NotFound);
    assert!(!there.left().iter().any(|what| what.starts_with("DELETE")));
}

#[tokio::test(start_paused = true)]
async fn money_goes_back_in_parts_by_the_sums_before() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    assert_eq!(there.adapter().operate(&query, &refund(700, 0)).await, OperationAnswer::Done);
    let next = Operation { id: OperationId::new(uuid::Uuid::from_u128(8)), ..refund(15_000, 700) };
    assert_eq!(there.adapter().operate(&query, &next).await, OperationAnswer::Done);
    let more = Operation { id: OperationId::new(uuid::Uuid::from_u128(9)), ..refund(1, 15_700) };
    let refused = there.adapter().operate(&query, &more).await;
    assert!(matches!(refused, OperationAnswer::Refused(_)), "{refused:?}");
    assert_eq!(there.only().kept_cents(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_pending_refund_is_accepted_until_it_is_done_or_fails() {
    for (fails, expected) in [(false, true), (true, false)] {
        let there = There::at(Config { refund_takes_ms: 60_000, ..Config::default() });
        let query = there.made(&charge(Method::CreditCard, 15_700)).await;
        there.control(json!({ "do": "plan", "charge": CODE, "plan": { "refundFailsLater": fails } }));
        assert_eq!(there.adapter().operate(&query, &refund(700, 0)).await, OperationAnswer::Accepted);
        let accepted = in_progress(Progress::Taken, refund(700, 0));
        assert_eq!(there.adapter().inquire_operation(&query, &accepted).await, OperationAnswer::Accepted);
        tokio::time::advance(std::time::Duration::from_secs(60)).await;
        let answer = there.adapter().inquire_operation(&query, &accepted).await;
        assert_eq!(answer == OperationAnswer::Done, expected, "{answer:?}");
        assert_eq!(matches!(answer, OperationAnswer::Refused(_)), fails, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_whose_answer_is_lost_is_found_by_the_sums_and_its_key_does_it_once() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    // The charge is read first.
    there.strike(json!([null, { "fault": "reset-after" }]));
    let lost = there.adapter().operate(&query, &refund(700, 0)).await;
    assert!(matches!(lost, OperationAnswer::Failed(CallFailure::Unknown(_))), "{lost:?}");
    assert_eq!(there.adapter().inquire_operation(&query, &refund(700, 0)).await, OperationAnswer::Done);
    let again = Operation { sent: 2, ..refund(700, 0) };
    assert_eq!(there.adapter().operate(&query, &again).await, OperationAnswer::Done);
    assert_eq!(there.only().canceled_cents, 700);
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_never_arrived_is_not_found_and_one_that_did_not_leave_had_no_effect() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.strike(json!([null, { "fault": "reset-before" }]));
    let lost = there.adapter().operate(&query, &refund(700, 0)).await;
    assert!(matches!(lost, OperationAnswer::Failed(CallFailure::Unknown(_))), "{lost:?}");
    assert_eq!(there.adapter().inquire_operation(&query, &refund(700, 0)).await, OperationAnswer::NotFound);
    there.strike(json!([{ "fault": "reset-before" }]));
    let unsent = there.adapter().operate(&query, &refund(700, 0)).await;
    assert!(matches!(unsent, OperationAnswer::Failed(CallFailure::NotDelivered(_))), "{unsent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_held_against_the_sums() {
    for (was_done, expected) in [(true, "done"), (false, "refused")] {
        let there = There::open();
        let query = there.made(&charge(Method::CreditCard, 15_700)).await;
        let failure = json!({ "cancel": { "status": 412, "wasDone": was_done } });
        there.control(json!({ "do": "plan", "charge": CODE, "plan": failure }));
        let answer = there.adapter().operate(&query, &refund(700, 0)).await;
        let told = match answer {
            OperationAnswer::Done => "done",
            OperationAnswer::Refused(_) => "refused",
            other => panic!("{other:?}"),
        };
        assert_eq!(told, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refund_that_failed_is_refused_although_our_clock_was_ahead_when_it_was_requested() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.control(json!({ "do": "plan", "charge": CODE, "plan": { "refundFailsLater": true } }));
    assert_eq!(there.adapter().operate(&query, &refund(700, 0)).await, OperationAnswer::Accepted);
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let mut taken = in_progress(Progress::Taken, refund(700, 0));
    taken.requested_at = taken.requested_at.plus_ms(3 * 3_600_000);
    let answer = there.adapter().inquire_operation(&query, &taken).await;
    assert_eq!(answer, OperationAnswer::Accepted, "the failure may be an earlier one's");
    taken.call.inquiries = 30;
    let answer = there.adapter().inquire_operation(&query, &taken).await;
    assert!(matches!(answer, OperationAnswer::Refused(_)), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_again_and_can_not_be_read_afterwards_is_unknown_and_never_unsent() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.strike(json!([null, null, { "fault": "error-before", "status": 401 }]));
    let again = Operation { sent: 2, ..refund(700, 0) };
    let answer = there.adapter().operate(&query, &again).await;
    assert!(matches!(answer, OperationAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
    assert_eq!(there.only().kept_cents(), 15_000, "it was done");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_unclear_and_never_a_refusal() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.strike(json!([null, { "fault": "error-before", "status": 409 }]));
    let answer = there.adapter().operate(&query, &refund(700, 0)).await;
    assert!(matches!(answer, OperationAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn sums_that_others_moved_contradict_it() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.control(json!({ "do": "cancel", "charge": CODE, "amountCents": 100 }));
    let answer = there.adapter().inquire_operation(&query, &refund(700, 0)).await;
    assert!(matches!(answer, OperationAnswer::Contradicted(_)), "{answer:?}");
    let total = facts(there.adapter().inquire(&query).await);
    assert_eq!(sums(&total), (15_700, 100));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_where_the_sums_moved_before_it_was_asked_for() {
    for desk_cents in [700, 100] {
        let there = There::open();
        let query = there.made(&charge(Method::CreditCard, 15_700)).await;
        there.control(json!({ "do": "cancel", "charge": CODE, "amountCents": desk_cents }));
        let answer = there.adapter().operate(&query, &refund(700, 0)).await;
        assert!(matches!(answer, OperationAnswer::Contradicted(_)), "{answer:?}");
        let again = Operation { sent: 2, ..refund(700, 0) };
        let answer = there.adapter().operate(&query, &again).await;
        assert_eq!(answer == OperationAnswer::Done, desk_cents == 700, "a key that is forgotten: {answer:?}");
        assert!(!there.left().iter().any(|what| what.starts_with("DELETE")), "{:?}", there.left());
    }
}

#[tokio::test(start_paused = true)]
async fn a_refund_that_never_left_is_refused_where_less_than_it_is_left() {
    for (desk_cents, cents) in [(15_700, 700), (15_700, 15_700), (15_100, 700)] {
        let there = There::open();
        let query = there.made(&charge(Method::CreditCard, 15_700)).await;
        there.control(json!({ "do": "cancel", "charge": CODE, "amountCents": desk_cents }));
        let answer = there.adapter().operate(&query, &refund(cents, 0)).await;
        assert!(matches!(answer, OperationAnswer::Refused(_)), "{answer:?}");
        let again = Operation { sent: 2, ..refund(cents, 0) };
        let answer = there.adapter().operate(&query, &again).await;
        assert!(!matches!(answer, OperationAnswer::Refused(_)), "it may have been done: {answer:?}");
        assert!(!there.left().iter().any(|what| what.starts_with("DELETE")), "{:?}", there.left());
    }
}

#[tokio::test(start_paused = true)]
async fn the_failure_of_a_refund_is_not_that_of_the_next_one_while_that_may_still_arrive() {
    let there = There::at(Config { refund_takes_ms: 60_000, ..Config::default() });
    let adapter = there.adapter();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.control(json!({ "do": "plan", "charge": CODE, "plan": { "refundFailsLater": true } }));
    assert_eq!(adapter.operate(&query, &refund(700, 0)).await, OperationAnswer::Accepted);
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let next = Operation { id: OperationId::new(uuid::Uuid::from_u128(8)), ..refund(700, 0) };
    there.strike(json!([null, { "fault": "reset-before" }]));
    let lost = adapter.operate(&query, &next).await;
    assert!(matches!(lost, OperationAnswer::Failed(CallFailure::Unknown(_))), "{lost:?}");
    let unknown = in_progress(Progress::Unknown, next);
    assert_eq!(adapter.inquire_operation(&query, &unknown).await, OperationAnswer::NotFound);
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    let answer = adapter.inquire_operation(&query, &unknown).await;
    assert!(matches!(answer, OperationAnswer::Refused(_)), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_boleto_is_never_given_back() {
    let there = There::open();
    let query = there.made(&charge(Method::Boleto, 10_000)).await;
    there.control(json!({ "do": "pay", "charge": CODE }));
    let paid = ChargeQuery { paid_amount: Some(Money::from_cents(10_000)), ..query };
    let answer = there.adapter().operate(&paid, &refund(700, 0)).await;
    assert_eq!(answer, OperationAnswer::Refused("refund_unsupported".into()));
}
