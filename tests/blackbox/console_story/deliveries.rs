//! A receiver that was broken for a while, and what was given up meanwhile.

use serde_json::json;

use crate::support::{Account, Browser, Edit, PATIENCE, TestApp, TestReceiver, eventually, pix};

const SUBMIT: &str = "main form .button-primary";

#[test]
fn what_was_given_up_is_seen_and_sent_again_all_at_once_and_only_once() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let receiver = TestReceiver::start();
    // Whoever answers this wants no event of the payment any more.
    receiver.answer(410);
    let client = app.client();
    let ids: Vec<String> = (0..3)
        .map(|_| {
            let request = pix(10_027).with("postbackUrl", json!(receiver.url()));
            client.create(&request)["transactionId"].as_str().unwrap().to_owned()
        })
        .collect();
    eventually(PATIENCE, "all three are given up", || {
        let is_over =
            |id: &String| client.deliveries(id).iter().all(|delivery| delivery["state"] == "exhausted");
        ids.iter().all(is_over).then_some(())
    });
    let before = receiver.wait_for(3, PATIENCE);
    receiver.answer(200);
    Account::create(&app, "shop", "dora@shop.example", "developer").sign_in(&app, &browser);
    browser.click(".nav a[href$=\"/deliveries\"]");
    browser.click(".tabs a[href*=\"exhausted\"]");
    browser.wait_for("section[aria-label=\"Exhausted\"] tbody tr");
    assert_eq!(browser.count("section[aria-label=\"Exhausted\"] tbody tr"), 3);
    let health = browser.text("section[aria-labelledby=\"receivers-title\"] tbody");
    assert!(health.contains("127.0.0.1") && health.contains("0 %") && health.contains("410"), "{health}");
    browser.look("deliveries");
    for (told, received) in [("Events sent again: 3.", 6), ("Events sent again: 0.", 6)] {
        browser.click("a[href$=\"/deliveries/redeliver\"]");
        browser.wait_for_text("h1", "Redeliver all?");
        browser.click(SUBMIT);
        browser.wait_for_text(".note", told);
        assert_eq!(receiver.wait_for(received, PATIENCE).len(), received);
    }
    let again = &receiver.received()[3..];
    for id in &ids {
        let of = |requests: &[crate::support::Received]| {
            requests
                .iter()
                .find(|request| request.text("transactionId") == *id)
                .map(|request| (request.webhook_id(), request.body.clone()))
        };
        assert_eq!(of(again), of(&before), "the same event under the same id");
    }
    browser.click(".tabs a[href*=\"delivered\"]");
    eventually(PATIENCE, "the second deliveries are confirmed", || {
        browser.go_to(&format!("{}/console/test/deliveries?state=delivered", app.url()));
        (browser.count("section[aria-label=\"Delivered\"] tbody .tag") == 3).then_some(())
    });
}
