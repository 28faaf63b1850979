//! Receivers that fail, are slow, redirect, or are gone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Edit, PATIENCE, Received, Reply, TestApp, TestReceiver, eventually, pause, pix};

/// The second attempt is after 5 s ± 20 %.
const SECOND_ATTEMPT_WITHIN: Duration = Duration::from_secs(20);

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

#[test]
fn a_failed_event_is_repeated_after_five_seconds_unchanged() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(500).body("out of order"));
    let client = app.client();
    let id = id_of(&client.create(&pix(10_027).with("postbackUrl", json!(receiver.url()))));
    let first = receiver.wait_for(1, PATIENCE).remove(0);
    receiver.answer(200);
    let second = receiver.wait_for(2, SECOND_ATTEMPT_WITHIN).remove(1);
    let wait = second.at - first.at;
    assert!((Duration::from_millis(3_900)..Duration::from_secs(9)).contains(&wait), "{wait:?}");
    assert_eq!((second.webhook_id(), &second.body), (first.webhook_id(), &first.body));
    let delivery = eventually(PATIENCE, "the delivery is confirmed", || {
        client.deliveries(&id).into_iter().find(|delivery| delivery["state"] == "delivered")
    });
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!((&attempts[0]["status"], &attempts[1]["status"]), (&json!(500), &json!(200)), "{delivery:#}");
    assert_eq!((&attempts[0]["answer"], attempts.len()), (&json!("out of order"), 2));
    assert!(delivery["deliveredAt"].is_string() && delivery["nextAttemptAt"].is_null(), "{delivery:#}");
}

#[test]
fn later_events_wait_for_an_earlier_one_that_fails() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer(503);
    let client = app.client();
    let id = id_of(&client.create(&pix(10_000).with("postbackUrl", json!(receiver.url()))));
    client.wait_for_status(&id, "paid");
    receiver.wait_for(1, PATIENCE);
    pause(Duration::from_secs(1));
    assert!(receiver.received().iter().all(|request| request.text("event") == "payment.pending"));
    receiver.answer(200);
    receiver.wait_until(SECOND_ATTEMPT_WITHIN, "payment.paid", |received| {
        received.iter().any(|request| request.text("event") == "payment.paid")
    });
    let told: Vec<_> = receiver.received().iter().map(|request| request.text("event")).collect();
    assert_eq!(told, ["payment.pending", "payment.pending", "payment.paid"]);
}

#[test]
fn redirects_are_not_followed_and_do_not_confirm() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let elsewhere = TestReceiver::start();
    let target = elsewhere.url();
    receiver.answer_with(move |_| Reply::status(302).header("Location", &target));
    let client = app.client();
    let id = id_of(&client.create(&pix(10_027).with("postbackUrl", json!(receiver.url()))));
    receiver.wait_for(1, PATIENCE);
    let delivery = eventually(PATIENCE, "the attempt is listed", || {
        client.deliveries(&id).into_iter().find(|delivery| delivery["attempts"] != json!([]))
    });
    assert_eq!((&delivery["state"], &delivery["attempts"][0]["status"]), (&json!("pending"), &json!(302)));
    assert!(delivery["nextAttemptAt"].is_string(), "{delivery:#}");
    assert_eq!(elsewhere.received().len(), 0);
}

#[test]
fn gone_ends_the_attempts_for_that_payment() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer(410);
    let client = app.client();
    let request = pix(10_000).with("postbackUrl", json!(receiver.url()));
    let id = id_of(&client.create(&request));
    client.wait_for_status(&id, "paid");
    let states = |id: &str| -> Vec<String> {
        client.deliveries(id).iter().map(|delivery| delivery["state"].as_str().unwrap().to_owned()).collect()
    };
    eventually(PATIENCE, "all deliveries have ended", || {
        (states(&id) == ["exhausted", "exhausted"]).then_some(())
    });
    pause(Duration::from_secs(1));
    assert_eq!(receiver.received().len(), 1, "nothing is sent after 410");
    receiver.answer(200);
    let other = id_of(&client.create(&request));
    receiver.wait_for_events(&other, 2, PATIENCE);
}

#[test]
fn retry_after_is_obeyed() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(503).header("Retry-After", "9"));
    let client = app.client();
    client.create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    let first = receiver.wait_for(1, PATIENCE).remove(0);
    receiver.answer(200);
    let second = receiver.wait_for(2, SECOND_ATTEMPT_WITHIN).remove(1);
    let wait = second.at - first.at;
    assert!((Duration::from_millis(8_500)..Duration::from_secs(14)).contains(&wait), "{wait:?}");
}

#[test]
fn an_answer_that_is_endless_is_cut_off_and_shown_in_part() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(500).body(&"é".repeat(200_000)));
    let client = app.client();
    let id = id_of(&client.create(&pix(10_027).with("postbackUrl", json!(receiver.url()))));
    let delivery = eventually(PATIENCE, "the attempt is listed", || {
        client.deliveries(&id).into_iter().find(|delivery| delivery["attempts"] != json!([]))
    });
    let attempt = &delivery["attempts"][0];
    assert_eq!(attempt["status"], 500, "{delivery:#}");
    assert_eq!(attempt["answer"].as_str().map(|answer| answer.chars().count()), Some(256));
}

#[test]
fn a_receiver_that_never_answers_delays_nobody_else() {
    let app = TestApp::new();
    let dead = TestReceiver::start();
    let live = TestReceiver::start();
    dead.answer_with(|_| Reply::status(200).after(Duration::from_secs(120)));
    let client = app.client();
    for _ in 0..150 {
        client.create(&pix(10_027).with("postbackUrl", json!(dead.url())));
    }
    dead.wait_for(1, PATIENCE);
    let begun = Instant::now();
    let id = id_of(&client.create(&pix(10_027).with("postbackUrl", json!(live.url()))));
    live.wait_for_events(&id, 1, Duration::from_secs(5));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_receiver_that_is_too_slow_is_cut_off_and_asked_again() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(200).after(Duration::from_secs(60)));
    let client = app.client();
    let id = id_of(&client.create(&pix(10_027).with("postbackUrl", json!(receiver.url()))));
    receiver.wait_for(1, PATIENCE);
    receiver.answer(200);
    let requests = receiver.wait_for(2, Duration::from_secs(40));
    let wait = requests[1].at - requests[0].at;
    assert!(wait > Duration::from_secs(15), "15 s for the exchange, then 5 s ± 20 %: {wait:?}");
    let delivery = client.deliveries(&id).remove(0);
    assert!(delivery["attempts"][0]["status"].is_null(), "{delivery:#}");
    assert!(delivery["attempts"][0]["error"].as_str().is_some_and(|error| !error.is_empty()), "{delivery:#}");
}

#[test]
fn nobody_at_the_address_is_an_error_that_is_listed() {
    let app = TestApp::new();
    let client = app.client();
    let address = TestReceiver::start().url();
    let id = id_of(&client.create(&pix(10_027).with("postbackUrl", json!(address))));
    let delivery = eventually(PATIENCE, "the attempt is listed", || {
        client.deliveries(&id).into_iter().find(|delivery| delivery["attempts"] != json!([]))
    });
    let attempt = &delivery["attempts"][0];
    assert!(attempt["error"].is_string() && attempt["status"].is_null(), "{delivery:#}");
    assert_eq!(delivery["state"], "pending");
}

#[test]
fn every_attempt_has_its_own_signature() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer(500);
    let secret = app.secret();
    app.client().create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    receiver.wait_for(1, PATIENCE);
    receiver.answer(200);
    let requests = receiver.wait_for(2, SECOND_ATTEMPT_WITHIN);
    let timestamp = |request: &Received| request.header("webhook-timestamp").unwrap().parse::<u64>().unwrap();
    assert!(timestamp(&requests[1]) >= timestamp(&requests[0]) + 3, "the timestamp is the attempt's");
    for request in &requests {
        crate::support::check_with_standard_webhooks(request, &secret);
        let expected = crate::support::signature_of(request, &secret);
        assert_eq!(request.header("webhook-signature"), Some(&*expected));
    }
}
