//! The events of a payment, as `GET …/events` tells them.

use serde_json::{Value, json};

use crate::support::{TestApp, card, pix};

#[test]
fn every_change_is_an_event_and_the_creation_is_none() {
    let app = TestApp::new();
    let client = app.client();
    let id = client.create(&pix(10_041))["transactionId"].as_str().unwrap().to_owned();
    let record = client.wait_for_status(&id, "refund");
    let events = client.events(&id);
    let told: Vec<_> = events
        .iter()
        .map(|event| {
            (event["sequence"].as_u64().unwrap(), &event["event"], &event["status"], &event["previousStatus"])
        })
        .collect();
    let expected = [
        (1, "payment.pending", "pending", "initial"),
        (2, "payment.paid", "paid", "pending"),
        (3, "payment.refund", "refund", "paid"),
    ]
    .map(|(sequence, event, status, previous)| (sequence, json!(event), json!(status), json!(previous)));
    let told: Vec<_> = told.into_iter().map(|(n, e, s, p)| (n, e.clone(), s.clone(), p.clone())).collect();
    assert_eq!(told, expected);
    for event in &events {
        let names: Vec<_> = event.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["actor", "event", "occurredAt", "previousStatus", "reason", "sequence", "status"]);
        assert_eq!(event["actor"], "acquirer", "{event}");
    }
    let times: Vec<_> = events.iter().map(|event| event["occurredAt"].as_str().unwrap()).collect();
    assert!(times.is_sorted() && record["createdAt"].as_str().unwrap() <= times[0], "{times:?}");
    assert_eq!(
        (&record["paidAt"], &record["refundedAt"]),
        (&events[1]["occurredAt"], &events[2]["occurredAt"])
    );
}

#[test]
fn the_reason_and_the_actor_say_why() {
    let app = TestApp::new();
    let client = app.client();
    let declined = client.create(&card("4000000000009995", 10_000));
    let event = client.events(declined["transactionId"].as_str().unwrap())[0].clone();
    assert_eq!((&event["status"], &event["reason"]), (&json!("declined"), &json!("insufficient_funds")));
    assert_eq!(event["actor"], "acquirer");
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    client.post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
    let events = client.events(&id);
    assert_eq!((&events[0]["reason"], &events[1]["actor"]), (&Value::Null, &json!("merchant")));
}

#[test]
fn events_survive_a_restart() {
    let mut app = TestApp::new();
    let id = app.client().create(&pix(10_000))["transactionId"].as_str().unwrap().to_owned();
    app.client().wait_for_status(&id, "paid");
    let before = (app.client().events(&id), app.client().payment(&id)["version"].clone());
    app.kill();
    app.restart();
    assert_eq!((app.client().events(&id), app.client().payment(&id)["version"].clone()), before);
}

#[test]
fn an_expiry_that_passes_while_the_service_is_down_is_made_up_for() {
    let mut app = TestApp::builder().arg("--sandbox-settle-after", "1s").start();
    let id = app.client().create(&pix(10_071))["transactionId"].as_str().unwrap().to_owned();
    app.kill();
    crate::support::pause(std::time::Duration::from_millis(2_500));
    app.restart();
    app.client().wait_for_status(&id, "paid");
}

#[test]
fn a_payment_that_was_left_alone_goes_on_where_it_was() {
    let app = TestApp::new();
    let client = app.client();
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    // An actor that nobody asks for 10 s is put away.
    crate::support::pause(std::time::Duration::from_secs(12));
    client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    assert_eq!(client.history(&id), ["pending", "paid"]);
    client.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": 100})).expect(201);
}
