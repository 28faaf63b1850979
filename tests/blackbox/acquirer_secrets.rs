//! Secrets for the service and the providers alone: they stand nowhere else.

use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::support::{
    Account, Acquirers, Answer, CLIENT_SECRET, Client, Collector, Edit, MERCHANT_KEY, NOTIFICATION_SECRET,
    TestApp, TestReceiver, Visitor, card, pause, pix,
};

const CARD: &str = "4024007197692931";
/// As a person writes it, and as it might be cut out of something.
const SPACED_CARD: &str = "4024 0071 9769 2931";
/// At once, before and after the service is killed.
const LIVES: u64 = 4;

/// A text that is found somewhere, and what it is.
struct Marker {
    what: &'static str,
    text: String,
}

#[test]
fn no_secret_token_key_or_card_number_leaves_the_service_but_to_its_provider() {
    let acquirers = Acquirers::start();
    let collector = Collector::start();
    let receiver = TestReceiver::start();
    let mut app = acquirers
        .builder()
        .arg("--log-level", "trace")
        .arg("--otlp-endpoint", &collector.endpoint())
        .expects_errors()
        .start();
    acquirers.send_notices_to(&app);
    let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    let mut seen = Vec::new();
    acquirers.fail(250, 1);
    for half in 0..2 {
        if half == 1 {
            app.kill();
            app.restart();
            acquirers.send_notices_to(&app);
        }
        let client = app.client_with(&key);
        seen.extend(thread::scope(|scope| {
            let start = |_| scope.spawn(|| live(&acquirers, &client, &receiver));
            let lives: Vec<_> = (0..LIVES).map(start).collect();
            lives.into_iter().flat_map(|life| life.join().unwrap()).collect::<Vec<_>>()
        }));
    }
    acquirers.fail(0, 0);
    seen.extend(live(&acquirers, &app.client_with(&key), &receiver));
    // Somebody who guesses, and a provider whose secret is wrong: neither is put into the log.
    let guessed = app.client_without_key();
    guessed.post("/acquirers/bank/notifications/guessed", &json!({ "pix": [] }));
    seen.extend(pages(&app, &key));
    seen.extend(receiver.received().into_iter().map(|told| {
        let headers = format!("{:?}", told.headers);
        ("a webhook".to_owned(), [headers.into_bytes(), told.body].concat())
    }));
    let doctor = acquirers.call(&app, &["doctor"]);
    seen.push(("doctor".to_owned(), doctor.said().into_bytes()));
    collector.wait_until("calls to both acquirers were traced", |spans| {
        let is_traced = |name: &str| spans.iter().any(|span| span.told("acquirer") == name);
        is_traced("bank") && is_traced("cielo")
    });
    let markers = markers(&acquirers, &app);
    seen.extend(app.store_bytes());
    let status = app.terminate(Duration::from_secs(30));
    assert!(status.success(), "{status}");
    seen.push(("the traces".to_owned(), collector.bytes()));
    seen.push(("the log".to_owned(), app.log().into_bytes()));
    seen.push(("what it printed".to_owned(), app.printed().into_bytes()));
    let stored = app.store_bytes();
    assert!(stored.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > 10_000, "the store was read");
    assert!(app.log().contains("\"level\":\"DEBUG\""), "the log has all there is");
    seen.extend(stored);
    let found = find(&seen, &markers);
    assert!(found.is_empty(), "{found:#?}");
    let planted = [("a place".to_owned(), format!("x{}x", markers[0].text).into_bytes())];
    assert_eq!(find(&planted, &markers).len(), 1, "what is there is found");
}

/// Lives a PIX's life and a card's, as far as faults let them, and gives all answers.
fn live(acquirers: &Acquirers, client: &Client, receiver: &TestReceiver) -> Vec<(String, Vec<u8>)> {
    let mut answers = Vec::new();
    let to = json!(receiver.url());
    let held = card(CARD, 10_000).with("capture", json!(false)).with("postbackUrl", to.clone());
    for request in [pix(10_000).with("postbackUrl", to), held] {
        let created = client.post("/pay/payments", &request);
        let record = if created.status == 201 { created.json() } else { Value::Null };
        answers.push(created);
        let Some(id) = record["transactionId"].as_str() else { continue };
        drop(acquirers.tell_bank(&json!({"do": "pay", "txid": id.replace('-', "")})));
        drop(
            acquirers.tell_cielo(&json!({"do": "forge", "sale": id.replace('-', ""), "how": "wrong-header"})),
        );
        let path = format!("/pay/payments/{id}");
        answers.push(client.post(&format!("{path}/capture"), &json!({ "amount": 6_000 })));
        wait_a_little_for_money(client, &path);
        answers.push(client.post(&format!("{path}/refunds"), &json!({ "amount": 1_000 })));
        answers.push(client.get(&path));
        answers.push(client.get(&format!("{path}/events")));
    }
    answers.into_iter().map(seen).collect()
}

fn wait_a_little_for_money(client: &Client, path: &str) {
    let end = Instant::now() + Duration::from_secs(3);
    while Instant::now() < end && client.get(path).expect(200)["status"] == "pending" {
        pause(Duration::from_millis(50));
    }
}

/// Returns the pages that operators and merchants are shown.
fn pages(app: &TestApp, key: &str) -> Vec<(String, Vec<u8>)> {
    let ops = app.ops();
    let client = app.client_with(key);
    let operator = Visitor::operator(app);
    let merchant = Visitor::signed_in(app, &Account::create(app, "shop", "owner@example.com", "owner"));
    let list = client.get("/pay/payments?limit=100");
    let ids: Vec<String> = list.expect(200)["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["transactionId"].as_str().unwrap().to_owned())
        .collect();
    let mut all = vec![list, client.get("/pay/webhooks/deliveries?limit=100")];
    all.extend(["/metrics", "/ops/exceptions"].map(|path| ops.get(path)));
    for path in ["/", "/transactions", "/acquirers", "/exceptions", "/reconciliation", "/store", "/audit"] {
        all.push(operator.get(path));
    }
    for path in
        ["/console/live", "/console/live/payments", "/console/live/deliveries", "/console/live/payments.csv"]
    {
        all.push(merchant.get(path));
    }
    for id in ids {
        all.push(operator.get(&format!("/transactions/{id}")));
        all.push(merchant.get(&format!("/console/live/payments/{id}")));
    }
    for page in &all {
        assert_eq!(page.status, 200, "{page}");
    }
    all.into_iter().map(seen).collect()
}

fn seen(answer: Answer) -> (String, Vec<u8>) {
    (answer.request.clone(), [format!("{:?}", answer.headers).into_bytes(), answer.body].concat())
}

fn markers(acquirers: &Acquirers, app: &TestApp) -> Vec<Marker> {
    let marker = |what, text: &str| Marker { what, text: text.to_owned() };
    let mut markers = vec![
        marker("the client's secret", CLIENT_SECRET),
        marker("the merchant's key", MERCHANT_KEY),
        marker("the secret of notifications", NOTIFICATION_SECRET),
        marker("a card number", CARD),
        marker("a card number", SPACED_CARD),
    ];
    // As Basic has it, and each secret by itself.
    for text in
        [format!("id:{CLIENT_SECRET}"), CLIENT_SECRET.into(), MERCHANT_KEY.into(), NOTIFICATION_SECRET.into()]
    {
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            markers.push(Marker { what: "a secret in base64", text: engine.encode(&text) });
        }
    }
    let key = acquirers.private_key_lines();
    assert!(key.len() >= 2, "{}", key.len());
    let der = STANDARD.decode(key.concat()).unwrap();
    markers
        .push(Marker { what: "the private key in hexadecimal", text: hexadecimal(&der[der.len() - 16..]) });
    let lines = key.into_iter().filter(|line| line.len() >= 16);
    markers.extend(lines.map(|text| Marker { what: "a line of the private key", text }));
    let shown = acquirers.bank.with(|bank| bank.shown.clone());
    let tokens: Vec<String> =
        shown.iter().filter_map(|shown| Some(shown.strip_prefix("Bearer ")?.to_owned())).collect();
    assert!(
        !tokens.is_empty() && shown.len() > tokens.len(),
        "a token was got with the secret, and shown: {shown:?}"
    );
    markers.extend(tokens.into_iter().map(|text| Marker { what: "a token of access", text }));
    assert!(acquirers.cielo.with(|cielo| cielo.shown.contains(MERCHANT_KEY)), "the key was used");
    let address = acquirers.call(app, &["secrets", "notification", "bank"]).output();
    let (_, token) = address.split_once("/notifications/").unwrap();
    let token = token.split(['?', '/']).next().unwrap();
    assert!(token.len() >= 20, "{address}");
    markers.push(marker("the token of callbacks", token));
    markers
}

/// Returns each place that holds a marker, with the kind of the marker.
fn find(seen: &[(String, Vec<u8>)], markers: &[Marker]) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for (place, bytes) in seen {
        let text = String::from_utf8_lossy(bytes);
        let here = markers.iter().filter(|marker| text.contains(&marker.text));
        found.extend(here.map(|marker| (place.clone(), marker.what)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
