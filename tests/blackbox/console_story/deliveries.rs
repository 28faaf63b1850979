//! A receiver that was broken for a while, and what was given up meanwhile.

use serde_json::json;

use crate::support::{
    Account, Browser, Edit, PATIENCE, TestApp, TestReceiver, Visitor, eventually, form, pix,
};

#[test]
fn what_was_given_up_is_seen_and_sent_again_all_at_once_and_only_once() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let receiver = TestReceiver::start();
    // A receiver that answers this wants no more events of the payment.
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
    for (told, received) in [("Events redelivered: 3.", 6), ("Events redelivered: 0.", 6)] {
        browser.click("a[href$=\"/deliveries/redeliver\"]");
        browser.wait_for_text("h1", "Redeliver all?");
        browser.submit();
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

/// By plain HTTP: what a row of the receivers leads to, and what its form does.
#[test]
fn what_was_given_up_to_one_receiver_is_sent_again_and_to_no_other() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "dora@shop.example", "developer"));
    let receivers = [TestReceiver::start(), TestReceiver::start()];
    let [mended, other] = &receivers;
    let client = app.client();
    for receiver in &receivers {
        receiver.answer(410);
        let request = pix(10_027).with("postbackUrl", json!(receiver.url()));
        let id = client.create(&request)["transactionId"].as_str().unwrap().to_owned();
        eventually(PATIENCE, "it is given up", || {
            (client.deliveries(&id)[0]["state"] == "exhausted").then_some(())
        });
        receiver.answer(200);
    }
    let host = mended.url().replace("http://", "").replace("/webhooks", "");
    let listed = visitor.page("/console/test/deliveries");
    let link = format!("/console/test/deliveries/redeliver?receiver={}", host.replace(':', "%3A"));
    assert!(listed.contains(&format!("href=\"{link}\"")), "its row leads there: {listed}");
    let asked = visitor.page(&link);
    assert!(asked.contains(&format!("name=\"receiver\" value=\"{host}\"")), "{asked}");
    let fields = [("since", "2026-01-01T00:00"), ("receiver", &*host)];
    for count in [1, 0] {
        let answer = visitor.post("/console/test/deliveries/redeliver", &fields);
        let told = format!("/console/test/deliveries?redelivered={count}");
        assert_eq!((answer.status, answer.header("location")), (303, Some(&*told)), "{answer}");
    }
    assert_eq!((mended.wait_for(2, PATIENCE).len(), other.received().len()), (2, 1));
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let log = owner.page("/console/test/audit");
    assert!(log.contains(&format!("1 since 2026-01-01T03:00:00.000Z to {host}")), "{log}");
    let all = visitor.post("/console/test/deliveries/redeliver", &[("since", "2026-01-01T00:00")]);
    assert_eq!(all.header("location"), Some("/console/test/deliveries?redelivered=1"), "{all}");
    assert_eq!((other.wait_for(2, PATIENCE).len(), mended.received().len()), (2, 2));
}

#[test]
fn the_next_click_goes_on_with_the_same_time_and_receiver() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "dora@shop.example", "developer"));
    let place = "MTc2Mzc0NDQwMDAwMC4wMTk4MDAwMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA";
    for rest in [place, ""] {
        let wanted = [("since", "2026-11-21T12:30:05"), ("receiver", "a.example:81"), ("rest", rest)];
        let query = form(&wanted);
        let told = visitor.page(&format!("/console/test/deliveries?redelivered=1000&{query}"));
        let link = format!("/console/test/deliveries/redeliver?{query}");
        assert!(told.contains(&format!("<a href=\"{}\">", link.replace('&', "&#38;"))), "{link}: {told}");
        let asked = visitor.page(&link);
        for (name, value) in [("since", wanted[0].1), ("receiver", wanted[1].1), ("cursor", rest)] {
            assert!(asked.contains(&format!("value=\"{value}\"")), "{name}: {asked}");
        }
    }
}

#[test]
fn failing_deliveries_are_counted_in_the_navigation_of_their_mode() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let counts = |mode: &str| {
        let page = visitor.page(&format!("/console/{mode}/payments"));
        page.contains(" <span class=\"count tone-over\">1</span></a>")
    };
    assert!(!counts("test"));
    let receiver = TestReceiver::start();
    receiver.answer(500);
    app.client().create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    eventually(PATIENCE, "the failing delivery is counted", || counts("test").then_some(()));
    assert!(!counts("live"));
}
