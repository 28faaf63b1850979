//! The store goes away while the service runs: nothing is charged, and all is well when it is back.

use std::time::Duration;

use serde_json::json;

use crate::support::{
    Edit, PATIENCE, Proxy, TestApp, TestReceiver, card, eventually, is_mongodb, mongodb_host, pix,
};

/// The MongoDB driver needs a moment to find its server again.
const RECOVERS_WITHIN: Duration = Duration::from_secs(60);

fn app_on_a_wire() -> Option<(TestApp, Proxy)> {
    if !is_mongodb() {
        println!("skipped: the way to an SQLite file can't be cut");
        return None;
    }
    let proxy = Proxy::to(&mongodb_host());
    let app = TestApp::builder().store_by_way_of(&proxy).expects_store_away().start();
    Some((app, proxy))
}

#[test]
fn requests_are_503_while_the_store_is_away_and_work_again_afterwards() {
    let Some((app, proxy)) = app_on_a_wire() else { return };
    let client = app.client();
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    assert_eq!(app.ops().get("/health/ready").status, 200);
    proxy.cut();
    let answer = client.post_once("/pay/payments", "k", &card("4242424242424242", 10_000));
    assert_eq!(answer.status, 503, "{answer}");
    answer.expect_error_shape();
    assert!(answer.header("retry-after").is_some(), "{answer}");
    for inside in [proxy.address(), mongodb_host()] {
        assert!(!answer.text().contains(&inside), "nothing of the inside: {answer}");
    }
    eventually(PATIENCE, "it is not ready", || (app.ops().get("/health/ready").status == 503).then_some(()));
    assert_eq!(app.ops().get("/health/live").status, 200);
    proxy.mend();
    eventually(RECOVERS_WITHIN, "it is ready", || {
        (app.ops().get("/health/ready").status == 200).then_some(())
    });
    let record = eventually(RECOVERS_WITHIN, "the same key creates the payment", || {
        let answer = client.post_once("/pay/payments", "k", &card("4242424242424242", 10_000));
        [200, 201].contains(&answer.status).then(|| answer.json())
    });
    client.wait_for_status_within(RECOVERS_WITHIN, record["transactionId"].as_str().unwrap(), "paid");
    assert_eq!(client.payment(&id)["status"], "pending");
    let page = client.get("/pay/payments").expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 2, "one payment for one key");
}

#[test]
fn events_of_an_outage_arrive_afterwards() {
    let Some((app, proxy)) = app_on_a_wire() else { return };
    let receiver = TestReceiver::start();
    let client = app.client();
    let record = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    proxy.cut();
    crate::support::pause(Duration::from_secs(2));
    proxy.mend();
    let id = record["transactionId"].as_str().unwrap();
    eventually(RECOVERS_WITHIN, "it is ready", || {
        (app.ops().get("/health/ready").status == 200).then_some(())
    });
    client.wait_for_status_within(RECOVERS_WITHIN, id, "paid");
    assert_eq!(receiver.wait_for_told(id, "paid", RECOVERS_WITHIN), ["pending", "paid"]);
}
