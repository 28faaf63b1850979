//! SIGKILL in the middle of the work: what was answered stays true, and every event arrives.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::{Edit, Reply, TestApp, TestReceiver, card, pause, pix};

/// Longer than the lease of a delivery or a charge that was under way, 30 s.
const AFTER_A_CRASH: Duration = Duration::from_secs(60);

#[test]
fn an_event_that_was_not_yet_delivered_is_delivered_after_the_crash() {
    let mut app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(200).after(Duration::from_secs(60)));
    let client = app.client();
    let record = client.create(&card("4242424242424242", 10_000).with("postbackUrl", json!(receiver.url())));
    assert_eq!(record["status"], "paid");
    let id = record["transactionId"].as_str().unwrap();
    let first = receiver.wait_for(1, crate::support::PATIENCE).remove(0);
    app.kill();
    receiver.answer(200);
    app.restart();
    let events = receiver.wait_for_events(id, 3, AFTER_A_CRASH);
    let told: Vec<_> = events.iter().map(|event| event.text("event")).collect();
    assert_eq!(told, ["payment.approved", "payment.approved", "payment.paid"]);
    assert_eq!((events[1].webhook_id(), &events[1].body), (first.webhook_id(), &first.body));
}

#[test]
fn a_payment_that_waits_is_paid_after_the_crash() {
    let mut app = TestApp::builder().arg("--sandbox-settle-after", "1s").start();
    let receiver = TestReceiver::start();
    let record = app.client().create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    let id = record["transactionId"].as_str().unwrap();
    app.kill();
    pause(Duration::from_millis(1_200));
    app.restart();
    app.client().wait_for_status(id, "paid");
    assert_eq!(receiver.wait_for_told(id, "paid", AFTER_A_CRASH), ["pending", "paid"]);
}

#[test]
fn a_charge_whose_answer_was_lost_in_the_crash_happens_once() {
    let mut app = TestApp::builder().arg("--sandbox-time-out", "2s").start();
    let client = app.client();
    let request = card("4000000000000119", 10_000);
    let lost = thread::scope(|scope| {
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "k")];
        let body = request.to_string();
        let post = scope.spawn(move || client.try_send("POST", "/pay/payments", &headers, body.as_bytes()));
        crate::support::eventually(crate::support::PATIENCE, "the request has arrived", || {
            let page = app.client().get("/pay/payments").expect(200);
            (page["data"] != json!([])).then_some(())
        });
        app.kill();
        post.join().unwrap()
    });
    assert!(lost.is_err(), "{lost:?}");
    app.restart();
    let client = app.client();
    let record = client.post_once("/pay/payments", "k", &request).expect(200);
    let id = record["transactionId"].as_str().unwrap();
    let record = client.wait_for_status_within(AFTER_A_CRASH, id, "paid");
    assert_eq!(record["routing"]["attempts"].as_array().unwrap().len(), 1, "{record:#}");
    assert_eq!(client.history(id), ["approved", "paid"]);
    assert_eq!(client.get("/pay/payments").expect(200)["data"].as_array().unwrap().len(), 1);
}

#[test]
fn nothing_that_was_answered_is_lost_in_a_crash_under_load() {
    let mut app = TestApp::new();
    let receiver = TestReceiver::start();
    let request = pix(10_000).with("postbackUrl", json!(receiver.url()));
    let answered = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            let client = app.client();
            let request = &request;
            let answered = &answered;
            scope.spawn(move || {
                let headers = [("Content-Type", "application/json")];
                let body = request.to_string();
                while let Ok(answer) = client.try_send("POST", "/pay/payments", &headers, body.as_bytes()) {
                    let id = answer.expect(201)["transactionId"].as_str().unwrap().to_owned();
                    answered.lock().unwrap().push(id);
                }
            });
        }
        receiver.wait_for(150, crate::support::PATIENCE);
        app.kill();
    });
    app.restart();
    let client = app.client();
    let ids = answered.into_inner().unwrap();
    assert!(ids.len() >= 50, "{}", ids.len());
    for id in &ids {
        client.wait_for_status(id, "paid");
        assert_eq!(receiver.wait_for_told(id, "paid", AFTER_A_CRASH), ["pending", "paid"], "{id}");
    }
}

#[test]
fn a_cancellation_that_was_answered_stays_after_the_crash() {
    let mut app = TestApp::new();
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    app.client().post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
    app.kill();
    app.restart();
    assert_eq!(app.client().payment(&id)["status"], "cancelled");
    assert_eq!(app.client().history(&id), ["pending", "cancelled"]);
}
