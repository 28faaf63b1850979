//! Cancelling, and capturing what was only authorised.

use serde_json::{Value, json};

use crate::support::{Client, Edit, PATIENCE, TestApp, TestReceiver, boleto, card, eventually, pix};

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

/// A card payment that waits for its capture.
#[track_caller]
fn authorised(client: &Client, cents: u64) -> String {
    let record = client.create(&card("4242424242424242", cents).with("capture", json!(false)));
    assert_eq!(record["status"], "approved", "{record:#}");
    assert!(
        record["creditCard"]["authorizationCode"].is_string() && record["paidAt"].is_null(),
        "{record:#}"
    );
    id_of(&record)
}

#[test]
fn what_waits_for_its_payer_can_be_cancelled() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    for request in [pix(10_027), boleto(10_027)] {
        let id = id_of(&client.create(&request.with("postbackUrl", json!(receiver.url()))));
        let record = client.post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
        assert_eq!(record["status"], "cancelled");
        assert!(record["cancelledAt"].is_string() && record["paidAt"].is_null(), "{record:#}");
        assert_eq!(client.history(&id), ["pending", "cancelled"]);
        assert_eq!(client.events(&id)[1]["actor"], "merchant");
        let events = receiver.wait_for_events(&id, 2, PATIENCE);
        assert_eq!(events[1].text("event"), "payment.cancelled");
    }
}

#[test]
fn a_boleto_that_expired_can_be_withdrawn() {
    let app = TestApp::new();
    let client = app.client();
    let id = id_of(&client.create(&boleto(10_017)));
    client.wait_for_status(&id, "expired");
    let record = client.post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
    assert_eq!(record["status"], "cancelled");
    assert!(record["expiredAt"].is_string() && record["cancelledAt"].is_string(), "{record:#}");
    assert_eq!(client.history(&id), ["pending", "expired", "cancelled"]);
    let again = client.post_empty(&format!("/pay/payments/{id}/cancel"));
    let message = again.expect_error(409, "status_conflict")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("pending, expired"), "names what is allowed: {message}");
}

#[test]
fn an_authorised_card_can_be_voided() {
    let app = TestApp::new();
    let client = app.client();
    let id = authorised(&client, 10_000);
    let record = client.post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
    assert_eq!((&record["status"], &record["capturedAmount"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(client.history(&id), ["approved", "cancelled"]);
}

#[test]
fn what_is_paid_declined_or_over_cannot_be_cancelled() {
    let app = TestApp::new();
    let client = app.client();
    let paid = id_of(&client.create(&card("4242424242424242", 10_000)));
    let declined = id_of(&client.create(&card("4000000000000002", 10_000)));
    let expired = id_of(&client.create(&pix(10_017)));
    client.wait_for_status(&expired, "expired");
    for (id, status) in [(paid, "paid"), (declined, "declined"), (expired, "expired")] {
        let answer = client.post_empty(&format!("/pay/payments/{id}/cancel"));
        let message = answer.expect_error(409, "status_conflict")["message"].as_str().unwrap().to_owned();
        assert!(message.contains(status), "names the status: {message}");
        assert!(
            message.contains("pending") && message.contains("approved"),
            "names what is allowed: {message}"
        );
    }
}

#[test]
fn a_cancellation_may_be_repeated_with_its_key() {
    let app = TestApp::new();
    let client = app.client();
    let id = id_of(&client.create(&pix(10_027)));
    let path = format!("/pay/payments/{id}/cancel");
    let first = client.post_once(&path, "c", &json!({}));
    assert_eq!((first.status, first.header("idempotency-replayed")), (200, None), "{first}");
    let again = client.post_once(&path, "c", &json!({}));
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")), "{again}");
    assert_eq!(again.json()["status"], "cancelled");
    client.post_once(&path, "another", &json!({})).expect_error(409, "status_conflict");
    assert_eq!(client.history(&id), ["pending", "cancelled"]);
}

#[test]
fn an_authorised_card_is_captured_whole() {
    let app = TestApp::new();
    let client = app.client();
    let id = authorised(&client, 10_000);
    let record = client.post_empty(&format!("/pay/payments/{id}/capture")).expect(200);
    assert_eq!((&record["status"], &record["capturedAmount"]), (&json!("paid"), &json!("100.00")));
    assert!(record["paidAt"].is_string(), "{record:#}");
    assert_eq!(client.history(&id), ["approved", "paid"]);
}

#[test]
fn an_authorised_card_is_captured_in_part_and_only_that_can_be_refunded() {
    let app = TestApp::new();
    let client = app.client();
    let id = authorised(&client, 10_000);
    let record = client.post(&format!("/pay/payments/{id}/capture"), &json!({"amount": 4_000})).expect(200);
    assert_eq!((&record["status"], &record["capturedAmount"]), (&json!("paid"), &json!("40.00")));
    assert_eq!(record["amount"], "100.00");
    let refund = format!("/pay/payments/{id}/refunds");
    client.post(&refund, &json!({"amount": 4_001})).expect_error(422, "refund_exceeds_paid");
    assert_eq!(client.post_empty(&refund).expect(201)["amount"], "40.00");
    client.wait_for_status(&id, "refund");
}

#[test]
fn more_than_was_authorised_cannot_be_captured() {
    let app = TestApp::new();
    let client = app.client();
    let id = authorised(&client, 10_000);
    let path = format!("/pay/payments/{id}/capture");
    for (body, status) in [
        (json!({"amount": 10_001}), 422),
        (json!({"amount": 0}), 422),
        (json!({"amount": -1}), 422),
        (json!({"amount": "100"}), 400),
        (json!({"amount": 1.5}), 400),
        (json!([]), 400),
    ] {
        let answer = client.post(&path, &body);
        assert_eq!(answer.status, status, "{body}: {answer}");
        answer.expect_error_shape();
    }
    assert_eq!(client.payment(&id)["status"], "approved");
}

#[test]
fn only_a_card_that_waits_for_it_can_be_captured() {
    let app = TestApp::new();
    let client = app.client();
    let at_once = id_of(&client.create(&card("4242424242424242", 10_000)));
    let waiting = id_of(&client.create(&pix(10_027)));
    let twice = authorised(&client, 10_000);
    client.post_empty(&format!("/pay/payments/{twice}/capture")).expect(200);
    let slip = id_of(&client.create(&boleto(10_027)));
    for (id, status, code) in [
        (at_once, "paid", "not_capturable"),
        (waiting, "pending", "not_capturable"),
        (slip, "pending", "not_capturable"),
        (twice, "paid", "status_conflict"),
    ] {
        let answer = client.post_empty(&format!("/pay/payments/{id}/capture"));
        let message = answer.expect_error(409, code)["message"].as_str().unwrap().to_owned();
        assert!(message.contains(status) && message.contains("approved"), "names both: {message}");
    }
}

#[test]
fn a_capture_with_a_key_is_replayed_and_another_amount_is_refused() {
    let app = TestApp::new();
    let client = app.client();
    let id = authorised(&client, 10_000);
    let path = format!("/pay/payments/{id}/capture");
    assert_eq!(client.post_once(&path, "c", &json!({"amount": 5_000})).status, 200);
    let again = client.post_once(&path, "c", &json!({"amount": 5_000}));
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")), "{again}");
    client.post_once(&path, "c", &json!({"amount": 6_000})).expect_error(422, "idempotency_key_reused");
    assert_eq!(client.payment(&id)["capturedAmount"], "50.00");
}

#[test]
fn of_many_captures_at_once_one_wins() {
    let app = TestApp::new();
    let client = app.client();
    let id = authorised(&client, 10_000);
    let path = format!("/pay/payments/{id}/capture");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| app.client().post_empty(&path).status)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
    eventually(PATIENCE, "the payment is paid", || (client.payment(&id)["status"] == "paid").then_some(()));
    assert_eq!(client.history(&id), ["approved", "paid"]);
}

#[test]
fn nothing_is_called_cancelled_while_its_charge_is_unclear_and_a_cancel_that_meets_money_names_it() {
    let app = TestApp::new();
    let (client, creating) = (app.client(), app.client());
    // No answer, and no charge: it is asked for, sent again, and goes on as usual.
    let creation = std::thread::spawn(move || id_of(&creating.create(&pix(10_092))));
    let id = eventually(PATIENCE, "the payment is stored", || {
        let listed = client.get("/pay/payments").expect(200);
        listed["data"].as_array().unwrap().first().map(id_of)
    });
    let cancel = format!("/pay/payments/{id}/cancel");
    let unclear = client.post_empty(&cancel);
    unclear.expect_error(503, "outcome_unknown");
    assert!(unclear.header("retry-after").is_some(), "{unclear}");
    assert_eq!(client.payment(&id)["status"], "initial");
    assert_eq!(creation.join().unwrap(), id);
    client.wait_for_status(&id, "paid");
    let refused = client.post_empty(&cancel).expect_error(409, "status_conflict");
    assert!(refused["message"].as_str().unwrap().contains("paid"), "{refused:#}");
    assert_eq!(client.history(&id), ["pending", "paid"]);
}
