//! `Idempotency-Key`: one payment for one key, whatever happens.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::{Edit, PATIENCE, TestApp, TestReceiver, card, pix};

#[test]
fn the_same_request_again_is_a_replay_of_the_record_as_it_is_now() {
    let app = TestApp::new();
    let client = app.client();
    let first = client.post_once("/pay/payments", "order-1", &pix(10_000));
    let record = first.expect(201);
    assert_eq!(first.header("idempotency-replayed"), None);
    let id = record["transactionId"].as_str().unwrap();
    client.wait_for_status(id, "paid");
    let again = client.post_once("/pay/payments", "order-1", &pix(10_000));
    let replayed = again.expect(200);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((replayed["transactionId"].as_str(), replayed["status"].as_str()), (Some(id), Some("paid")));
    assert_eq!(client.get("/pay/payments").expect(200)["data"].as_array().unwrap().len(), 1);
}

#[test]
fn the_order_of_members_and_blanks_make_no_difference() {
    let app = TestApp::new();
    let client = app.client();
    let id = client.post_once("/pay/payments", "k", &pix(10_027)).expect(201)["transactionId"].clone();
    let pretty = serde_json::to_string_pretty(&pix(10_027)).unwrap();
    let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "k")];
    let answer = client.send("POST", "/pay/payments", &headers, pretty.as_bytes());
    assert_eq!(answer.expect(200)["transactionId"], id);
    let members: Vec<_> =
        pix(10_027).as_object().unwrap().iter().map(|(k, v)| format!("{}:{v}", json!(k))).collect();
    let reversed = format!("{{{}}}", members.into_iter().rev().collect::<Vec<_>>().join(","));
    let answer = client.send("POST", "/pay/payments", &headers, reversed.as_bytes());
    assert_eq!(answer.expect(200)["transactionId"], id);
}

#[test]
fn another_body_under_a_known_key_is_422() {
    let app = TestApp::new();
    let client = app.client();
    client.post_once("/pay/payments", "k", &pix(10_027)).expect(201);
    for other in
        [pix(10_127), pix(10_027).with("externalReference", json!("x")), card("4242424242424242", 10_027)]
    {
        client.post_once("/pay/payments", "k", &other).expect_error(422, "idempotency_key_reused");
    }
}

#[test]
fn another_cvv_is_the_same_request_and_another_card_is_not() {
    let app = TestApp::new();
    let client = app.client();
    let request = card("4242424242424242", 10_000);
    client.post_once("/pay/payments", "k", &request).expect(201);
    let retyped = request.with("creditCard.cvv", json!("999"));
    assert_eq!(client.post_once("/pay/payments", "k", &retyped).status, 200);
    let other = card("5555555555554444", 10_000);
    client.post_once("/pay/payments", "k", &other).expect_error(422, "idempotency_key_reused");
}

#[test]
fn without_a_key_every_request_is_a_payment() {
    let app = TestApp::new();
    let client = app.client();
    assert_ne!(client.create(&pix(10_027))["transactionId"], client.create(&pix(10_027))["transactionId"]);
}

#[test]
fn sixty_four_at_once_make_one_payment_and_one_set_of_webhooks() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let request = card("4242424242424242", 10_000).with("postbackUrl", json!(receiver.url()));
    let answers: Vec<_> = thread::scope(|scope| {
        let post = || app.client().post_once("/pay/payments", "at-once", &request);
        let threads: Vec<_> = (0..64).map(|_| scope.spawn(post)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut statuses = BTreeMap::new();
    for answer in &answers {
        *statuses.entry(answer.status).or_insert(0) += 1;
        let is_replay = answer.header("idempotency-replayed") == Some("true");
        assert_eq!(is_replay, answer.status == 200, "{answer}");
    }
    assert_eq!(statuses, BTreeMap::from([(200, 63), (201, 1)]));
    let id = answers[0].json()["transactionId"].as_str().unwrap().to_owned();
    assert!(answers.iter().all(|answer| answer.json()["transactionId"] == *id));
    receiver.wait_for(2, PATIENCE);
    app.client().wait_for_status(&id, "paid");
    crate::support::pause(Duration::from_millis(500));
    let events: Vec<_> = receiver.received().iter().map(|request| request.text("event")).collect();
    assert_eq!(events, ["payment.approved", "payment.paid"]);
    assert_eq!(app.client().get("/pay/payments").expect(200)["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_replay_is_a_replay_after_a_restart_too() {
    let mut app = TestApp::new();
    let id = app.client().post_once("/pay/payments", "k", &pix(10_027)).expect(201)["transactionId"].clone();
    app.kill();
    app.restart();
    let answer = app.client().post_once("/pay/payments", "k", &pix(10_027));
    assert_eq!(answer.expect(200)["transactionId"], id);
    app.client().post_once("/pay/payments", "k", &pix(10_127)).expect_error(422, "idempotency_key_reused");
}

#[test]
fn a_key_belongs_to_one_merchant() {
    let app = TestApp::new();
    let other = app.client_with(&app.create_key(&["--merchant", "other"]));
    let mine = app.client().post_once("/pay/payments", "k", &pix(10_027)).expect(201);
    let theirs = other.post_once("/pay/payments", "k", &pix(10_127)).expect(201);
    assert_ne!(mine["transactionId"], theirs["transactionId"]);
    let second_key = app.client_with(&app.create_key(&["--merchant", "shop"]));
    assert_eq!(second_key.post_once("/pay/payments", "k", &pix(10_027)).status, 200, "not to one API key");
}

#[test]
fn an_old_replay_stays_a_replay_when_the_clock_would_refuse_it() {
    let app = TestApp::new();
    let client = app.client();
    let expired = card("4242424242424242", 10_000).with("creditCard.expirationYear", json!(2020));
    // Refused as new; there is no old one here to be replayed, so the rule must be reported.
    client.post_once("/pay/payments", "k", &expired).expect_error(422, "validation_failed");
    client.post_once("/pay/payments", "k", &card("4242424242424242", 10_000)).expect(201);
    client.post_once("/pay/payments", "k", &expired).expect_error(422, "idempotency_key_reused");
}
