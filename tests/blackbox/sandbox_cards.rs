//! Outcomes of cards in the sandbox: every number of the table.

use std::time::Duration;

use serde_json::json;

use crate::support::{Edit, PATIENCE, TestApp, TestReceiver, card, eventually};

#[test]
fn every_brands_card_is_approved_and_paid() {
    let app = TestApp::new();
    let client = app.client();
    for (number, brand) in [
        ("4242424242424242", "visa"),
        ("5555555555554444", "mastercard"),
        ("378282246310005", "amex"),
        ("6062826786276634", "hipercard"),
        ("6362970000457013", "elo"),
    ] {
        let record = client.create(&card(number, 10_000));
        assert_eq!(record["status"], "paid", "{number}: {record:#}");
        assert_eq!(record["creditCard"]["brand"], brand);
        assert_eq!(record["creditCard"]["lastDigits"], number[number.len() - 4..]);
        assert_eq!(client.history(record["transactionId"].as_str().unwrap()), ["approved", "paid"]);
    }
}

#[test]
fn cards_are_declined_for_the_reason_of_their_number() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    for (number, code) in [
        ("4000000000000002", "generic_decline"),
        ("4000000000009995", "insufficient_funds"),
        ("4000000000009987", "lost_card"),
        ("4000000000000069", "expired_card"),
        ("4000000000000127", "incorrect_cvc"),
    ] {
        let record = client.create(&card(number, 10_000).with("postbackUrl", json!(receiver.url())));
        assert_eq!(record["status"], "declined", "{number}: {record:#}");
        assert_eq!(record["creditCard"]["declineCode"], code);
        assert!(record["paidAt"].is_null() && record["capturedAmount"].is_null(), "{record:#}");
        let id = record["transactionId"].as_str().unwrap();
        let events = receiver.wait_for_events(id, 1, PATIENCE);
        assert_eq!(events[0].text("event"), "payment.declined");
        assert_eq!(client.history(id), ["declined"]);
    }
}

#[test]
fn a_card_that_timed_out_after_the_charge_is_charged_once() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&card("4000000000000119", 10_000));
    let id = record["transactionId"].as_str().unwrap();
    let record = client.wait_for_status(id, "paid");
    assert_eq!(client.history(id), ["approved", "paid"]);
    let attempts = record["routing"]["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 1, "no second acquirer was tried: {record:#}");
}

#[test]
fn a_disputed_card_is_paid_and_then_charged_back() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&card("4000000000000259", 10_000));
    assert_eq!(record["status"], "paid");
    let id = record["transactionId"].as_str().unwrap();
    let record = client.wait_for_status(id, "chargeback");
    assert!(record["chargebackAt"].is_string(), "{record:#}");
    assert_eq!(client.history(id), ["approved", "paid", "chargeback"]);
}

#[test]
fn a_card_whose_capture_is_refused_stays_approved_and_can_be_cancelled() {
    let app = TestApp::new();
    let client = app.client();
    let held = json!({ "capture": false });
    for (is_held, more) in [(true, held), (false, json!({}))] {
        let mut body = card("4000000000000341", 10_000);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let record = client.create(&body);
        assert_eq!(record["status"], "approved", "{record:#}");
        let path = format!("/pay/payments/{}", record["transactionId"].as_str().unwrap());
        if is_held {
            assert_eq!(record["statusReason"], json!(null));
            client.post(&format!("{path}/capture"), &json!({})).expect(409);
        }
        let reason = || client.get(&path).expect(200)["statusReason"].as_str().map(String::from);
        assert_eq!(eventually(PATIENCE, "why it is not paid", reason), "capture_refused");
        client.post(&format!("{path}/capture"), &json!({})).expect(409);
        let cancelled = client.post(&format!("{path}/cancel"), &json!({})).expect(200);
        assert_eq!(cancelled["status"], "cancelled", "{cancelled:#}");
    }
    assert_eq!(app.ops().get("/ops/exceptions").expect(200)["data"], json!([]));
}

#[test]
fn the_cents_mean_nothing_to_a_card() {
    let app = TestApp::new();
    let client = app.client();
    for cents in [17, 27, 51, 91, 99] {
        let record = client.create(&card("4242424242424242", 10_000 + cents));
        assert_eq!(record["status"], "paid", "{cents}: {record:#}");
    }
    crate::support::pause(Duration::from_millis(300));
    assert_eq!(app.ops().get("/ops/exceptions").expect(200)["data"], json!([]));
}
