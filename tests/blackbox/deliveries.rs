//! Deliveries: listing them, and delivering an event again.

use serde_json::{Value, json};

use crate::support::{Client, Edit, PATIENCE, Received, TestApp, TestReceiver, eventually, pix};

const DELIVERY: [&str; 11] = [
    "attempts",
    "deliveredAt",
    "event",
    "id",
    "isRedelivery",
    "nextAttemptAt",
    "originalDeliveryId",
    "sequence",
    "state",
    "transactionId",
    "url",
];

/// Creates a payment that is reported to the receiver, and waits until all of it was delivered.
fn delivered(client: &Client, receiver: &TestReceiver) -> String {
    let id = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())))["transactionId"].clone();
    let id = id.as_str().unwrap().to_owned();
    eventually(PATIENCE, "both events are confirmed", || {
        let deliveries = client.deliveries(&id);
        let is_done =
            deliveries.len() == 2 && deliveries.iter().all(|delivery| delivery["state"] == "delivered");
        is_done.then_some(())
    });
    id
}

#[test]
fn a_delivery_tells_its_attempts() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| crate::support::Reply::status(202).body("thanks"));
    let client = app.client();
    let id = delivered(&client, &receiver);
    let mut deliveries = client.deliveries(&id);
    deliveries.sort_by_key(|delivery| delivery["sequence"].as_u64());
    let events: Vec<_> = deliveries.iter().map(|delivery| delivery["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["payment.pending", "payment.paid"]);
    for delivery in &deliveries {
        for name in DELIVERY {
            assert!(delivery.get(name).is_some(), "{name}: {delivery:#}");
        }
        assert_eq!((&delivery["transactionId"], &delivery["url"]), (&json!(id), &json!(receiver.url())));
        assert_eq!(
            (&delivery["isRedelivery"], &delivery["originalDeliveryId"]),
            (&json!(false), &Value::Null)
        );
        let attempts = delivery["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 1);
        let names: Vec<_> = attempts[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["answer", "at", "durationMs", "error", "status"]);
        assert_eq!((&attempts[0]["status"], &attempts[0]["answer"]), (&json!(202), &json!("thanks")));
    }
}

#[test]
fn a_redelivery_is_the_same_event_again() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let id = delivered(&client, &receiver);
    let before = receiver.received();
    let original =
        client.deliveries(&id).into_iter().find(|delivery| delivery["event"] == "payment.pending").unwrap();
    let path = format!("/pay/webhooks/deliveries/{}/redeliver", original["id"].as_str().unwrap());
    let redelivery = client.post_empty(&path).expect(202);
    assert_eq!(
        (&redelivery["isRedelivery"], &redelivery["originalDeliveryId"]),
        (&json!(true), &original["id"])
    );
    assert_ne!(redelivery["id"], original["id"]);
    let again = receiver.wait_for(3, PATIENCE).remove(2);
    let first = before.iter().find(|request| request.text("event") == "payment.pending").unwrap();
    assert_eq!((again.webhook_id(), &again.body), (first.webhook_id(), &first.body));
    eventually(PATIENCE, "the redelivery is confirmed", || {
        let deliveries = client.deliveries(&id);
        let found = deliveries.iter().find(|delivery| delivery["id"] == redelivery["id"])?;
        (found["state"] == "delivered").then_some(())
    });
    assert_eq!(client.events(&id).len(), 2, "no event was added");
}

#[test]
fn an_exhausted_delivery_can_be_redelivered() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer(410);
    let client = app.client();
    let record = client.create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    let id = record["transactionId"].as_str().unwrap();
    let exhausted = eventually(PATIENCE, "the delivery is exhausted", || {
        client.deliveries(id).into_iter().find(|delivery| delivery["state"] == "exhausted")
    });
    receiver.answer(200);
    let path = format!("/pay/webhooks/deliveries/{}/redeliver", exhausted["id"].as_str().unwrap());
    client.post_empty(&path).expect(202);
    let requests = receiver.wait_for(2, PATIENCE);
    let ids: Vec<_> = requests.iter().map(Received::webhook_id).collect();
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn an_unknown_delivery_is_404() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let id = delivered(&client, &receiver);
    let known = client.deliveries(&id)[0]["id"].as_str().unwrap().to_owned();
    let digits = known.trim_end_matches(|c: char| c.is_ascii_digit());
    let unknown = format!("{digits}999");
    client
        .post_empty(&format!("/pay/webhooks/deliveries/{unknown}/redeliver"))
        .expect_error(404, "not_found");
}

#[test]
fn deliveries_are_filtered_and_paged() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let failing = TestReceiver::start();
    failing.answer(500);
    let client = app.client();
    let good: Vec<_> = (0..3).map(|_| delivered(&client, &receiver)).collect();
    let bad = client.create(&pix(10_027).with("postbackUrl", json!(failing.url())));
    failing.wait_for(1, PATIENCE);
    let list = |query: &str| client.get(&format!("/pay/webhooks/deliveries?{query}")).expect(200);
    let count = |query: &str| list(query)["data"].as_array().unwrap().len();
    assert_eq!((count(""), count("state=delivered"), count("state=exhausted")), (7, 6, 0));
    assert_eq!(count(&format!("transactionId={}", good[0])), 2);
    let pending = list("state=pending");
    assert_eq!(pending["data"][0]["transactionId"], bad["transactionId"]);
    assert_eq!(pending["data"].as_array().unwrap().len(), 1);

    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = list(&format!("state=delivered&limit=4{cursor}"));
        let ids = page["data"].as_array().unwrap().iter().map(|delivery| delivery["id"].to_string());
        seen.extend(ids);
        let Some(next) = page["nextCursor"].as_str() else { break };
        assert_eq!(page["hasMore"], true);
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen.len(), 6);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6, "none twice");
}
