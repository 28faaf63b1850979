//! Card numbers and security codes have one place; everywhere else they are refused, and never kept or logged.

use serde_json::{Value, json};

use crate::support::{Answer, Edit, TestApp, card, pix};

const NUMBER: &str = "5555555555554444";
const SPACED: &str = "4242 4242 4242 4242";

#[track_caller]
fn check_refused(answer: &Answer, field: &str) {
    answer.expect_error(422, "validation_failed");
    assert_eq!(answer.violations(), [(field.to_owned(), "card_number".to_owned())], "{answer}");
    let told = answer.text_without_ids();
    assert!(!told.contains("4242") && !told.contains("5555"), "{answer}");
}

#[test]
fn a_card_number_in_any_text_of_a_creation_is_refused_with_its_field() {
    let app = TestApp::new();
    let client = app.client();
    for (field, text) in [
        ("externalReference", SPACED),
        ("UTMSource", "4242-4242-4242-4242"),
        ("paymentDetails.address.complement", "cartao 5555.5555.5555.4444 cvv 987"),
        ("note", NUMBER),
    ] {
        check_refused(&client.post("/pay/payments", &pix(10_027).with(field, json!(text))), field);
    }
    for name in ["pan", "cvv", "CVC", "card_number"] {
        let request = pix(10_027).with("metadata", json!({ name: "x" }));
        check_refused(&client.post("/pay/payments", &request), "metadata");
    }
    let twice = card("4242424242424242", 10_000).with("creditCard.holderName", json!(SPACED));
    check_refused(&client.post("/pay/payments", &twice), "creditCard.holderName");
    assert_eq!(client.get("/pay/payments").expect(200)["data"], json!([]), "nothing was made");
}

#[test]
fn what_only_looks_like_a_card_number_is_taken() {
    let app = TestApp::new();
    let client = app.client();
    for text in [
        "34191.79001 01043.510047 91020.150008 5 00000000026000",
        "23793381286000782713695000063305975520000370000",
        "52998224725",
        "11.222.333/0001-81",
        "+55 11 98765-4321",
        "018f3b1a-7c00-7000-8000-000000000007",
        "pedido 4242424242424241",
    ] {
        let request =
            pix(10_027).with("externalReference", json!(text)).with("metadata", json!({ "japan": text }));
        let record = client.create(&request);
        assert_eq!(
            (&record["externalReference"], &record["metadata"]["japan"]),
            (&json!(text), &json!(text))
        );
    }
}

#[test]
fn a_card_number_in_a_header_is_refused_replaced_and_never_logged() {
    let app = TestApp::new();
    let client = app.client();
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let dashed = "order-5555-5555-5555-4444";
    check_refused(&client.post_once("/pay/payments", dashed, &pix(10_027)), "Idempotency-Key");
    let cancel = format!("/pay/payments/{id}/cancel");
    check_refused(&client.post_once(&cancel, NUMBER, &json!({})), "Idempotency-Key");
    assert_eq!(client.payment(&id)["status"], "pending");
    for path in [format!("/pay/payments/{id}"), "/health/none".into(), "/docs".into()] {
        for sent in [NUMBER, dashed] {
            let answer = client.send("GET", &path, &[("X-Request-Id", sent)], b"");
            check_refused(&answer, "X-Request-Id");
            let fresh = answer.header("x-request-id").unwrap();
            assert!(fresh != sent && uuid::Uuid::try_parse(fresh).is_ok(), "{answer}");
            assert_eq!(answer.json()["requestId"], Value::from(fresh));
        }
    }
    let sane = client.send("GET", &format!("/pay/payments/{id}"), &[("X-Request-Id", "order-4242")], b"");
    assert_eq!((sane.status, sane.header("x-request-id")), (200, Some("order-4242")));
    let log = app.log();
    assert!(!log.contains("5555-5555") && !log.contains(NUMBER), "{log}");
    for (name, bytes) in app.store_bytes() {
        let is_kept = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        assert!(!is_kept(NUMBER.as_bytes()) && !is_kept(b"5555-5555-5555-4444"), "{name}");
    }
}
