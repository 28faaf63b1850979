//! `POST /acquirers/{name}/notifications`: what an acquirer tells by itself.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Answer, Edit, PATIENCE, TestApp, boleto, card, eventually, pix, sign};

/// An acquirer that sends notices.
struct Acquirer<'a> {
    app: &'a TestApp,
    name: &'a str,
    secret: String,
}

impl<'a> Acquirer<'a> {
    fn new(app: &'a TestApp, name: &'a str) -> Self {
        Self { app, name, secret: app.quita(&["secrets", "notification", name]).output() }
    }

    /// Sends a notice; `time` is when, in ISO 8601.
    fn tell(&self, time: &Value, notice: &Value) -> Answer {
        let timestamp = seconds(time).to_string();
        let signature = sign(&self.secret, "msg_1", &timestamp, notice.to_string().as_bytes());
        self.send(&timestamp, &signature, notice)
    }

    fn send(&self, timestamp: &str, signature: &str, notice: &Value) -> Answer {
        let headers =
            [("webhook-id", "msg_1"), ("webhook-timestamp", timestamp), ("webhook-signature", signature)];
        let path = format!("/acquirers/{}/notifications", self.name);
        self.app.client_without_key().post_with(&path, &headers, notice)
    }
}

fn seconds(time: &Value) -> i64 {
    chrono::DateTime::parse_from_rfc3339(time.as_str().unwrap()).unwrap().timestamp()
}

fn notice(event: &str, record: &Value, fact: &Value) -> Value {
    let mut notice = json!({"eventId": event, "transactionId": record["transactionId"]});
    notice.as_object_mut().unwrap().extend(fact.as_object().unwrap().clone());
    notice
}

fn exceptions(app: &TestApp) -> Vec<Value> {
    app.ops().get("/ops/exceptions").expect(200)["data"].as_array().unwrap().clone()
}

#[test]
fn a_signed_notice_moves_its_payment_once() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&pix(10_027));
    let id = record["transactionId"].as_str().unwrap();
    let acquirer = Acquirer::new(&app, "sandbox");
    let expired = notice("e1", &record, &json!({"fact": "expired"}));
    for _ in 0..3 {
        let answer = acquirer.tell(&record["createdAt"], &expired);
        assert_eq!(answer.status, 200, "{answer}");
    }
    client.wait_for_status(id, "expired");
    assert_eq!(acquirer.tell(&record["createdAt"], &expired).status, 200);
    let settled = notice("e2", &record, &json!({"fact": "settled", "id": "s1", "amount": 10_027}));
    assert_eq!(acquirer.tell(&record["createdAt"], &settled).status, 200);
    client.wait_for_status(id, "paid");
    assert_eq!(client.history(id), ["pending", "expired", "paid"]);
    assert_eq!(exceptions(&app), Vec::<Value>::new());
}

#[test]
fn a_payment_with_several_chargebacks_is_paid_again_when_none_is_open() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&pix(10_027));
    let acquirer = Acquirer::new(&app, "sandbox");
    let facts = [
        json!({"fact": "settled", "id": "s1", "amount": 10_027}),
        json!({"fact": "chargedBack", "id": "c1", "amount": 3_000}),
        json!({"fact": "chargedBack", "id": "c2"}),
        json!({"fact": "disputeWon", "id": "w2", "chargebackId": "c2"}),
        json!({"fact": "chargedBack", "id": "c3", "amount": 27}),
        json!({"fact": "disputeWon", "id": "w3", "chargebackId": "c3"}),
        json!({"fact": "disputeWon", "id": "w1"}),
    ];
    for (place, fact) in facts.iter().enumerate() {
        let told = acquirer.tell(&record["createdAt"], &notice(&format!("e{place}"), &record, fact));
        assert_eq!(told.status, 200, "{told}");
    }
    let id = record["transactionId"].as_str().unwrap();
    let is_over = || (client.history(id).len() >= 4).then_some(());
    eventually(PATIENCE, "no chargeback is open", is_over);
    assert_eq!(client.history(id), ["pending", "paid", "chargeback", "paid"]);
    assert_eq!(exceptions(&app), Vec::<Value>::new());
}

#[test]
fn an_authorisation_that_comes_after_the_card_was_declined_is_shown_to_an_operator() {
    let app = TestApp::new();
    let record = app.client().create(&card("4000000000000002", 10_000));
    let acquirer = Acquirer::new(&app, record["acquirer"].as_str().unwrap());
    let authorised = json!({"fact": "authorized", "authorizationCode": "123456"});
    assert_eq!(acquirer.tell(&record["createdAt"], &notice("e1", &record, &authorised)).status, 200);
    let told = eventually(PATIENCE, "an exception", || exceptions(&app).into_iter().next());
    assert_eq!(told["kind"], "paid_after_decline", "{told:#}");
    let id = record["transactionId"].as_str().unwrap();
    assert_eq!(app.client().payment(id)["status"], "declined");
}

#[test]
fn a_boleto_that_is_paid_late_with_fine_and_interest_shows_both_amounts() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&boleto(10_027).with("fine", json!({ "amount": 233 })));
    assert_eq!(record["boleto"]["paidAmount"], Value::Null);
    let id = record["transactionId"].as_str().unwrap();
    let acquirer = Acquirer::new(&app, "sandbox");
    let settled = |paid_on: &str, amount: u64| json!({"fact": "settled", "id": format!("s{paid_on}"), "amount": amount, "paidOn": paid_on});
    let due_date = record["boleto"]["dueDate"].as_str().unwrap();
    let on_time = notice("e1", &record, &settled(due_date, 9_000));
    assert_eq!(acquirer.tell(&record["createdAt"], &on_time).status, 200);
    let told = eventually(PATIENCE, "the exception", || exceptions(&app).pop());
    assert_eq!(told["kind"], "amount_mismatch");
    let late = notice("e2", &record, &settled("2099-01-01", 10_260));
    assert_eq!(acquirer.tell(&record["createdAt"], &late).status, 200);
    client.wait_for_status(id, "paid");
    assert_eq!(exceptions(&app).len(), 1, "what is owed with the fine is no exception");
    let paid = client.get(&format!("/pay/payments/{id}")).expect(200);
    assert_eq!((&paid["amount"], &paid["boleto"]["paidAmount"]), (&json!("100.27"), &json!("102.60")));
    let refund = client.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": 10_028}));
    refund.expect_error(422, "refund_exceeds_paid");
}

#[test]
fn a_notice_that_is_not_signed_by_its_acquirer_is_401_and_changes_nothing() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&pix(10_027));
    let sandbox = Acquirer::new(&app, "sandbox");
    let body = notice("e1", &record, &json!({"fact": "expired"}));
    let now = seconds(&record["createdAt"]);
    let fresh = now.to_string();
    let old = (now - 400).to_string();
    let early = (now + 400).to_string();
    let good = |timestamp: &str| sign(&sandbox.secret, "msg_1", timestamp, body.to_string().as_bytes());
    let other_body = sign(&sandbox.secret, "msg_1", &fresh, b"{}");
    for (timestamp, signature) in [
        (&fresh, String::new()),
        (&fresh, "v1,AAAA".into()),
        (&fresh, good(&fresh).replace("v1,", "")),
        (&fresh, other_body),
        (&old, good(&old)),
        (&early, good(&early)),
        (&fresh, good(&old)),
        (&"now".to_owned(), good("now")),
    ] {
        let answer = sandbox.send(timestamp, &signature, &body);
        answer.expect_error(401, "unauthorized");
    }
    let backup = Acquirer::new(&app, "sandbox-backup");
    assert_ne!(backup.secret, sandbox.secret);
    assert_eq!(Acquirer { name: "sandbox", ..backup }.tell(&record["createdAt"], &body).status, 401);
    let unsigned = app.client().post("/acquirers/sandbox/notifications", &body);
    assert_eq!(unsigned.status, 401, "an API key is no signature: {unsigned}");
    assert_eq!(unsigned.header("www-authenticate"), None, "no key would help");
    crate::support::pause(std::time::Duration::from_millis(300));
    assert_eq!(client.payment(record["transactionId"].as_str().unwrap())["status"], "pending");
}

#[test]
fn a_sandbox_with_a_notification_secret_of_its_own_signs_with_that_one_alone() {
    let own = ("QUITA_ACQUIRER_SANDBOX_NOTIFICATION_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let app = TestApp::builder().env(own.0, own.1).start();
    let printed = app.program(&["secrets", "notification", "sandbox"]).env(own.0, own.1).run();
    assert_eq!(printed.output(), own.1);
    let record = app.client().create(&pix(10_027));
    let expired = notice("e1", &record, &json!({"fact": "expired"}));
    let derived = Acquirer::new(&app, "sandbox");
    derived.tell(&record["createdAt"], &expired).expect_error(401, "unauthorized");
    let acquirer = Acquirer { secret: own.1.into(), ..derived };
    assert_eq!(acquirer.tell(&record["createdAt"], &expired).status, 200);
    app.client().wait_for_status(record["transactionId"].as_str().unwrap(), "expired");
}

#[test]
fn what_the_table_refuses_becomes_an_exception() {
    let app = TestApp::new();
    let client = app.client();
    let acquirer = Acquirer::new(&app, "sandbox");
    let settled = |id: &str, cents: u64| json!({"fact": "settled", "id": id, "amount": cents});
    let twice = client.create(&pix(10_027));
    let short = client.create(&boleto(10_027));
    let now = &twice["createdAt"];
    // It may be known soon, so this one becomes an exception only after minutes.
    let unknown = json!({"transactionId": "0193b2c4-0000-7000-8000-000000000000"});
    for told in [
        notice("e1", &twice, &settled("s1", 10_027)),
        notice("e2", &twice, &settled("s2", 10_027)),
        notice("e3", &short, &settled("s3", 10_026)),
        notice("e4", &unknown, &settled("s4", 1)),
    ] {
        assert_eq!(acquirer.tell(now, &told).status, 200, "{told}");
        // Each is worked before the next one is sent.
        if told["eventId"] == "e1" {
            client.wait_for_status(twice["transactionId"].as_str().unwrap(), "paid");
        }
    }
    let found =
        eventually(PATIENCE, "two exceptions", || Some(exceptions(&app)).filter(|found| found.len() == 2));
    let kind = |record: &Value| {
        let of_record = found.iter().find(|exception| exception["transactionId"] == record["transactionId"]);
        of_record.unwrap()["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!((kind(&twice), kind(&short)), ("paid_twice".into(), "amount_mismatch".into()));
    assert_eq!(client.history(twice["transactionId"].as_str().unwrap()), ["pending", "paid"]);
    assert_eq!(client.payment(short["transactionId"].as_str().unwrap())["status"], "pending");
}

#[test]
fn an_unreadable_notice_is_200_and_counted_and_changes_nothing() {
    let app = TestApp::new();
    let record = app.client().create(&pix(10_027));
    let acquirer = Acquirer::new(&app, "sandbox");
    let unreadable = [
        json!({}),
        json!([]),
        json!({"eventId": "e"}),
        notice("e", &record, &json!({"fact": "stolen"})),
        notice("", &record, &json!({"fact": "expired"})),
        notice(&"e".repeat(256), &record, &json!({"fact": "expired"})),
    ];
    for body in &unreadable {
        let answer = acquirer.tell(&record["createdAt"], body);
        assert_eq!(answer.status, 200, "it would only be sent again: {answer}");
    }
    let metrics = app.ops().get("/metrics").text();
    let line = r#"quita_notices_total{acquirer="sandbox",outcome="unreadable"} 6"#;
    assert!(metrics.contains(line), "{metrics}");
    let id = record["transactionId"].as_str().unwrap();
    assert_eq!(app.client().payment(id)["status"], "pending");
}

#[test]
fn an_address_that_no_provider_was_given_is_404() {
    let app = TestApp::new();
    let client = app.client_without_key();
    for path in ["nobody/notifications", "sandbox/notifications/pix", "sandbox/notifications/"] {
        client.post(&format!("/acquirers/{path}"), &json!({})).expect_error(404, "not_found");
    }
}

#[test]
fn a_notice_that_was_answered_survives_a_crash() {
    let mut app = TestApp::new();
    let client = app.client();
    let records: Vec<_> = (0..30).map(|_| client.create(&pix(10_027))).collect();
    let acquirer = Acquirer::new(&app, "sandbox");
    thread::scope(|scope| {
        for part in records.chunks(10) {
            let acquirer = &acquirer;
            scope.spawn(move || {
                for record in part {
                    let event = record["transactionId"].as_str().unwrap();
                    let told = notice(event, record, &json!({"fact": "expired"}));
                    assert_eq!(acquirer.tell(&record["createdAt"], &told).status, 200);
                }
            });
        }
    });
    app.kill();
    app.restart();
    let client = app.client();
    for record in &records {
        client.wait_for_status(record["transactionId"].as_str().unwrap(), "expired");
    }
}
