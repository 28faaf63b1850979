//! API keys: scopes, expiry, revocation, modes, and what another merchant sees.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Edit, PATIENCE, TestApp, TestReceiver, eventually, pix};

#[test]
fn a_key_does_what_its_scopes_allow_and_nothing_else() {
    let app = TestApp::new();
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let calls = [
        ("payments:write", "POST", "/pay/payments".to_owned()),
        ("payments:write", "POST", format!("/pay/payments/{id}/cancel")),
        ("payments:write", "POST", format!("/pay/payments/{id}/capture")),
        ("payments:write", "POST", format!("/pay/payments/{id}/refunds")),
        ("payments:write", "POST", format!("/sandbox/payments/{id}/pay")),
        ("payments:read", "GET", "/pay/payments".to_owned()),
        ("payments:read", "GET", format!("/pay/payments/{id}")),
        ("payments:read", "GET", format!("/pay/payments/{id}/events")),
        ("payments:read", "GET", "/pay/refunds".to_owned()),
        ("payments:read", "GET", "/pay/disputes".to_owned()),
        ("webhooks", "GET", "/pay/webhooks/deliveries".to_owned()),
        ("webhooks", "POST", format!("/pay/webhooks/deliveries/{id}.1/redeliver")),
    ];
    for scope in ["payments:write", "payments:read", "webhooks"] {
        let client = app.client_with(&app.create_key(&["--merchant", "shop", "--scopes", scope]));
        for (needed, method, path) in &calls {
            let answer = client.send(method, path, &[], b"");
            assert_eq!(answer.status == 403, scope != *needed, "{scope}: {answer}");
            if answer.status == 403 {
                answer.expect_error(403, "forbidden");
                assert!(answer.text().contains(needed), "the missing scope is named: {answer}");
            }
        }
    }
    let both = app.create_key(&["--merchant", "shop", "--scopes", "payments:read,payments:write"]);
    assert_eq!(app.client_with(&both).get("/pay/payments").status, 200);
    assert_eq!(app.client_with(&both).get("/pay/webhooks/deliveries").status, 403);
}

#[test]
fn a_revoked_key_stops_within_five_seconds_and_the_other_one_works_on() {
    let app = TestApp::new();
    let old = app.create_key(&["--merchant", "shop"]);
    let client = app.client_with(&old);
    assert_eq!(client.get("/pay/payments").status, 200);
    let key_id = old.split('_').nth(2).unwrap();
    app.quita(&["keys", "revoke", key_id]).output();
    eventually(Duration::from_millis(5_500), "the revoked key is refused", || {
        (client.get("/pay/payments").status == 401).then_some(())
    });
    client.get("/pay/payments").expect_error(401, "unauthorized");
    assert_eq!(app.client().get("/pay/payments").status, 200);
}

#[test]
fn a_key_stops_when_it_expires() {
    let app = TestApp::new();
    // Long enough for a busy machine to make the key and to use it.
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--expires-in", "8s"]));
    assert_eq!(client.get("/pay/payments").status, 200);
    eventually(PATIENCE, "the expired key is refused", || {
        (client.get("/pay/payments").status == 401).then_some(())
    });
}

#[test]
fn a_key_with_one_wrong_character_is_refused() {
    let app = TestApp::new();
    let key = app.key().to_owned();
    assert_eq!(app.client().get("/pay/payments").status, 200);
    for place in [0, 4, 9, key.len() / 2, key.len() - 1] {
        let mut wrong = key.clone().into_bytes();
        wrong[place] = if wrong[place] == b'x' { b'y' } else { b'x' };
        let answer = app.client_with(&String::from_utf8(wrong).unwrap()).get("/pay/payments");
        answer.expect_error(401, "unauthorized");
    }
    for wrong in
        [key[..key.len() - 1].to_owned(), format!("{key}x"), key.to_uppercase(), format!("{key} {key}")]
    {
        assert_eq!(app.client_with(&wrong).get("/pay/payments").status, 401);
    }
}

#[test]
fn a_live_key_never_reaches_a_sandbox() {
    let app = TestApp::new();
    let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    assert!(key.starts_with("qk_live_"), "the mode is in the key");
    let live = app.client_with(&key);
    let refused = live.post("/pay/payments", &pix(10_027)).expect_error(422, "method_unavailable");
    assert!(refused["message"].as_str().unwrap().contains("for pix in live mode"), "{refused:#}");
    assert_eq!(live.get("/pay/payments").expect(200)["data"], json!([]));
}

#[test]
fn test_and_live_do_not_see_each_other() {
    let app = TestApp::new();
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let live = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    live.get(&format!("/pay/payments/{id}")).expect_error(404, "not_found");
    assert_eq!(live.get("/pay/payments").expect(200)["data"], json!([]));
}

#[test]
fn another_merchants_payment_does_not_exist_in_any_route() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let payment = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    let id = payment["transactionId"].as_str().unwrap();
    client.wait_for_status(id, "paid");
    let delivery = eventually(PATIENCE, "a delivery is listed", || client.deliveries(id).pop());
    let delivery = delivery["id"].as_str().unwrap().to_owned();

    let other = app.client_with(&app.create_key(&["--merchant", "other"]));
    for path in ["", "/events"] {
        other.get(&format!("/pay/payments/{id}{path}")).expect_error(404, "not_found");
    }
    for path in ["cancel", "capture", "refunds"] {
        other.post_empty(&format!("/pay/payments/{id}/{path}")).expect_error(404, "not_found");
    }
    other.post_empty(&format!("/sandbox/payments/{id}/refund")).expect_error(404, "not_found");
    other
        .post_empty(&format!("/pay/webhooks/deliveries/{delivery}/redeliver"))
        .expect_error(404, "not_found");
    let is_empty = |page: Value| page["data"] == json!([]);
    assert!(is_empty(other.get("/pay/payments").expect(200)));
    assert!(is_empty(other.get("/pay/webhooks/deliveries").expect(200)));
    assert!(is_empty(other.get(&format!("/pay/webhooks/deliveries?transactionId={id}")).expect(200)));
    let cursor = client.get("/pay/payments?limit=1").expect(200)["nextCursor"].clone();
    assert_eq!(cursor, Value::Null);
    assert_eq!(client.payment(id)["status"], "paid", "and nothing happened to it");
}

#[test]
fn applications_of_one_merchant_share_its_payments() {
    let app = TestApp::new();
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let second = app.client_with(&app.create_key(&["--merchant", "shop", "--application", "app"]));
    assert_eq!(second.payment(&id)["transactionId"], *id);
}

/// Event that a metric counts, by the value of its label.
fn counted(app: &TestApp, why: &str) -> u64 {
    let metrics = app.ops().get("/metrics").text();
    let name = format!("quita_requests_refused_total{{why=\"{why}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&*name));
    line.unwrap_or_else(|| panic!("{why}: {metrics}")).parse().unwrap()
}

#[test]
fn wrong_keys_are_counted_and_the_log_names_the_key_once_a_minute() {
    let app = TestApp::new();
    let key = app.create_key(&["--merchant", "shop", "--scopes", "payments:read"]);
    let id = key.split('_').nth(2).unwrap().to_owned();
    let wrong = format!("{}AAAA", &key[..key.len() - 4]);
    for _ in 0..37 {
        assert_eq!(app.client_with(&wrong).get("/pay/payments").status, 401);
    }
    assert_eq!(app.client_with(&key).post("/pay/payments", &pix(10_000)).status, 403);
    assert_eq!(app.client_without_key().get("/pay/payments").status, 401);
    assert_eq!(app.client_with("qk_test_0123456789abcdef_x").get("/pay/payments").status, 401);
    app.quita(&["keys", "revoke", &id]).output();
    eventually(PATIENCE, "the key is revoked", || {
        (app.client_with(&key).get("/pay/payments").status == 401).then_some(())
    });
    assert_eq!((counted(&app, "wrong_secret"), counted(&app, "scope")), (37, 1));
    assert_eq!((counted(&app, "no_key"), counted(&app, "revoked_key")), (2, 1));
    let log = app.log();
    let told: Vec<_> =
        log.lines().filter(|line| line.contains("calls with an API key are refused")).collect();
    assert!(told.iter().all(|line| line.contains(&id)), "{told:?}");
    let of = |why: &str| told.iter().filter(|line| line.contains(why)).count();
    let each = (of("wrong_secret"), of("\"scope\""), of("revoked_key"));
    assert_eq!((each, told.len()), ((1, 1, 1), 3), "one for each reason: {told:?}");
    assert!(!log.contains(&key) && !log.contains(&wrong));
}
