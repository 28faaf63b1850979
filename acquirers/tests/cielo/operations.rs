//! Captures, voids and refunds: their answers, and the sums that tell what became of them.

use quita_domain::acquiring::{CallFailure, ChargeQuery, OperationAnswer};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::outbound_call::Progress;
use serde_json::{Value, json};

use crate::bank::{Bank, Fault};
use crate::payment::*;
use crate::scripted::{Scripted, json, raw};

fn is_unknown(answer: &OperationAnswer) -> bool {
    matches!(answer, OperationAnswer::Failed(CallFailure::Unknown(_)))
}

fn voided() -> Operation {
    operation(OperationKind::Cancel)
}

/// A card that is authorised at this bank, as the service then asks about it.
async fn authorised(bank: &Bank) -> ChargeQuery {
    let answer = adapter(bank.factory()).charge(&uncaptured(10_000)).await;
    let reference = statement(answer).reference;
    ChargeQuery { reference, ..uncaptured(10_000).query }
}

async fn captured(bank: &Bank) -> ChargeQuery {
    let query = authorised(bank).await;
    assert_eq!(adapter(bank.factory()).operate(&query, &capture(10_000)).await, OperationAnswer::Done);
    ChargeQuery { paid_amount: Some(Money::from_cents(10_000)), ..query }
}

#[tokio::test(start_paused = true)]
async fn an_authorisation_is_captured_in_part_and_refunded_piece_by_piece() {
    let bank = Bank::default();
    let query = authorised(&bank).await;
    let cielo = adapter(bank.factory());
    assert_eq!(cielo.operate(&query, &capture(6_000)).await, OperationAnswer::Done);
    assert_eq!(cielo.operate(&query, &refund(1_000)).await, OperationAnswer::Done);
    assert_eq!(cielo.operate(&query, &refund(5_000)).await, OperationAnswer::Done);
    let sale = bank.only_sale();
    assert_eq!((sale.captured, sale.voided, sale.status), (6_000, 6_000, 11));
    let calls =
        bank.books(|books| books.calls.iter().skip(1).map(|(_, call)| call.clone()).collect::<Vec<_>>());
    let expected = [("capture", 6000), ("void", 1000), ("void", 5000)]
        .map(|(what, amount)| format!("PUT sales/{}/{what}?amount={amount}", sale.payment_id));
    assert_eq!(calls, expected);
}

#[tokio::test(start_paused = true)]
async fn an_authorisation_is_voided_whole() {
    let bank = Bank::default();
    let query = authorised(&bank).await;
    assert_eq!(adapter(bank.factory()).operate(&query, &voided()).await, OperationAnswer::Done);
    assert_eq!(bank.only_sale().status, 10);
}

#[tokio::test(start_paused = true)]
async fn whatever_happens_to_the_answer_the_sums_tell_what_became_of_it() {
    for fault in [Fault::Before, Fault::After, Fault::Answers(500), Fault::Answers(200), Fault::Answers(408)]
    {
        for wanted in [capture(10_000), capture(4_000), voided(), refund(10_000), refund(300)] {
            let bank = Bank::default();
            let query = match wanted.kind {
                OperationKind::Refund(_) => captured(&bank).await,
                OperationKind::Cancel | OperationKind::Capture(_) => authorised(&bank).await,
            };
            let cielo = adapter(bank.factory());
            bank.faults([fault]);
            let answer = cielo.operate(&query, &wanted).await;
            assert!(is_unknown(&answer), "{fault:?} {wanted:?} {answer:?}");
            let expected =
                if fault == Fault::Before { OperationAnswer::NotFound } else { OperationAnswer::Done };
            assert_eq!(cielo.inquire_operation(&query, &wanted).await, expected, "{fault:?} {wanted:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_refund_of_the_same_amount_is_told_from_the_first() {
    let bank = Bank::default();
    let query = captured(&bank).await;
    let cielo = adapter(bank.factory());
    assert_eq!(cielo.operate(&query, &refund(1_000)).await, OperationAnswer::Done);
    let second = Operation { before: Money::from_cents(1_000), ..refund(1_000) };
    assert_eq!(cielo.inquire_operation(&query, &second).await, OperationAnswer::NotFound);
    bank.faults([Fault::After]);
    assert!(is_unknown(&cielo.operate(&query, &second).await));
    assert_eq!(cielo.inquire_operation(&query, &second).await, OperationAnswer::Done);
    assert_eq!(bank.only_sale().voided, 2_000);
}

#[tokio::test(start_paused = true)]
async fn sums_that_moved_by_anything_else_contradict() {
    let contradicts = |answer: OperationAnswer| matches!(answer, OperationAnswer::Contradicted(_));
    let bank = Bank::default();
    let query = captured(&bank).await;
    let cielo = adapter(bank.factory());
    bank.books(|books| books.sales[0].voided = 700);
    assert!(contradicts(cielo.inquire_operation(&query, &refund(300)).await));
    assert!(contradicts(cielo.inquire_operation(&query, &voided()).await), "a void of what was captured");
    assert!(contradicts(cielo.inquire_operation(&query, &capture(4_000)).await), "captured otherwise");
    bank.books(|books| books.sales[0].voided = 0);
    let less = Operation { before: Money::from_cents(500), ..refund(300) };
    assert!(contradicts(cielo.inquire_operation(&query, &less).await), "less than there was");
}

#[tokio::test(start_paused = true)]
async fn a_capture_of_what_was_voided_at_cielo_is_refused() {
    let bank = Bank::default();
    let query = authorised(&bank).await;
    bank.books(|books| (books.sales[0].status, books.sales[0].voided) = (10, 10_000));
    let cielo = adapter(bank.factory());
    assert!(matches!(cielo.inquire_operation(&query, &capture(10_000)).await, OperationAnswer::Refused(_)));
    let answer = cielo.operate(&query, &capture(10_000)).await;
    assert_eq!(answer, OperationAnswer::Refused("308: Transaction not available to capture".into()));
}

/// A sale with these sums, as it is read.
fn read(method: Method, captured: u64, voided: u64) -> Value {
    let status = if captured > 0 && voided == captured { 11 } else { 2 };
    json!({"MerchantOrderId": ORDER, "Payment": {
        "PaymentId": SALE, "Type": if method == Method::Pix { "Pix" } else { "CreditCard" }, "Amount": 10000,
        "CapturedAmount": captured, "Status": status, "VoidedAmount": voided,
    }})
}

/// Meaning of this answer to a void. Nothing went back, should the sums be asked for.
async fn void_answered(status: u64, code: &Value, wanted: &Operation) -> OperationAnswer {
    let body = json!({"Status": status, "ReturnCode": code, "ReturnMessage": "said"});
    let exchange = Scripted::with([json(200, &body), json(200, &read(Method::CreditCard, 10_000, 0))]);
    let mut query = named(query(Method::CreditCard, 10_000), SALE);
    query.paid_amount = Some(Money::from_cents(10_000));
    adapter(exchange.factory()).operate(&query, wanted).await
}

#[tokio::test(start_paused = true)]
async fn the_codes_of_a_void_decide() {
    for code in [json!("0"), json!("00"), json!(0)] {
        assert_eq!(void_answered(2, &code, &refund(300)).await, OperationAnswer::Done, "{code}");
    }
    for code in [json!("0"), json!("00"), json!(0), json!("9"), json!("09")] {
        assert_eq!(void_answered(11, &code, &refund(10_000)).await, OperationAnswer::Done, "{code}");
        assert_eq!(void_answered(10, &code, &voided()).await, OperationAnswer::Done, "{code}");
    }
    assert!(is_unknown(&void_answered(2, &json!("9"), &refund(300)).await), "the status does not say so");
    for code in [json!("10"), json!(223), json!("98"), json!("475"), json!("504")] {
        assert!(is_unknown(&void_answered(2, &code, &refund(300)).await), "{code}");
        assert!(is_unknown(&void_answered(10, &code, &voided()).await), "{code}");
    }
    for code in ["102", "101", "40", "51", "55", "72", "76", "5", "57", "97", "99", "ZZ"] {
        let answer = void_answered(2, &json!(code), &refund(300)).await;
        // The sums may show later that it was done.
        assert_eq!(answer, OperationAnswer::RefusedPerhaps(format!("{code}: said")));
    }
    assert!(
        is_unknown(&void_answered(11, &json!("ZZ"), &refund(10_000)).await),
        "status and code do not fit"
    );
    assert!(is_unknown(&void_answered(2, &json!(null), &refund(300)).await), "it says nothing");
    assert_eq!(void_answered(11, &json!(null), &refund(10_000)).await, OperationAnswer::Done);
    assert!(
        is_unknown(&void_answered(11, &json!(null), &refund(300)).await),
        "more went back than was asked for"
    );
}

#[tokio::test(start_paused = true)]
async fn whatever_is_no_success_is_held_against_the_sums_before_it_counts_as_refused() {
    let codes = ["5", "57", "97", "99", "101", "102", "ZZ", "1"];
    let answers =
        codes.map(|code| json(200, &json!({"Status": 2, "ReturnCode": code, "ReturnMessage": "said"})));
    let arrays = [400, 404, 422].map(|status| json(status, &json!([{"Code": 309, "Message": "said"}])));
    for method in [Method::CreditCard, Method::Pix] {
        for answer in answers.iter().chain(&arrays) {
            for (voided, expected) in [(300, Some(OperationAnswer::Done)), (0, None)] {
                let exchange = Scripted::with([answer.clone(), json(200, &read(method, 10_000, voided))]);
                let mut query = named(query(method, 10_000), SALE);
                query.paid_amount = Some(Money::from_cents(10_000));
                let told = adapter(exchange.factory()).operate(&query, &refund(300)).await;
                let is_right = match (&told, &expected) {
                    (told, Some(expected)) => told == expected,
                    (OperationAnswer::Refused(_) | OperationAnswer::RefusedPerhaps(_), None) => true,
                    _ => false,
                };
                assert!(is_right, "{method:?} {answer:?} {voided}: {told:?}");
                assert_eq!(exchange.urls().len(), 2, "it is asked for once");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_whose_sums_can_not_be_read_or_may_show_late_is_none_yet() {
    let refused = |code: &str| json(200, &json!({"Status": 2, "ReturnCode": code, "ReturnMessage": "said"}));
    let perhaps = |code: &str| OperationAnswer::RefusedPerhaps(format!("{code}: said"));
    let told = async |method, answers: Vec<_>| {
        let mut query = named(query(method, 10_000), SALE);
        query.paid_amount = Some(Money::from_cents(10_000));
        adapter(Scripted::with(answers).factory()).operate(&query, &refund(300)).await
    };
    let card = Method::CreditCard;
    assert_eq!(told(card, vec![refused("102"), raw(500, b"")]).await, perhaps("102"));
    assert_eq!(told(card, vec![refused("99"), raw(404, b"")]).await, perhaps("99"));
    let stayed = || json(200, &read(Method::Pix, 10_000, 0));
    assert_eq!(told(Method::Pix, vec![refused("99"), stayed()]).await, perhaps("99"), "a PIX shows it late");
    let array = || json(400, &json!([{"Code": 309, "Message": "said"}]));
    let whole = OperationAnswer::Refused("309: said".into());
    assert_eq!(told(Method::Pix, vec![array(), stayed()]).await, whole, "the request itself was refused");
}

#[tokio::test(start_paused = true)]
async fn a_capture_that_failed_is_held_against_the_sums_too() {
    for (captured, expected) in
        [(10_000, OperationAnswer::Done), (0, OperationAnswer::Refused("57: said".into()))]
    {
        let failed = json!({"Status": 1, "ReturnCode": "57", "ReturnMessage": "said"});
        let mut sale = read(Method::CreditCard, captured, 0);
        sale["Payment"]["Status"] = json!(if captured > 0 { 2 } else { 1 });
        let exchange = Scripted::with([json(200, &failed), json(200, &sale)]);
        let query = named(query(Method::CreditCard, 10_000), SALE);
        let told = adapter(exchange.factory()).operate(&query, &capture(10_000)).await;
        assert_eq!(told, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_of_a_capture_decides() {
    let answered = |status: Value, code: &'static str| async move {
        let body = json!({"Status": status, "ReturnCode": code, "ReturnMessage": "said"});
        let mut held = read(Method::CreditCard, 0, 0);
        held["Payment"]["Status"] = json!(1);
        let exchange = Scripted::with([json(200, &body), json(200, &held)]);
        adapter(exchange.factory())
            .operate(&named(query(Method::CreditCard, 10_000), SALE), &capture(10_000))
            .await
    };
    assert_eq!(answered(json!("2"), "6").await, OperationAnswer::Done);
    assert_eq!(answered(json!(1), "51").await, OperationAnswer::Refused("51: said".into()));
    assert_eq!(answered(json!(3), "05").await, OperationAnswer::Refused("05: said".into()));
    for (status, code) in [
        (json!(1), "6"),
        (json!(1), ""),
        (json!(1), "475"),
        (json!(0), "51"),
        (json!(null), "6"),
        (json!(2), "57"),
    ] {
        assert!(is_unknown(&answered(status.clone(), code).await), "{status} {code}");
    }
}

#[tokio::test]
async fn a_refund_of_a_pix_that_is_on_its_way_is_accepted_until_it_is_there() {
    let waits = json!({"Status": 12, "ReturnCode": "0"});
    let read = |status: u64, voided: u64| {
        json!({"MerchantOrderId": ORDER, "Payment": {
            "PaymentId": SALE, "Type": "Pix", "Amount": 10000, "CapturedAmount": 10000, "Status": status, "VoidedAmount": voided,
        }})
    };
    let exchange = Scripted::with([
        json(200, &waits),
        json(200, &read(12, 0)),
        json(200, &read(2, 0)),
        json(200, &read(11, 10_000)),
    ]);
    let cielo = adapter(exchange.factory());
    let mut query = named(query(Method::Pix, 10_000), SALE);
    query.paid_amount = Some(Money::from_cents(10_000));
    tokio::time::pause();
    assert_eq!(cielo.operate(&query, &refund(10_000)).await, OperationAnswer::Accepted);
    let accepted = in_progress(Progress::Taken, refund(10_000));
    assert_eq!(cielo.inquire_operation(&query, &accepted).await, OperationAnswer::Accepted);
    assert_eq!(cielo.inquire_operation(&query, &accepted).await, OperationAnswer::Accepted);
    assert_eq!(cielo.inquire_operation(&query, &accepted).await, OperationAnswer::Done);
}

#[tokio::test(start_paused = true)]
async fn explicit_errors_refuse_and_the_rest_is_unclear_or_never_left() {
    let answered = |answer| async move {
        let exchange = Scripted::with([answer, json(200, &read(Method::CreditCard, 10_000, 0))]);
        adapter(exchange.factory())
            .operate(&named(query(Method::CreditCard, 10_000), SALE), &refund(300))
            .await
    };
    let array = json!([{"Code": 309, "Message": "Transaction not available to void"}]);
    let refused = OperationAnswer::Refused("309: Transaction not available to void".into());
    assert_eq!(answered(json(400, &array)).await, refused);
    assert_eq!(answered(raw(404, b"")).await, OperationAnswer::Refused("HTTP 404".into()));
    for status in [401, 403] {
        let answer = answered(raw(status, b"")).await;
        assert!(matches!(answer, OperationAnswer::Failed(CallFailure::NotDelivered(_))), "{status}");
    }
    for status in [200, 302, 408, 500, 502, 503] {
        assert!(is_unknown(&answered(raw(status, b"<html>")).await), "{status}");
    }
    let throttled = OperationAnswer::Failed(CallFailure::Throttled { after_ms: 5_000 });
    assert_eq!(answered(raw(429, b"")).await, throttled);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_because_it_was_done_before_is_done() {
    let bank = Bank::default();
    let query = captured(&bank).await;
    let cielo = adapter(bank.factory());
    bank.faults([Fault::After]);
    assert!(is_unknown(&cielo.operate(&query, &refund(10_000)).await));
    let again = Operation { sent: 2, ..refund(10_000) };
    assert_eq!(cielo.operate(&query, &again).await, OperationAnswer::Done);
    assert_eq!(bank.only_sale().voided, 10_000);
    let never = Operation { sent: 2, before: Money::from_cents(10_000), ..refund(500) };
    assert!(matches!(cielo.operate(&query, &never).await, OperationAnswer::Refused(_)));
}

#[tokio::test(start_paused = true)]
async fn an_operation_on_a_sale_that_cielo_forgot_is_never_sent_again() {
    let exchange = Scripted::with([raw(404, b"")]);
    let query = named(query(Method::CreditCard, 10_000), SALE);
    assert!(is_unknown(&adapter(exchange.factory()).inquire_operation(&query, &refund(300)).await));
}

#[tokio::test(start_paused = true)]
async fn a_sale_whose_name_was_never_heard_is_found_before_it_is_operated_on() {
    let bank = Bank::default();
    bank.faults([Fault::After]);
    let cielo = adapter(bank.factory());
    cielo.charge(&uncaptured(10_000)).await;
    let query = uncaptured(10_000).query;
    assert_eq!(cielo.operate(&query, &voided()).await, OperationAnswer::Done);
    assert_eq!(bank.only_sale().status, 10);
    bank.faults([Fault::Before]);
    let answer = adapter(bank.factory()).operate(&query, &voided()).await;
    assert!(matches!(answer, OperationAnswer::Failed(CallFailure::NotDelivered(_))), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pix_that_is_on_its_way_back_is_not_taken_for_one_that_is_not_found() {
    let read = json!({"MerchantOrderId": ORDER, "Payment": {
        "PaymentId": SALE, "Type": "Pix", "Amount": 10000, "CapturedAmount": 10000, "Status": 2,
    }});
    let mut scheduled = read.clone();
    scheduled["Payment"]["Refunds"] = json!([{"Amount": 300, "Status": 3}, {"Amount": 300, "Status": "1"}]);
    let exchange = Scripted::with([json(200, &read), json(200, &scheduled)]);
    let cielo = adapter(exchange.factory());
    let mut query = named(query(Method::Pix, 10_000), SALE);
    query.paid_amount = Some(Money::from_cents(10_000));
    let unclear = in_progress(Progress::Unknown, refund(300));
    assert_eq!(cielo.inquire_operation(&query, &unclear).await, OperationAnswer::NotFound);
    assert_eq!(cielo.inquire_operation(&query, &unclear).await, OperationAnswer::Accepted);
}
