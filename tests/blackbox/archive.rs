//! `archive-after`: what is finished moves out of the way, and whoever asks for it does not notice.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    PATIENCE, TestApp, TestReceiver, Visitor, boleto, eventually, grown_older, is_mongodb, pix,
};

const YEAR: Duration = Duration::from_secs(366 * 24 * 3_600);

fn id_of(record: &Value) -> &str {
    record["transactionId"].as_str().unwrap()
}

fn metric(app: &TestApp, name: &str) -> u64 {
    let metrics = app.ops().get("/metrics").text();
    let value = metrics.lines().filter_map(|line| line.split_once(' ')).find(|(found, _)| *found == name);
    value.unwrap_or_else(|| panic!("{name}: {metrics}")).1.parse().unwrap()
}

/// Runs the job, and waits until so many payments were archived by this process.
fn archive(app: &TestApp, count: u64) {
    assert_eq!(Visitor::operator(app).post("/jobs/archive", &[]).status, 303);
    eventually(PATIENCE, "what is finished is archived", || {
        (metric(app, "quita_payments_archived_total") == count).then_some(())
    });
}

fn status(app: &TestApp) -> String {
    app.quita(&["store", "status"]).output()
}

#[test]
fn an_archived_payment_is_answered_for_as_before_and_goes_on() {
    let receiver = TestReceiver::start();
    // Pages have the same address on every node.
    let node = || TestApp::builder().arg("--public-url", "http://127.0.0.1:1");
    let mut app = node().env("QUITA_ARCHIVE_AFTER", "1y").start();
    let other = is_mongodb().then(|| node().store(app.store_url()).start());
    let client = app.client();
    let requests = [pix(10_000), boleto(10_000), pix(20_000)].map(|mut request| {
        request["postbackUrl"] = json!(receiver.url());
        request["externalReference"] = json!("pedido-1");
        request
    });
    let mut ids = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        let record = client.post_once("/pay/payments", &format!("order-{number}"), request).expect(201);
        client.wait_for_status(id_of(&record), "paid");
        receiver.wait_for_told(id_of(&record), "paid", PATIENCE);
        ids.push(id_of(&record).to_owned());
    }
    eventually(PATIENCE, "every delivery is noted", || {
        let is_done = |id: &String| client.deliveries(id).iter().all(|one| one["state"] == "delivered");
        ids.iter().all(is_done).then_some(())
    });
    app.kill();
    for id in &ids[..2] {
        grown_older(app.store_url(), id, YEAR * 2);
    }
    app.restart();
    let client = app.client();
    assert_eq!(metric(&app, "quita_payments_archived_total"), 0);
    assert_eq!(status(&app), "stored form: 1\npayments archived: 0");
    let list = "/pay/payments?externalReference=pedido-1";
    let all = || {
        let records: Vec<_> = ids.iter().map(|id| client.payment(id)).collect();
        let events: Vec<_> = ids.iter().map(|id| client.events(id)).collect();
        (records, events, client.get(list).expect(200), client.get("/pay/payments?status=paid").expect(200))
    };
    let before = all();
    archive(&app, 2);
    assert_eq!(status(&app), "stored form: 1\npayments archived: 2");
    assert_eq!(all(), before);
    if let Some(other) = &other {
        let beside = other.client_with(app.key());
        assert_eq!(beside.payment(&ids[0]), before.0[0]);
        assert_eq!(beside.get(list).expect(200), before.2);
    }
    for (number, request) in requests.iter().enumerate() {
        let replayed = client.post_once("/pay/payments", &format!("order-{number}"), request);
        assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
        assert_eq!(replayed.expect(200), before.0[number]);
    }
    it_goes_on(&app, &receiver, &ids[0]);
    assert_eq!(status(&app), "stored form: 1\npayments archived: 2");
    // Where it is, somebody who asks for it is unrecognisable.
    let erased = app.quita(&["privacy", "erase", "--transaction", &ids[1]]);
    assert_eq!(erased.stdout.trim(), "erased 1, erased before 0, not finished 0", "{erased:?}");
    assert_eq!(client.payment(&ids[1])["customer"]["document"], "***********");
    app.kill();
    app.restart();
    assert_eq!(app.client().payment(&ids[0])["status"], "chargeback");
    assert_eq!(app.client().payment(&ids[1])["customer"]["document"], "***********");
}

/// Money of it moves, and its events are told.
fn it_goes_on(app: &TestApp, receiver: &TestReceiver, id: &str) {
    let client = app.client();
    let refund = client.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": 100})).expect(201);
    assert_eq!(refund["amount"], "1.00");
    eventually(PATIENCE, "the refund is done", || {
        (client.payment(id)["refundedAmount"] == "1.00").then_some(())
    });
    let told = receiver.events_of(id).len();
    let last = client.deliveries(id)[0]["id"].as_str().unwrap().to_owned();
    client.post_empty(&format!("/pay/webhooks/deliveries/{last}/redeliver")).expect(202);
    receiver.wait_for_events(id, told + 1, PATIENCE);
    client.post_empty(&format!("/sandbox/payments/{id}/chargeback")).expect(200);
    client.wait_for_status(id, "chargeback");
    receiver.wait_for_told(id, "chargeback", PATIENCE);
    let listed = client.get("/pay/payments?status=chargeback").expect(200);
    assert_eq!(id_of(&listed["data"][0]), id);
}

#[test]
fn what_is_young_or_not_finished_stays_and_nothing_is_archived_unless_it_is_asked_for() {
    let mut app = TestApp::builder().env("QUITA_ARCHIVE_AFTER", "90d").start();
    let client = app.client();
    let waiting = client.create(&pix(10_027));
    let paid = client.create(&pix(10_000));
    client.wait_for_status(id_of(&paid), "paid");
    app.kill();
    grown_older(app.store_url(), id_of(&waiting), Duration::from_secs(89 * 24 * 3_600));
    app.restart();
    let operator = Visitor::operator(&app);
    assert_eq!(operator.post("/jobs/archive", &[]).status, 303);
    eventually(PATIENCE, "the job ran", || {
        let page = operator.page("/jobs");
        let row = page.split("<tr>").find(|row| row.contains("<code class=\"sub\">archive</code>")).unwrap();
        row.contains(">Done<").then_some(())
    });
    assert_eq!(metric(&app, "quita_payments_archived_total"), 0);
    for more in ["0", ""] {
        let app = if more.is_empty() {
            TestApp::new()
        } else {
            TestApp::builder().arg("--archive-after", more).start()
        };
        assert_eq!(Visitor::operator(&app).get("/jobs/archive").status, 404);
        assert_eq!(metric(&app, "quita_payments_archived_total"), 0, "counted from the start");
    }
}
