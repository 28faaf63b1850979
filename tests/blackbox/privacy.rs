//! No card number and no CVV anywhere: answers, log, store, webhooks, metrics, exceptions.

use serde_json::{Value, json};

use crate::support::{Answer, Edit, PATIENCE, TestApp, TestReceiver, card, pix};

/// Numbers that are approved, declined, time out and are disputed, and one that is wrong.
const NUMBERS: [&str; 6] = [
    "4242424242424242",
    "378282246310005",
    "4000000000000002",
    "4000000000000119",
    "4000000000000259",
    "5555555555554445",
];
const CVV: &str = "917";
const CVV_OF_FOUR: &str = "9174";

/// Every way in which a card's number or CVV could show in bytes.
fn needles() -> Vec<Vec<u8>> {
    let mut needles: Vec<Vec<u8>> = Vec::new();
    for number in NUMBERS {
        needles.push(number.as_bytes().to_vec());
        let groups: Vec<_> =
            number.as_bytes().chunks(4).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        needles.push(groups.join(" ").into_bytes());
        needles.push(number.as_bytes()[..13].to_vec());
    }
    for cvv in [CVV, CVV_OF_FOUR] {
        // Three digits alone are in many numbers; as a text of JSON, of a debug print or of BSON they are not.
        needles.push(format!("\"{cvv}\"").into_bytes());
        needles.push(format!("\\\"{cvv}\\\"").into_bytes());
        let length = u8::try_from(cvv.len() + 1).unwrap();
        needles.push([&[length, 0, 0, 0], cvv.as_bytes(), &[0]].concat());
    }
    needles
}

#[track_caller]
fn check_clean(place: &str, bytes: &[u8]) {
    for needle in needles() {
        // Within a longer number, such as the sum in a metric, the same digits are chance.
        let begins_there = |at: usize| at == 0 || !matches!(bytes[at - 1], b'0'..=b'9' | b'.');
        let mut windows = bytes.windows(needle.len()).enumerate();
        let found = windows.find(|(at, window)| *window == needle && begins_there(*at)).map(|(at, _)| at);
        if let Some(at) = found {
            let around = &bytes[at.saturating_sub(120)..(at + 60).min(bytes.len())];
            panic!(
                "{place} holds {:?}: …{}…",
                String::from_utf8_lossy(&needle),
                String::from_utf8_lossy(around)
            );
        }
    }
}

fn cvv_of(number: &str) -> &'static str {
    if number.starts_with("37") { CVV_OF_FOUR } else { CVV }
}

/// Every request that holds a card, right and wrong, with the number in places where it must not be.
fn requests(postback: &str) -> Vec<Value> {
    let mut requests = Vec::new();
    for number in NUMBERS {
        let good = card(number, 10_000)
            .with("creditCard.cvv", json!(cvv_of(number)))
            .with("postbackUrl", json!(postback));
        requests.push(good.clone());
        for (field, value) in [
            ("creditCard.cvv", json!(917_000)),
            ("creditCard.expirationYear", json!(2020)),
            ("creditCard.number", json!(number.parse::<u64>().unwrap())),
            ("amount", json!(number)),
            ("externalReference", json!(number)),
            ("creditCard.holderName", json!(number)),
            ("UTMSource", json!(number)),
            ("metadata", json!({"note": number})),
            ("metadata", json!({number: "note"})),
            ("paymentMethod", json!("pix")),
            ("items", json!([{"name": number, "quantity": 1, "price": 1}])),
        ] {
            requests.push(good.clone().with(field, value));
        }
    }
    requests
}

#[test]
fn a_cards_number_and_cvv_leave_no_trace() {
    let app = TestApp::builder().arg("--log-level", "trace").start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let mut answers: Vec<Answer> = Vec::new();
    for (place, request) in requests(&receiver.url()).iter().enumerate() {
        answers.push(client.post_once("/pay/payments", &format!("k{place}"), request));
        answers.push(client.post_once("/pay/payments", &format!("k{place}"), request));
    }
    let half = card(NUMBERS[0], 1).to_string();
    let cut = &half[..half.rfind('}').unwrap() - 1];
    answers.push(client.send(
        "POST",
        "/pay/payments",
        &[("Content-Type", "application/json")],
        cut.as_bytes(),
    ));
    let created = answers.iter().filter(|answer| answer.status == 201);
    let ids: Vec<_> =
        created.map(|answer| answer.json()["transactionId"].as_str().unwrap().to_owned()).collect();
    assert!(ids.len() >= 5, "{}", ids.len());
    receiver.wait_for(ids.len(), PATIENCE);
    for id in &ids {
        answers.push(client.get(&format!("/pay/payments/{id}/events")));
    }
    for path in ["/pay/payments?limit=100", "/pay/webhooks/deliveries?limit=100"] {
        answers.push(client.get(path));
    }
    for path in ["/metrics", "/ops/exceptions", "/health/ready"] {
        answers.push(app.ops().get(path));
    }
    for answer in &answers {
        assert!(answer.status < 500, "{answer}");
        check_clean(&answer.request, &answer.body);
    }
    for webhook in receiver.received() {
        check_clean("a webhook", &webhook.body);
    }
    check_clean("the log", app.log().as_bytes());
    let files = app.store_bytes();
    assert!(
        crate::support::is_mongodb() || files.iter().any(|(name, _)| name.ends_with("-wal")),
        "{files:?}"
    );
    for (name, bytes) in files {
        check_clean(&name, &bytes);
    }
}

#[test]
fn the_log_has_no_personal_data_and_no_secrets() {
    let app = TestApp::builder().arg("--log-level", "debug").start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let secret = app.secret();
    let record = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    let id = record["transactionId"].as_str().unwrap();
    receiver.wait_for(2, PATIENCE);
    client.post("/pay/payments", &pix(0)).expect_error(422, "validation_failed");
    client.get("/pay/payments?document=52998224725&email=maria.silva%40example.com").expect(200);
    let token =
        record["pix"]["qrCode"].as_str().unwrap().rsplit('/').next().unwrap().trim_end_matches(".png");
    assert_eq!(app.client_without_key().get(&format!("/pix/{token}")).status, 200);
    let log = app.log();
    assert!(log.contains(id), "ids are logged");
    let key_secret = key_secret(&app);
    for private in
        [key_secret, &secret, token, "52998224725", "maria.silva", "Silva", "11987654321", "Rua Augusta"]
    {
        assert!(!log.contains(private), "{private} is in the log");
    }
}

#[test]
fn the_store_has_no_secret_of_an_api_key() {
    let app = TestApp::new();
    app.client().create(&pix(10_027));
    let secret = key_secret(&app).as_bytes().to_vec();
    let stored = app.store_bytes();
    assert!(!stored.is_empty());
    for (name, bytes) in stored {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{name}");
    }
}

/// The part of the key that nobody but its holder may know. It may have underscores of its own.
fn key_secret(app: &TestApp) -> &str {
    app.key().splitn(4, '_').nth(3).unwrap()
}
