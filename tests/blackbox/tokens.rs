//! Tokens of cards, from pages of a merchant's own.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Account, Answer, Browser, Client, Edit, PATIENCE, Reply, TestApp, TestReceiver, Visitor, card,
    eventually, pix,
};

const NUMBER: &str = "4242424242424242";
const SHOP: &str = "https://shop.example.com";

fn publishable(app: &TestApp) -> String {
    app.create_key(&["--merchant", "shop", "--publishable"])
}

fn allow(app: &TestApp, merchant: &str, origins: &str) {
    app.quita(&["applications", "origins", "--merchant", merchant, "--set", origins]);
}

/// The card of a creation, as `POST /pay/tokens` takes it.
fn card_of(number: &str) -> Value {
    json!({"creditCard": card(number, 1)["creditCard"]})
}

/// Asks for a token, as the script of a page does.
fn ask(client: &Client, body: &Value, origin: Option<&str>) -> Answer {
    let mut headers = vec![("Content-Type", "application/json")];
    headers.extend(origin.map(|origin| ("Origin", origin)));
    client.send("POST", "/pay/tokens", &headers, body.to_string().as_bytes())
}

#[track_caller]
fn token(client: &Client, number: &str) -> String {
    ask(client, &card_of(number), None).expect(201)["token"].as_str().unwrap().to_owned()
}

fn paid_with(token: &str) -> Value {
    card(NUMBER, 10_000).with("creditCard", json!({ "token": token }))
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

#[test]
fn a_token_pays_once_and_nothing_of_the_card_is_kept_or_shown() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    let answer = ask(&page, &card_of(NUMBER), None);
    let made = answer.expect(201);
    let names: Vec<_> = made.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["brand", "expiresAt", "firstDigits", "lastDigits", "token"]);
    assert_eq!(
        (&made["brand"], &made["firstDigits"], &made["lastDigits"]),
        (&json!("visa"), &json!("424242"), &json!("4242"))
    );
    let token = made["token"].as_str().unwrap();
    assert!(token.starts_with("tok_") && token.len() <= 512, "{}", token.len());
    assert!(!answer.text().contains(NUMBER), "{answer}");
    let client = app.client();
    let record = client.create(&paid_with(token));
    assert_eq!((&record["status"], &record["creditCard"]["lastDigits"]), (&json!("paid"), &json!("4242")));
    assert_eq!(record["creditCard"]["holderName"], "MARIA DA SILVA");
    let again = client.post("/pay/payments", &paid_with(token));
    again.expect_error(422, "token_used");
    assert_eq!(again.violations(), [("creditCard.token".into(), "token_used".into())]);
    assert_eq!(client.get("/pay/payments").expect(200)["data"].as_array().unwrap().len(), 1);
    let log = app.log();
    assert!(!log.contains(NUMBER) && !log.contains(token), "{log}");
    for (name, bytes) in app.store_bytes() {
        let is_kept = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!is_kept(NUMBER) && !is_kept(token), "{name}");
    }
    let metrics = app.ops().get("/metrics").text();
    for line in [
        "quita_tokens_total{outcome=\"made\"} 1",
        "quita_tokens_total{outcome=\"used\"} 1",
        "quita_tokens_total{outcome=\"unusable\"} 1",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[test]
fn a_declined_payment_uses_its_token_up_and_a_refused_request_does_not() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    let client = app.client();
    let declined = token(&page, "4000000000000002");
    assert_eq!(client.create(&paid_with(&declined))["status"], "declined");
    client.post("/pay/payments", &paid_with(&declined)).expect_error(422, "token_used");
    let kept = token(&page, NUMBER);
    client.post("/pay/payments", &paid_with(&kept).without("amount")).expect_error(400, "malformed_request");
    client.post("/pay/payments", &paid_with(&kept).with("amount", json!(0))).expect(422);
    let evaluated = client.post("/pay/routing/evaluate", &paid_with(&kept)).expect(200);
    assert!(evaluated["considered"].as_array().is_some_and(|all| !all.is_empty()), "{evaluated:#}");
    assert_eq!(client.create(&paid_with(&kept))["status"], "paid");
}

#[test]
fn a_replay_needs_no_token_of_its_own() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    let client = app.client();
    let [first, second, other] = [NUMBER, NUMBER, "5555555555554444"].map(|number| token(&page, number));
    let create = |key: &str, token: &str| client.post_once("/pay/payments", key, &paid_with(token));
    let id = id_of(&create("order-1", &first).expect(201));
    for token in [&first, &second] {
        let replayed = create("order-1", token);
        assert_eq!(id_of(&replayed.expect(200)), id, "{replayed}");
    }
    create("order-1", &other).expect_error(422, "idempotency_key_reused");
    create("order-2", &first).expect_error(422, "token_used");
    assert_eq!(create("order-2", &second).expect(201)["status"], "paid", "a replay left it unused");
}

#[test]
fn of_many_payments_with_one_token_one_begins() {
    let app = TestApp::new();
    let token = token(&app.client_with(&publishable(&app)), NUMBER);
    let answers: Vec<_> = thread::scope(|scope| {
        let app = &app;
        let token = &token;
        let one = |number: usize| {
            let key = format!("order-{number}");
            scope.spawn(move || app.client().post_once("/pay/payments", &key, &paid_with(token)))
        };
        let all: Vec<_> = (0..8).map(one).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    assert_eq!((made.len(), refused.len()), (1, 7));
    refused.iter().for_each(|answer| drop(answer.expect_error(422, "token_used")));
    assert_eq!(app.client().get("/pay/payments").expect(200)["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_token_is_of_one_merchant_and_mode() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    let token = token(&page, NUMBER);
    let key = |arguments: &[&str]| app.client_with(&app.create_key(arguments));
    for foreign in [key(&["--merchant", "other"]), key(&["--merchant", "shop", "--mode", "live"])] {
        let refused = foreign.post("/pay/payments", &paid_with(&token));
        refused.expect_error(422, "token_unknown");
        assert_eq!(refused.violations(), [("creditCard.token".into(), "token_unknown".into())]);
    }
    for nonsense in ["", "tok_", "tok_AAAA", &token[..token.len() - 1], &format!("{token}A")] {
        app.client().post("/pay/payments", &paid_with(nonsense)).expect_error(422, "token_unknown");
    }
    let application = key(&["--merchant", "shop", "--application", "site"]);
    assert_eq!(application.create(&paid_with(&token))["status"], "paid");
}

#[test]
fn a_token_stands_for_the_whole_card() {
    let app = TestApp::new();
    let token = token(&app.client_with(&publishable(&app)), NUMBER);
    let client = app.client();
    for (name, value) in [("cvv", json!("123")), ("number", json!(NUMBER)), ("holderName", json!("ANA"))] {
        let request = paid_with(&token).with(&format!("creditCard.{name}"), value);
        let refused = client.post("/pay/payments", &request);
        refused.expect_error(422, "validation_failed");
        assert_eq!(refused.violations(), [("creditCard.token".into(), "not_applicable".into())], "{refused}");
    }
    let number = client.post("/pay/payments", &paid_with("x").with("creditCard.token", json!(7)));
    number.expect_error(400, "malformed_request");
    let written = paid_with(&token).with("externalReference", json!("4242 4242 4242 4242"));
    client.post("/pay/payments", &written).expect_error(422, "validation_failed");
    let foreign = pix(10_027).with("creditCard", json!({ "token": token }));
    client.post("/pay/payments", &foreign).expect_error(422, "validation_failed");
    assert_eq!(client.create(&paid_with(&token))["status"], "paid", "it is unused");
}

#[test]
fn what_is_wrong_with_a_card_is_said_when_its_token_is_asked_for() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    let body = card_of("4242424242424241")
        .with("creditCard.cvv", json!("12"))
        .with("creditCard.holderName", json!(""));
    let refused = ask(&page, &body, None);
    refused.expect_error(422, "validation_failed");
    let fields: Vec<_> = refused.violations().into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["creditCard.number", "creditCard.holderName", "creditCard.cvv"]);
    assert!(!refused.text().contains("4242424242"), "{refused}");
    let past = card_of(NUMBER).with("creditCard.expirationYear", json!(2020));
    assert_eq!(
        ask(&page, &past, None).violations(),
        [("creditCard.expirationYear".into(), "expired".into())]
    );
    ask(&page, &json!({}), None).expect_error(400, "malformed_request");
    ask(&page, &json!({"creditCard": NUMBER}), None).expect_error(400, "malformed_request");
    let unkeyed = app.client_without_key();
    ask(&unkeyed, &card_of(NUMBER), None).expect_error(401, "unauthorized");
}

#[test]
fn a_publishable_key_opens_nothing_else_and_ends_when_it_is_revoked() {
    let app = TestApp::new();
    let key = publishable(&app);
    let page = app.client_with(&key);
    for (method, path) in [
        ("GET", "/pay/payments"),
        ("POST", "/pay/payments"),
        ("POST", "/pay/routing/evaluate"),
        ("GET", "/pay/refunds"),
        ("GET", "/pay/requests"),
        ("GET", "/pay/webhooks/deliveries"),
        ("POST", "/pay/payments/01980000-0000-7000-8000-000000000001/cancel"),
        ("POST", "/sandbox/payments/01980000-0000-7000-8000-000000000001/pay"),
    ] {
        // The body is no JSON: nothing of it is read.
        page.send(method, path, &[], b"{").expect_error(403, "publishable_key");
    }
    let id = key.trim_start_matches("qk_pub_test_").split_once('_').unwrap().0;
    app.quita(&["keys", "revoke", id]).output();
    eventually(Duration::from_secs(5), "the key has ended", || {
        (ask(&page, &card_of(NUMBER), None).status == 401).then_some(())
    });
}

#[test]
fn only_the_origins_of_the_key_may_ask_from_a_browser() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    allow(&app, "shop", SHOP);
    app.create_key(&["--merchant", "other"]);
    allow(&app, "other", "https://other.example.com");
    let answer = ask(&page, &card_of(NUMBER), Some(SHOP));
    answer.expect(201);
    assert_eq!(answer.header("access-control-allow-origin"), Some(SHOP));
    let wrong = ask(&page, &json!({}), Some(SHOP));
    wrong.expect_error(400, "malformed_request");
    assert_eq!(wrong.header("access-control-allow-origin"), Some(SHOP), "a page can read what is wrong");
    for origin in ["https://evil.example", "https://other.example.com", "null", "https://SHOP.example.com"] {
        let refused = ask(&page, &card_of(NUMBER), Some(origin));
        refused.expect_error(403, "origin_not_allowed");
        assert_eq!(refused.header("access-control-allow-origin"), None, "{origin}");
    }
    for answer in [&answer, &wrong, &ask(&page, &card_of(NUMBER), None)] {
        let vary: Vec<_> = answer
            .headers
            .iter()
            .filter(|(name, _)| name == "vary")
            .map(|(_, value)| value.as_str())
            .collect();
        assert!(vary.iter().any(|value| value.contains("Origin")), "{vary:?}");
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
    let elsewhere = app.client().send("GET", "/pay/payments", &[("Origin", SHOP)], b"");
    assert_eq!(elsewhere.header("access-control-allow-origin"), None, "nowhere else in the API");
}

#[test]
fn a_preflight_is_answered_without_a_key_for_origins_of_any_application() {
    let app = TestApp::new();
    allow(&app, "shop", SHOP);
    let preflight = |path: &str, origin: &str| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization,content-type"),
        ];
        app.client_without_key().send("OPTIONS", path, &headers, b"")
    };
    let known = preflight("/pay/tokens", SHOP);
    assert_eq!((known.status, known.text().as_str()), (204, ""));
    for (name, value) in [
        ("access-control-allow-origin", SHOP),
        ("access-control-allow-methods", "POST"),
        ("access-control-allow-headers", "authorization, content-type"),
        ("access-control-max-age", "600"),
        ("vary", "Origin"),
    ] {
        assert_eq!(known.header(name), Some(value), "{name}");
    }
    let stranger = preflight("/pay/tokens", "https://evil.example");
    assert_eq!(stranger.status, 204);
    let cors = stranger.headers.iter().filter(|(name, _)| name.starts_with("access-control-"));
    assert_eq!(cors.count(), 0, "{stranger}");
    let told = |origin: &str| {
        app.log().lines().filter(|line| line.contains("may not send cards") && line.contains(origin)).count()
    };
    preflight("/pay/tokens", "https://evil.example");
    preflight("/pay/tokens", "https://evil.example/4242424242424242");
    assert_eq!(
        (told("https://evil.example"), told("4242424242424242"), told(SHOP)),
        (1, 0, 0),
        "its page is told nothing"
    );
    assert_eq!(preflight("/pay/payments", SHOP).status, 405);
}

#[test]
fn a_secret_key_from_a_browser_is_refused_and_its_owner_hears_of_it() {
    let app = TestApp::new();
    allow(&app, "shop", SHOP);
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &account);
    assert!(!owner.page("/console/test/applications/default").contains("came from a browser"));
    for _ in 0..2 {
        let refused = ask(&app.client(), &card_of(NUMBER), Some(SHOP));
        let body = refused.expect_error(403, "secret_key_in_browser");
        assert!(body["message"].as_str().unwrap().contains("must never be in a page"), "{body}");
        assert_eq!(refused.header("access-control-allow-origin"), Some(SHOP), "its developer reads why");
    }
    let elsewhere = ask(&app.client(), &card_of(NUMBER), Some("https://evil.example"));
    assert_eq!(elsewhere.header("access-control-allow-origin"), None, "{elsewhere}");
    for page in ["/console/test", "/console/test/applications/default"] {
        assert!(owner.page(page).contains("A secret key came from a browser"), "{page}");
    }
    let log = owner.page("/console/test/audit");
    assert_eq!(log.matches("received from a browser the secret key").count(), 1, "once for each key");
    // A program on a server states no origin.
    assert!(token(&app.client(), NUMBER).starts_with("tok_"));
    let reader = app.create_key(&["--merchant", "shop", "--scopes", "payments:read"]);
    ask(&app.client_with(&reader), &card_of(NUMBER), None).expect_error(403, "forbidden");
}

#[test]
fn pages_of_one_network_get_so_many_tokens() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    let limited = (0..200).map(|_| ask(&page, &card_of(NUMBER), None)).find(|answer| answer.status != 201);
    let limited = limited.expect("it ends");
    limited.expect_error(429, "too_many_card_tries");
    assert!(limited.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()), "{limited}");
    assert!(token(&app.client(), NUMBER).starts_with("tok_"), "a program is not a page");
    assert_eq!(app.client().create(&pix(10_027))["status"], "pending");
}

#[test]
fn what_holds_no_card_uses_up_nobodys_tokens() {
    let app = TestApp::new();
    let page = app.client_with(&publishable(&app));
    for _ in 0..70 {
        let refused = ask(&page, &json!({}), None);
        assert_eq!(refused.status, 400, "{refused}");
    }
    assert_eq!(ask(&page, &card_of(NUMBER), None).status, 201);
}

#[test]
fn a_token_outlives_a_change_of_the_secret_key_for_as_long_as_it_is_there() {
    let old = "an-old-secret-key-that-is-long-enough";
    let new = "a-new-secret-key-that-is-long-enough!";
    let mut app = TestApp::builder().env("QUITA_SECRET_KEY", old).start();
    let [first, second] = [(); 2].map(|()| token(&app.client(), NUMBER));
    app.restart_with("QUITA_SECRET_KEY", &format!("{new}\n{old}"));
    app.quita(&["secrets", "rewrap"]).output();
    let client = app.client();
    let id = eventually(PATIENCE, "the node has followed", || {
        let made = client.post_once("/pay/payments", "order-1", &paid_with(&first));
        (made.status == 201).then(|| id_of(&made.json()))
    });
    app.restart_with("QUITA_SECRET_KEY", new);
    let client = app.client();
    client.post("/pay/payments", &paid_with(&second)).expect_error(422, "token_unknown");
    let replayed = client.post_once("/pay/payments", "order-1", &paid_with(&first));
    assert_eq!(id_of(&replayed.expect(200)), id, "a known key is answered");
    let other = paid_with(&first).with("amount", json!(10_001));
    client.post_once("/pay/payments", "order-1", &other).expect_error(422, "idempotency_key_reused");
}

#[test]
fn the_script_is_served_to_pages_of_other_origins_and_can_be_pinned() {
    let app = TestApp::new();
    let client = app.client_without_key();
    let integrity = client.get("/checkout/integrity.json").expect(200);
    let hashes = integrity.as_object().unwrap();
    assert!(hashes.len() >= 2, "{hashes:?}");
    for (path, hash) in hashes {
        let script = client.get(path);
        assert_eq!(script.status, 200, "{path}");
        assert!(script.body.len() < 4_096, "{path}: {}", script.body.len());
        assert_eq!(script.header("access-control-allow-origin"), Some("*"));
        assert_eq!(script.header("cross-origin-resource-policy"), Some("cross-origin"));
        assert!(script.header("content-type").unwrap().starts_with("text/javascript"), "{script}");
        let cache = script.header("cache-control").unwrap();
        let is_newest = path == "/checkout/v1.js";
        assert_eq!((cache == "no-cache", cache.contains("immutable")), (is_newest, !is_newest), "{path}");
        assert!(hash.as_str().unwrap().starts_with("sha384-"), "{hash}");
    }
    client.get("/checkout/v1.99.js").expect_error(404, "not_found");
    let guide = client.get("/docs/en/cards-on-your-page").text();
    assert!(guide.contains(hashes["/checkout/v1.js"].as_str().unwrap()), "the documentation has the hash");
}

#[test]
fn a_page_of_another_origin_pays_with_a_token() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let shop = TestReceiver::start();
    let key = publishable(&app);
    let origin = shop.url().trim_end_matches("/webhooks").to_owned();
    allow(&app, "shop", &origin);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cards-on-your-page");
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    let page = page.replace("https://pay.example.com", &app.url()).replace("qk_pub_test_…", &key);
    let script = fs::read_to_string(folder.join("pay.js")).unwrap();
    let answer_with = |checkout: Reply| {
        let page = page.clone();
        let script = script.clone();
        shop.answer_with(move |request| match request.path.as_str() {
            "/pay.js" => Reply::status(200).header("content-type", "text/javascript").body(&script),
            "/" => Reply::status(200).header("content-type", "text/html; charset=utf-8").body(&page),
            _ => checkout.clone(),
        });
    };
    answer_with(Reply::status(204));
    browser.go_to(&format!("{origin}/"));
    for (field, text) in [
        ("#number", "4242 4242 4242 4242"),
        ("#holder", "MARIA DA SILVA"),
        ("#month", "12"),
        ("#year", "49"),
        ("#cvv", "123"),
    ] {
        browser.enter(field, text);
    }
    // The page says what the shop's server answered, and never that it was paid when that is not known.
    for (checkout, said) in [
        (Reply::status(500).body(r#"{"status":"paid"}"#), "A loja não respondeu se o pagamento foi feito."),
        (Reply::status(200).body(r#"{"status":"declined"}"#), "Recusado: visa …4242"),
        (Reply::status(204), "A loja não respondeu se o pagamento foi feito."),
        (Reply::status(200).body(r#"{"status":"paid"}"#), "Pago: visa …4242"),
    ] {
        answer_with(checkout);
        browser.click("#card button");
        browser.wait_for_text("#outcome", said);
    }
    let posted = shop.wait_until(PATIENCE, "the token", |all| all.iter().any(|one| one.method == "POST"));
    let posted = posted.iter().find(|one| one.method == "POST").unwrap().json();
    let token = posted["token"].as_str().unwrap();
    assert!(!shop.received().iter().any(|one| String::from_utf8_lossy(&one.body).contains("4242424242")));
    assert_eq!(app.client().create(&paid_with(token))["status"], "paid");
}
