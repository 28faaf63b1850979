//! Meaning of an HTTP status, or of none, for a charge.

use quita_acquirers::exchange::Failure;
use quita_domain::acquiring::{CallFailure, ChargeAnswer, Reference};
use quita_domain::method::Method;
use serde_json::json;

use crate::payment::*;
use crate::scripted::{Scripted, json, raw, with_header};

type Answer = Result<quita_acquirers::exchange::Response, Failure>;

async fn charged(answer: Answer) -> ChargeAnswer {
    let exchange = Scripted::with([answer]);
    adapter(exchange.factory()).charge(&charge(Method::CreditCard, 15_700)).await
}

async fn inquired(answer: Answer) -> ChargeAnswer {
    let exchange = Scripted::with([answer]);
    adapter(exchange.factory()).inquire(&query(Method::CreditCard, 15_700)).await
}

#[tokio::test]
async fn an_explicit_4xx_refuses_a_charge() {
    let errors = json!([{"Code": 126, "Message": "Credit Card Expiration Date is invalid"}]);
    let expected = ChargeAnswer::Refused("126: Credit Card Expiration Date is invalid".into());
    assert_eq!(charged(json(400, &errors)).await, expected);
    for status in [400, 404, 405, 409, 415, 422] {
        let answer = charged(raw(status, b"<html>")).await;
        assert_eq!(answer, ChargeAnswer::Refused(format!("HTTP {status}")));
    }
}

#[tokio::test]
async fn an_order_that_cielo_has_already_was_taken_and_is_asked_for() {
    let errors = json!([{"Code": "302", "Message": "Duplicate order id"}]);
    let answer = charged(json(400, &errors)).await;
    assert_eq!(answer, ChargeAnswer::Accepted(Reference::none()));
}

#[tokio::test]
async fn a_refused_key_or_no_connection_means_that_nothing_left() {
    let unsent = Err(Failure::NotSent("no connection".into()));
    for answer in [raw(401, b""), raw(403, b""), unsent] {
        for answer in [charged(answer.clone()).await, inquired(answer).await] {
            assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::NotDelivered(_))), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn no_clear_answer_is_unclear() {
    for answer in [
        raw(408, b""),
        raw(500, b"[]"),
        raw(502, b""),
        raw(503, b""),
        raw(302, b""),
        raw(100, b""),
        raw(201, b""),
        raw(201, b"{\"Payment\":{}}"),
        Err(Failure::Unknown("cut short".into())),
    ] {
        for answer in [charged(answer.clone()).await, inquired(answer).await] {
            assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_refused_question_refuses_no_charge() {
    for status in [400, 405, 422] {
        let answer = inquired(raw(status, b"[{\"Code\":107}]")).await;
        assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_believed_for_five_minutes() {
    for (value, after_ms) in [
        ("7", 7_000),
        ("0", 0),
        ("3600", 300_000),
        ("99999999999999999999999", 300_000),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30_000),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("soon", 5_000),
        ("-1", 5_000),
    ] {
        let expected = ChargeAnswer::Failed(CallFailure::Throttled { after_ms });
        assert_eq!(charged(with_header(429, "retry-after", value)).await, expected, "{value}");
        assert_eq!(inquired(with_header(429, "retry-after", value)).await, expected, "{value}");
    }
    let held = ChargeAnswer::Failed(CallFailure::Throttled { after_ms: 9_000 });
    assert_eq!(charged(with_header(503, "retry-after", "9")).await, held);
}
