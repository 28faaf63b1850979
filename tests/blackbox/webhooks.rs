//! Webhooks to merchants: what is sent, in which order, and how it is signed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Edit, PATIENCE, Received, TestApp, TestReceiver, card, check_with_standard_webhooks, pix, signature_of,
};

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check_signed(request: &Received, secret: &str) {
    assert_eq!(request.header("webhook-signature"), Some(&*signature_of(request, secret)));
    check_with_standard_webhooks(request, secret);
}

#[test]
fn every_change_is_told_once_and_in_order() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let id = id_of(&client.create(&pix(10_031).with("postbackUrl", json!(receiver.url()))));
    receiver.wait_for_events(&id, 3, PATIENCE);
    crate::support::pause(std::time::Duration::from_millis(300));
    let told: Vec<_> = receiver
        .received()
        .iter()
        .map(|request| (request.text("event"), request.json()["sequence"].clone()))
        .collect();
    let expected = [("payment.pending", 1), ("payment.paid", 2), ("payment.chargeback", 3)];
    assert_eq!(told, expected.map(|(event, sequence)| (event.to_owned(), json!(sequence))));
    let webhook_ids: BTreeSet<_> = receiver.received().iter().map(Received::webhook_id).collect();
    assert_eq!(webhook_ids.len(), 3, "every event has an id of its own");
}

#[test]
fn the_body_is_the_record_as_of_the_event() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let created = client.create(&pix(10_041).with("postbackUrl", json!(receiver.url())));
    let id = id_of(&created);
    let requests = receiver.wait_for_events(&id, 3, PATIENCE);
    let events = client.events(&id);
    for (request, event) in requests.iter().zip(&events) {
        let body = request.json();
        let names: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = [
            "data",
            "event",
            "mode",
            "occurredAt",
            "previousStatus",
            "reason",
            "sequence",
            "status",
            "transactionId",
        ];
        assert_eq!(names, expected);
        for name in ["event", "occurredAt", "previousStatus", "reason", "sequence", "status"] {
            assert_eq!(body[name], event[name], "{name}");
        }
        assert_eq!((&body["data"]["status"], &body["data"]["transactionId"]), (&event["status"], &json!(id)));
        let data: Vec<_> = body["data"].as_object().unwrap().keys().collect();
        assert_eq!(data, created.as_object().unwrap().keys().collect::<Vec<_>>(), "the whole record");
        assert_eq!(body["data"]["updatedAt"], event["occurredAt"]);
        assert_eq!((&body["mode"], &body["data"]["mode"]), (&json!("test"), &json!("test")));
    }
    let first = requests[0].json();
    let second = requests[1].json();
    assert!(first["data"]["paidAt"].is_null() && second["data"]["paidAt"].is_string());
    assert!(second["data"]["refundedAt"].is_null() && requests[2].json()["data"]["refundedAt"].is_string());
    assert_eq!(requests[2].json()["data"], client.payment(&id), "the last is the payment as it is");
}

#[test]
fn a_webhook_is_a_json_post_signed_as_standard_webhooks_says() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let secret = app.secret();
    assert!(secret.starts_with("whsec_"));
    let request =
        card("4242424242424242", 10_000).with("postbackUrl", json!(format!("{}?a=b%20c", receiver.url())));
    let id = id_of(&client.create(&request));
    for request in receiver.wait_for_events(&id, 2, PATIENCE) {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/webhooks?a=b%20c"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        let timestamp: u64 = request.header("webhook-timestamp").unwrap().parse().unwrap();
        assert!(timestamp > 1_700_000_000 && timestamp < 9_999_999_999, "seconds: {timestamp}");
        check_signed(&request, &secret);
    }
}

#[test]
fn another_secret_does_not_fit() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let other = app.create_key(&["--merchant", "other"]);
    let other_secret = app.quita(&["secrets", "show", "--merchant", "other"]).output();
    assert_ne!(other_secret, app.secret());
    let request = pix(10_027).with("postbackUrl", json!(receiver.url()));
    app.client_with(&other).create(&request);
    let received = receiver.wait_for(1, PATIENCE);
    check_signed(&received[0], &other_secret);
    assert_ne!(received[0].header("webhook-signature"), Some(&*signature_of(&received[0], &app.secret())));
}

#[test]
fn what_a_test_key_brings_about_never_verifies_as_live() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let live_key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    assert!(live_key.starts_with("qk_live_"));
    let show_live = ["secrets", "show", "--merchant", "shop", "--mode", "live"];
    let live_secret = app.quita(&show_live).output();
    app.client().create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    let request = receiver.wait_for(1, PATIENCE).remove(0);
    check_signed(&request, &app.secret());
    assert_ne!(signature_of(&request, &live_secret), request.header("webhook-signature").unwrap());
    assert_eq!(request.json()["mode"], "test");
}

#[test]
fn each_application_signs_with_its_own_secret() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let key = app.create_key(&["--merchant", "shop", "--application", "store-front"]);
    let shown =
        app.quita(&["secrets", "show", "--merchant", "shop", "--application", "store-front"]).output();
    assert_ne!(shown, app.secret());
    app.client_with(&key).create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    check_signed(&receiver.wait_for(1, PATIENCE)[0], &shown);
}

#[test]
fn while_a_secret_is_rotated_both_signatures_are_sent() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let old = app.secret();
    app.quita(&["secrets", "rotate", "--merchant", "shop"]).output();
    let shown = app.secret();
    let secrets: Vec<_> = shown.lines().collect();
    assert_eq!((secrets.len(), secrets[1]), (2, &*old), "the newest first, the old one for 24 hours");
    assert_ne!(secrets[0], old);
    let client = app.client();
    // A running service may take a moment to learn of the rotation.
    let request = crate::support::eventually(PATIENCE, "a webhook with two signatures", || {
        let id = id_of(&client.create(&pix(10_027).with("postbackUrl", json!(receiver.url()))));
        let request = receiver.wait_for_events(&id, 1, PATIENCE).remove(0);
        request.header("webhook-signature").unwrap().contains(' ').then_some(request)
    });
    let signatures: Vec<_> = request.header("webhook-signature").unwrap().split(' ').collect();
    assert_eq!(signatures, [signature_of(&request, secrets[0]), signature_of(&request, &old)]);
    check_with_standard_webhooks(&request, secrets[0]);
    check_with_standard_webhooks(&request, &old);
}

#[test]
fn nobody_is_told_without_a_postback_url() {
    let app = TestApp::new();
    let client = app.client();
    let id = id_of(&client.create(&pix(10_000)));
    client.wait_for_status(&id, "paid");
    assert_eq!(client.deliveries(&id), Vec::<Value>::new());
}

#[test]
fn many_payments_are_each_told_completely_and_in_order() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let request = pix(10_000).with("postbackUrl", json!(receiver.url()));
    let ids: Vec<_> = (0..60).map(|_| id_of(&client.create(&request))).collect();
    receiver.wait_for(120, PATIENCE);
    for id in &ids {
        let told: Vec<_> = receiver.events_of(id).iter().map(|request| request.text("status")).collect();
        assert_eq!(told, ["pending", "paid"], "{id}");
    }
    let log = app.log();
    assert!(!log.contains("maria.silva"), "no personal data in the log");
}
