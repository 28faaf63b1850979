//! Outcomes of PIX and boletos in the sandbox: every row of the table of cents.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};

use crate::support::{Client, Edit, PATIENCE, TestApp, TestReceiver, boleto, eventually, pause, pix};

/// Creates a payment by PIX and one by boleto with these cents, and gives their ids.
fn both(client: &Client, cents: u64) -> [String; 2] {
    [pix(10_000 + cents), boleto(10_000 + cents)].map(|request| id_of(&client.create(&request)))
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

/// Expects both methods to end in the last of these statuses, by way of the others.
#[track_caller]
fn check_history(cents: u64, expected: &[&str]) {
    let app = TestApp::new();
    let client = app.client();
    for id in both(&client, cents) {
        client.wait_for_status(&id, expected.last().unwrap());
        assert_eq!(client.history(&id), expected);
    }
}

/// Longest time until a charge is sent again and paid. That an acquirer does not know it is believed only after more
/// than ten seconds.
const SENT_AGAIN_WITHIN: Duration = Duration::from_secs(60);

/// Expects a payment to stay as it is for a while.
#[track_caller]
fn check_stays(client: &Client, id: &str, status: &str, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        assert_eq!(client.payment(id)["status"], status);
        pause(Duration::from_millis(50));
    }
}

#[test]
fn any_other_cents_are_paid() {
    check_history(0, &["pending", "paid"]);
    check_history(50, &["pending", "paid"]);
}

#[test]
fn payers_take_two_seconds_unless_configured() {
    let app = TestApp::builder().without("--sandbox-settle-after").start();
    let client = app.client();
    let id = id_of(&client.create(&pix(10_000)));
    // By the times of the record: a busy machine may be late to look.
    let record = client.wait_for_status(&id, "paid");
    let time = |name: &str| DateTime::parse_from_rfc3339(record[name].as_str().unwrap()).unwrap();
    let waited = time("paidAt") - time("createdAt");
    assert!(waited >= TimeDelta::milliseconds(1_900), "{waited}");
}

#[test]
fn cents_07_are_not_paid_at_once() {
    let app = TestApp::new();
    let client = app.client();
    let [pix, boleto] = both(&client, 7);
    check_stays(&client, &pix, "pending", Duration::from_secs(3));
    assert_eq!(client.payment(&boleto)["status"], "pending");
}

#[test]
fn cents_17_expire_at_once() {
    check_history(17, &["pending", "expired"]);
}

#[test]
fn cents_27_stay_pending() {
    let app = TestApp::new();
    let client = app.client();
    let [pix, boleto] = both(&client, 27);
    check_stays(&client, &pix, "pending", Duration::from_secs(1));
    assert_eq!(client.payment(&boleto)["status"], "pending");
}

#[test]
fn cents_31_are_paid_and_then_charged_back() {
    check_history(31, &["pending", "paid", "chargeback"]);
}

#[test]
fn cents_41_are_paid_and_then_refunded() {
    check_history(41, &["pending", "paid", "refund"]);
}

#[test]
fn a_boleto_with_cents_51_or_52_is_an_exception_and_a_pix_is_paid() {
    let app = TestApp::new();
    let client = app.client();
    for (cents, kind, status) in [(51, "amount_mismatch", "pending"), (52, "overpaid", "paid")] {
        let [pix, boleto] = both(&client, cents);
        client.wait_for_status(&pix, "paid");
        let exception = eventually(PATIENCE, "an exception about the boleto", || {
            let found = app.ops().get("/ops/exceptions").expect(200);
            let of_boleto = |exception: &&Value| exception["transactionId"] == *boleto;
            found["data"].as_array().unwrap().iter().find(of_boleto).cloned()
        });
        assert_eq!(exception["kind"], kind, "{exception}");
        for name in ["id", "detail", "advice", "reportedAt", "acquirer"] {
            assert!(exception[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {exception}");
        }
        assert_eq!(client.payment(&boleto)["status"], status, "cents {cents}");
    }
}

#[test]
fn cents_61_are_paid_once_though_the_notice_comes_twice() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let id = id_of(&client.create(&pix(10_061).with("postbackUrl", json!(receiver.url()))));
    client.wait_for_status(&id, "paid");
    receiver.wait_for_events(&id, 2, PATIENCE);
    pause(Duration::from_millis(500));
    let events: Vec<_> = receiver.events_of(&id).iter().map(|request| request.text("event")).collect();
    assert_eq!(events, ["payment.pending", "payment.paid"]);
    let paid = app.ops().get("/ops/exceptions").expect(200)["data"].clone();
    assert_eq!(paid, json!([]), "a notice that repeats is no exception");
}

#[test]
fn cents_62_are_paid_though_the_notice_comes_before_the_answer() {
    let app = TestApp::new();
    let client = app.client();
    for request in [pix(10_062), boleto(10_062)] {
        let created = client.create(&request);
        let code =
            |record: &Value| [record["pix"]["code"].clone(), record["boleto"]["digitableLine"].clone()];
        assert!(code(&created).iter().any(Value::is_string), "{created:#}");
        assert_eq!(created["routing"]["attempts"][0]["outcome"], "accepted", "{created:#}");
        let record = client.wait_for_status(&id_of(&created), "paid");
        assert_eq!(code(&record), code(&created));
        let history = client.history(&id_of(&created));
        assert!(history == ["paid"] || history == ["pending", "paid"], "{history:?}");
    }
    assert_eq!(app.ops().get("/ops/exceptions").expect(200)["data"], json!([]));
}

#[test]
fn cents_71_are_paid_after_they_expired() {
    let app = TestApp::new();
    let client = app.client();
    for id in both(&client, 71) {
        let record = client.wait_for_status(&id, "paid");
        assert_eq!(client.history(&id), ["pending", "expired", "paid"]);
        assert_eq!(record["statusReason"], "late_settlement");
        assert!(record["expiredAt"].is_string() && record["paidAt"].is_string(), "{record:#}");
        assert_eq!(client.events(&id)[2]["reason"], "late_settlement");
    }
}

#[test]
fn cents_91_time_out_and_were_created() {
    let app = TestApp::new();
    let client = app.client();
    for id in both(&client, 91) {
        client.wait_for_status(&id, "paid");
        let history = client.history(&id);
        // Its payer may have paid before a busy machine comes to ask.
        assert!(history == ["paid"] || history == ["pending", "paid"], "{history:?}");
    }
}

#[test]
fn cents_92_time_out_are_sent_again_and_go_on_as_usual() {
    let app = TestApp::new();
    let client = app.client();
    for id in both(&client, 92) {
        let record = client.wait_for_status_within(SENT_AGAIN_WITHIN, &id, "paid");
        assert_eq!(client.history(&id), ["pending", "paid"]);
        let attempts = record["routing"]["attempts"].as_array().unwrap();
        let outcomes: Vec<_> = attempts.iter().map(|attempt| attempt["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, ["not_delivered", "accepted"], "{record:#}");
        assert_eq!(attempts[0]["acquirer"], attempts[1]["acquirer"], "to the same one: {record:#}");
        let [first, again] = [0, 1].map(|place| attempts[place]["at"].as_str().unwrap().to_owned());
        assert!(first < again && !record["paidAt"].is_null(), "{record:#}");
    }
}

#[test]
fn what_timed_out_is_answered_within_reason_and_is_pending_later() {
    let app = TestApp::builder().arg("--sandbox-settle-after", "2s").start();
    for cents in [91, 92] {
        let begun = Instant::now();
        let record = app.client().create(&pix(10_000 + cents));
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        assert!(["initial", "pending"].contains(&record["status"].as_str().unwrap()), "{record:#}");
        let record = app.client().wait_for_status_within(SENT_AGAIN_WITHIN, &id_of(&record), "paid");
        assert!(record["pix"]["code"].is_string(), "the code is there afterwards: {record:#}");
    }
}

#[test]
fn cents_99_take_the_next_route() {
    let app = TestApp::new();
    let client = app.client();
    for id in both(&client, 99) {
        let record = client.wait_for_status(&id, "paid");
        let attempts = record["routing"]["attempts"].as_array().unwrap();
        let outcomes: Vec<_> = attempts.iter().map(|attempt| attempt["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, ["not_delivered", "accepted"], "{record:#}");
        assert_ne!(attempts[0]["acquirer"], attempts[1]["acquirer"]);
        assert_eq!(record["acquirer"], attempts[1]["acquirer"]);
        assert_eq!(record["routing"]["considered"].as_array().unwrap().len(), 2, "{record:#}");
    }
}

#[test]
fn cents_99_are_declined_when_no_route_is_left() {
    let one = "[{ name = \"only\", adapter = \"sandbox\" }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", one).start();
    let client = app.client();
    for id in both(&client, 99) {
        let record = client.wait_for_status(&id, "declined");
        assert_eq!(record["statusReason"], "no_acquirer_available");
    }
}
