//! Refunds: in part, in whole, at once, and never more than was paid.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Client, Edit, PATIENCE, TestApp, TestReceiver, boleto, card, eventually, pix};

/// A payment of 100.00 that is paid.
#[track_caller]
fn paid(client: &Client, request: &Value) -> String {
    let id = client.create(request)["transactionId"].as_str().unwrap().to_owned();
    client.wait_for_status(&id, "paid");
    id
}

fn path(id: &str) -> String {
    format!("/pay/payments/{id}/refunds")
}

#[test]
fn every_method_is_refunded_in_whole() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    for request in [pix(10_000), boleto(10_000), card("4242424242424242", 10_000)] {
        let id = paid(&client, &request.with("postbackUrl", json!(receiver.url())));
        let refund = client.post_empty(&path(&id)).expect(201);
        let names: Vec<_> = refund.as_object().unwrap().keys().collect();
        assert_eq!(names, ["amount", "createdAt", "failureReason", "refundId", "status"]);
        assert_eq!(refund["amount"], "100.00");
        let record = client.wait_for_status(&id, "refund");
        assert_eq!(record["refundedAmount"], "100.00");
        assert!(record["refundedAt"].is_string() && record["paidAt"].is_string(), "{record:#}");
        assert_eq!(record["refunds"][0]["refundId"], refund["refundId"]);
        let events = receiver.wait_for_events(&id, 3, PATIENCE);
        assert_eq!(events[2].text("event"), "payment.refund");
        client.post_empty(&path(&id)).expect_error(409, "status_conflict");
    }
}

#[test]
fn partial_refunds_leave_paid_until_all_is_refunded_and_each_is_an_event() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let id = paid(&client, &pix(10_000).with("postbackUrl", json!(receiver.url())));
    for (cents, refunded) in [(2_500, "25.00"), (1, "25.01")] {
        client.post(&path(&id), &json!({"amount": cents})).expect(201);
        let record = eventually(PATIENCE, "the refund is booked", || {
            Some(client.payment(&id)).filter(|record| record["refundedAmount"] == refunded)
        });
        assert_eq!((&record["status"], &record["refundedAt"]), (&json!("paid"), &Value::Null), "{record:#}");
    }
    client.post(&path(&id), &json!({"amount": 7_500})).expect_error(422, "refund_exceeds_paid");
    let rest = client.post_empty(&path(&id)).expect(201);
    assert_eq!(rest["amount"], "74.99", "what is left is the default");
    let record = client.wait_for_status(&id, "refund");
    assert_eq!(record["refunds"].as_array().unwrap().len(), 3);
    assert_eq!(client.history(&id), ["pending", "paid", "paid", "paid", "refund"]);
    let events = receiver.wait_for_events(&id, 5, PATIENCE);
    let names: Vec<_> = events.iter().map(|event| event.text("event")).collect();
    assert_eq!(names[2..], ["payment.refund_succeeded", "payment.refund_succeeded", "payment.refund"]);
    let refunded: Vec<_> =
        events[2..4].iter().map(|event| event.json()["refund"]["amount"].clone()).collect();
    assert_eq!(refunded, ["25.00", "0.01"]);
}

#[test]
fn more_than_was_paid_and_amounts_that_are_none_are_refused() {
    let app = TestApp::new();
    let client = app.client();
    let id = paid(&client, &pix(10_000));
    let refused = client.post(&path(&id), &json!({"amount": 10_001}));
    assert!(refused.expect_error(422, "refund_exceeds_paid")["message"].as_str().unwrap().contains("100.00"));
    for (amount, status) in
        [(json!(0), 422), (json!(-1), 422), (json!("1"), 400), (json!(0.5), 400), (json!(true), 400)]
    {
        assert_eq!(client.post(&path(&id), &json!({"amount": amount})).status, status, "{amount}");
    }
    assert_eq!(client.payment(&id)["refundedAmount"], "0.00");
}

#[test]
fn only_what_is_paid_can_be_refunded() {
    let app = TestApp::new();
    let client = app.client();
    let id_of = |request: &Value| client.create(request)["transactionId"].as_str().unwrap().to_owned();
    let authorised = id_of(&card("4242424242424242", 10_000).with("capture", json!(false)));
    for (id, status) in [
        (id_of(&pix(10_027)), "pending"),
        (id_of(&card("4000000000000002", 1)), "declined"),
        (authorised, "approved"),
    ] {
        let answer = client.post_empty(&path(&id));
        let message = answer.expect_error(409, "status_conflict")["message"].as_str().unwrap().to_owned();
        assert!(message.contains(status) && message.contains("paid"), "{message}");
    }
}

#[test]
fn concurrent_refunds_never_exceed_what_was_paid() {
    let app = TestApp::new();
    let client = app.client();
    let id = paid(&client, &pix(10_000));
    let answers: Vec<_> = thread::scope(|scope| {
        let refund = || app.client().post(&path(&id), &json!({"amount": 3_000}));
        let threads: Vec<_> = (0..12).map(|_| scope.spawn(refund)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 3, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.expect_error(422, "refund_exceeds_paid");
    }
    let record = eventually(PATIENCE, "the refunds are booked", || {
        Some(client.payment(&id)).filter(|record| record["refundedAmount"] == "90.00")
    });
    assert_eq!((&record["status"], record["refunds"].as_array().unwrap().len()), (&json!("paid"), 3));
}

#[test]
fn a_refund_with_a_key_happens_once() {
    let app = TestApp::new();
    let client = app.client();
    let id = paid(&client, &pix(10_000));
    let answers: Vec<_> = thread::scope(|scope| {
        let refund = || app.client().post_once(&path(&id), "r", &json!({"amount": 1_000}));
        let threads: Vec<_> = (0..12).map(|_| scope.spawn(refund)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "{answers:?}");
    let refund_id = answers[0].json()["refundId"].clone();
    for answer in &answers {
        assert!([200, 201].contains(&answer.status) && answer.json()["refundId"] == refund_id, "{answer}");
        assert_eq!(answer.header("idempotency-replayed").is_some(), answer.status == 200, "{answer}");
    }
    client.post_once(&path(&id), "r", &json!({"amount": 2_000})).expect_error(422, "idempotency_key_reused");
    client.post_once(&path(&id), "other", &json!({"amount": 1_000})).expect(201);
    let refunds = client.payment(&id)["refunds"].as_array().unwrap().len();
    assert_eq!(refunds, 2);
}

#[test]
fn a_key_of_one_payments_refund_is_free_for_another_payment() {
    let app = TestApp::new();
    let client = app.client();
    let first = paid(&client, &pix(10_000));
    let second = paid(&client, &pix(20_000));
    client.post_once(&path(&first), "r", &json!({})).expect(201);
    assert_eq!(client.post_once(&path(&second), "r", &json!({})).expect(201)["amount"], "200.00");
}

#[test]
fn a_refunds_key_is_known_after_a_restart() {
    let mut app = TestApp::new();
    let id = paid(&app.client(), &pix(10_000));
    let refund = app.client().post_once(&path(&id), "r", &json!({"amount": 500})).expect(201);
    app.kill();
    app.restart();
    let again = app.client().post_once(&path(&id), "r", &json!({"amount": 500})).expect(200);
    assert_eq!(again["refundId"], refund["refundId"]);
    let record = eventually(PATIENCE, "the refund is booked", || {
        Some(app.client().payment(&id)).filter(|record| record["refundedAmount"] == "5.00")
    });
    assert_eq!(record["refunds"].as_array().unwrap().len(), 1);
}
