//! Whole lives of payments at counterparties that stand in for a bank and for Cielo, with books of their own.

use std::time::Duration;

use chrono::{Days, NaiveDate};
use quita_banks::api_pix::{Config, PixBank};
use quita_banks::cielo::{self, Cielo};
use quita_banks::faults::{self, Fault, Faults};
use quita_banks::server::{Options, Served, Tls};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Client, Edit, PATIENCE, TestApp, TestReceiver, card, eventually, pix, today, wait_until_registered,
};

/// Longer than the first question about a refund that was accepted, and than Cielo's pause between calls.
const SLOW: Duration = Duration::from_secs(30);

/// A service whose live keys reach these acquirers, with a client of them.
fn serve(files: &TempDir, acquirers: &str, secrets: &[(&str, &str)]) -> (TestApp, Client) {
    let path = files.path().join("quita.toml");
    std::fs::write(&path, acquirers).unwrap();
    let builder = TestApp::builder().arg("--config", path.to_str().unwrap());
    let app = secrets.iter().fold(builder, |builder, (name, secret)| builder.env(name, secret)).start();
    let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    let client = app.client_with(&key);
    (app, client)
}

fn refund(client: &Client, id: &str, cents: u64) -> Value {
    let answer = client.post(&format!("/pay/payments/{id}/refunds"), &json!({ "amount": cents }));
    assert_eq!(answer.status, 201, "{answer}");
    answer.json()
}

/// Waits until the one refund of a payment has ended, and returns the payment.
fn refunded(client: &Client, id: &str) -> Value {
    eventually(SLOW, "the refund has ended", || {
        let payment = client.payment(id);
        (payment["refunds"][0]["status"] == "succeeded").then_some(payment)
    })
}

/// Live payments at a bank over mutual TLS, which calls back.
fn at_a_bank_that_calls_back() -> (Served<PixBank>, TestApp, Client, TempDir) {
    let files = tempfile::tempdir().unwrap();
    let tls = Tls::Mutual(files.path().join("bank"));
    let bank =
        Served::start_with(PixBank::new(Config::default()), Options { tls, ..Options::default() }).unwrap();
    let url = bank.url();
    let table = format!(
        "public-url = 'https://pay.example'\n\
         [[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\ndialect = 'bacen'\nbase-url = '{url}'\n\
         token-url = '{url}/oauth/token'\nclient-id = 'id'\ncertificate-file = 'bank/client.pem'\n\
         private-key-file = 'bank/client.key'\nca-file = 'bank/ca.pem'\n\
         pix-key = '123e4567-e12b-12d1-a456-426655440000'\nreceiver-name = 'Loja'\nreceiver-city = 'Sao Paulo'\n"
    );
    let (app, client) = serve(&files, &table, &[("QUITA_ACQUIRER_BANK_CLIENT_SECRET", "secret")]);
    let desk = Client::new(&bank.control_url(), None);
    assert_eq!(desk.post("/forward", &json!({ "to": app.url() })).status, 200);
    wait_until_registered(&bank);
    (bank, app, client, files)
}

#[test]
fn a_pix_is_paid_at_a_bank_over_mutual_tls_and_half_of_it_goes_back() {
    let (bank, _app, client, _files) = at_a_bank_that_calls_back();
    let desk = Client::new(&bank.control_url(), None);
    let receiver = TestReceiver::start();
    let record = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    let id = record["transactionId"].as_str().unwrap();
    assert_eq!((&record["status"], &record["mode"]), (&json!("pending"), &json!("live")));
    assert_eq!(record["acquirerReference"]["txid"], json!(id.replace('-', "")));
    assert_eq!(desk.post(&format!("/pay/{}", id.replace('-', "")), &json!({})).status, 200);
    let paid = client.wait_for_status_within(PATIENCE, id, "paid");
    assert!(paid["pix"]["endToEndId"].as_str().unwrap().starts_with('E'), "{paid}");
    assert_eq!(refund(&client, id, 5_000)["status"], "processing");
    let after = refunded(&client, id);
    assert_eq!((&after["status"], &after["refundedAmount"]), (&json!("paid"), &json!("50.00")));
    let told = receiver.wait_for_events(id, 3, PATIENCE);
    let events: Vec<_> = told.iter().map(|event| event.text("event")).collect();
    assert_eq!(events, ["payment.pending", "payment.paid", "payment.refund_succeeded"]);
}

/// Adds today as the due date, and fixed sums by which a late payment is known.
fn due_today(request: Value) -> Value {
    let due = request.with("dueDate", json!(today().to_string()));
    due.with("fine", json!({ "amount": 150 })).with("interest", json!({ "amountPerDay": 10 }))
}

#[test]
fn a_pix_with_a_due_date_is_paid_late_at_a_bank_and_all_of_it_goes_back() {
    let (bank, _app, client, _files) = at_a_bank_that_calls_back();
    let desk = Client::new(&bank.control_url(), None);
    let record = client.create(&due_today(pix(10_000)));
    let id = record["transactionId"].as_str().unwrap();
    assert_eq!([&record["status"], &record["pix"]["dueDate"]], ["pending", today().to_string().as_str()]);
    let until: NaiveDate = record["terms"]["payableUntil"].as_str().unwrap().parse().unwrap();
    assert_eq!(record["pix"]["expiresAt"], format!("{}T03:00:00.000Z", until + Days::new(1)));
    let late = (today() + Days::new(8)).to_string();
    let paid = desk.post(&format!("/pay_on/{}", id.replace('-', "")), &json!({ "on": late }));
    assert_eq!(paid.status, 200, "{paid}");
    let paid = client.wait_for_status_within(SLOW, id, "paid");
    let owed: f64 = paid["pix"]["paidAmount"].as_str().unwrap().parse().unwrap();
    // The fine, and four to eight days of interest: a weekend may move the due date.
    assert!((101.9..=102.3).contains(&owed), "{owed}");
    assert_eq!(paid["pix"]["paidOn"], late);
    let back = client.post_empty(&format!("/pay/payments/{id}/refunds")).expect(201);
    assert_eq!(back["amount"], paid["pix"]["paidAmount"]);
    let refunded = client.wait_for_status_within(SLOW, id, "refund");
    assert_eq!(refunded["refundedAmount"], paid["pix"]["paidAmount"]);
}

#[test]
fn a_pix_with_a_due_date_is_withdrawn_at_its_bank_and_not_taken_by_one_that_has_none() {
    let (bank, app, client, files) = at_a_bank(faults::none());
    let desk = Client::new(&bank.control_url(), None);
    let record = client.create(&due_today(pix(10_000)));
    let id = record["transactionId"].as_str().unwrap();
    let cancelled = client.post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
    assert_eq!(cancelled["status"], "cancelled");
    let books = desk.get("/books").json();
    assert_eq!(books[id.replace('-', "")]["status"], "REMOVIDA_PELO_USUARIO_RECEBEDOR");
    drop((app, bank));
    let table = std::fs::read_to_string(files.path().join("quita.toml")).unwrap();
    let (_app, client) =
        serve(&files, &format!("{table}cobv = false\n"), &[("QUITA_ACQUIRER_BANK_CLIENT_SECRET", "secret")]);
    client.post("/pay/payments", &due_today(pix(10_000))).expect_error(422, "method_unavailable");
}

/// Live payments at a bank without TLS, with calls of two seconds.
fn at_a_bank(faults: Faults) -> (Served<PixBank>, TestApp, Client, TempDir) {
    let files = tempfile::tempdir().unwrap();
    let bank = PixBank::new(Config::default()).with_faults(faults);
    let bank = Served::start_with(bank, Options::default()).unwrap();
    let url = bank.url();
    let table = format!(
        "[[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\ndialect = 'bacen'\nbase-url = '{url}'\ntime-out = '2s'\n\
         token-url = '{url}/oauth/token'\nclient-id = 'id'\nwebhook = 'off'\n\
         pix-key = '123e4567-e12b-12d1-a456-426655440000'\nreceiver-name = 'Loja'\nreceiver-city = 'Sao Paulo'\n"
    );
    let (app, client) = serve(&files, &table, &[("QUITA_ACQUIRER_BANK_CLIENT_SECRET", "secret")]);
    (bank, app, client, files)
}

#[test]
fn a_token_that_takes_its_time_is_waited_for_and_costs_the_charges_none_of_theirs() {
    let is_token = |path: &str| path.contains("/oauth/token");
    let slow =
        move |request: &quita_banks::Request| is_token(&request.path).then_some(Fault::Slow { ms: 1_500 });
    let (_bank, _app, client, _files) = at_a_bank(Box::new(slow));
    let create = |_| {
        let client = client.clone();
        std::thread::spawn(move || client.create(&pix(10_000)))
    };
    let creating: Vec<_> = (0..30).map(create).collect();
    for created in creating {
        let record = created.join().unwrap();
        assert_eq!(record["status"], "pending", "{record}");
    }
}

#[test]
fn a_payment_for_which_no_token_can_be_had_in_time_is_refused_and_not_stored() {
    let throttles = |request: &quita_banks::Request| {
        request.path.contains("/oauth/token").then_some(Fault::Throttled { retry_after_s: 60 })
    };
    let (_bank, _app, client, _files) = at_a_bank(Box::new(throttles));
    for _ in 0..2 {
        client.post("/pay/payments", &pix(10_000)).expect_error(503, "no_acquirer_available");
    }
    assert_eq!(client.get("/pay/payments").expect(200)["data"], json!([]));
}

#[test]
fn a_payment_waits_for_a_bank_that_wants_tokens_to_be_asked_for_a_little_later() {
    let mut times = 0;
    let throttles = move |request: &quita_banks::Request| {
        times += usize::from(request.path.contains("/oauth/token"));
        let is_early = request.path.contains("/oauth/token") && times <= 2;
        is_early.then_some(Fault::Throttled { retry_after_s: 2 })
    };
    let (_bank, _app, client, _files) = at_a_bank(Box::new(throttles));
    let record = client.create(&pix(10_000));
    assert_eq!(record["status"], "pending", "{record}");
}

#[test]
fn a_card_is_authorised_at_cielo_captured_in_part_and_refunded() {
    let files = tempfile::tempdir().unwrap();
    let config = cielo::Config::default();
    let merchant_id = config.merchant_id.clone();
    let merchant_key = config.merchant_key.clone();
    let cielo = Served::start_with(Cielo::new(config, faults::none()), Options::default()).unwrap();
    let table = format!(
        "[[acquirer]]\nname = 'cielo'\nadapter = 'cielo'\nmethods = ['credit_card']\nbase-url = '{}'\n\
         merchant-id = '{merchant_id}'\n",
        cielo.url()
    );
    let secrets = [
        ("QUITA_ACQUIRER_CIELO_MERCHANT_KEY", merchant_key.as_str()),
        ("QUITA_ACQUIRER_CIELO_NOTIFICATION_SECRET", "secret"),
    ];
    let (_app, client) = serve(&files, &table, &secrets);
    let receiver = TestReceiver::start();
    let request = card("4024007197692931", 10_000).with("capture", json!(false));
    let record = client.create(&request.with("postbackUrl", json!(receiver.url())));
    let id = record["transactionId"].as_str().unwrap();
    assert_eq!(record["status"], "approved", "{record}");
    assert_eq!(record["acquirerReference"]["orderId"], json!(id.replace('-', "")));
    let captured = client.post(&format!("/pay/payments/{id}/capture"), &json!({ "amount": 6_000 }));
    assert_eq!(captured.status, 200, "{captured}");
    assert_eq!(captured.json()["capturedAmount"], "60.00");
    refund(&client, id, 6_000);
    let after = refunded(&client, id);
    assert_eq!((&after["status"], &after["refundedAmount"]), (&json!("refund"), &json!("60.00")));
    let told = receiver.wait_for_events(id, 3, PATIENCE);
    let events: Vec<_> = told.iter().map(|event| event.text("event")).collect();
    assert_eq!(events, ["payment.approved", "payment.paid", "payment.refund"]);
}
