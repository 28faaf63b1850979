//! Every row of the table of errors: status, code, headers, and the one shape.

use serde_json::json;

use crate::support::{Edit, TestApp, card, pix};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const NOBODY: &str = "0193b2c4-0000-7000-8000-000000000000";

#[test]
fn a_body_that_is_no_json_is_400() {
    let app = TestApp::new();
    for body in ["", "{", "nonsense", "[]", "null", "\"text\"", "{\"amount\":}"] {
        let answer = app.client().send("POST", "/pay/payments", &[JSON], body.as_bytes());
        assert_eq!(answer.status, 400, "{body}: {answer}");
        answer.expect_error_shape();
    }
}

#[test]
fn a_missing_field_and_a_wrong_type_are_400_and_named() {
    let app = TestApp::new();
    let request = pix(10_000).without("currency").with("amount", json!("10000"));
    let request =
        request.without("paymentDetails.address.city").with("items", json!([{"name": "a", "price": 1.5}]));
    let answer = app.client().post("/pay/payments", &request);
    assert_eq!(answer.status, 400, "{answer}");
    let mut fields: Vec<_> = answer.violations().into_iter().map(|(field, _)| field).collect();
    fields.sort();
    let expected =
        ["amount", "currency", "items[0].price", "items[0].quantity", "paymentDetails.address.city"];
    assert_eq!(fields, expected, "{answer}");
}

#[test]
fn an_unreadable_id_or_cursor_is_400() {
    let app = TestApp::new();
    let client = app.client();
    for path in ["/pay/payments/7", "/pay/payments/not-a-uuid/events", "/pay/payments?cursor=nonsense"] {
        let answer = client.get(path);
        assert_eq!(answer.status, 400, "{answer}");
        answer.expect_error_shape();
    }
    for query in
        ["limit=0", "limit=101", "limit=x", "status=lost", "paymentMethod=cash", "createdFrom=yesterday"]
    {
        let answer = client.get(&format!("/pay/payments?{query}"));
        assert_eq!(answer.status, 400, "{query}: {answer}");
        assert_eq!(answer.violations()[0].0, query.split('=').next().unwrap(), "{answer}");
    }
    let answer = client.get("/pay/webhooks/deliveries?state=lost");
    assert_eq!((answer.status, answer.violations()[0].0.as_str()), (400, "state"), "{answer}");
    assert_eq!(client.post_empty("/pay/payments/7/cancel").status, 400);
    assert_eq!(client.post_empty("/pay/webhooks/deliveries/nonsense/redeliver").status, 400);
}

#[test]
fn a_missing_or_wrong_key_is_401_with_a_challenge() {
    let app = TestApp::new();
    let nobody = app.client_without_key();
    let key = app.key().to_owned();
    let basic = format!("Basic {key}");
    let foreign = "Bearer sk_test_4eC39HqLyjWDarjtT1zdp7dc";
    let mistyped = "Bearer qk_test_nobody_nothing";
    for (header, kind) in [
        (None, "the Authorization header is missing"),
        (Some("Bearer"), "must be the word Bearer and the key"),
        (Some("Bearer "), "must be the word Bearer and the key"),
        (Some(mistyped), "is unknown, expired or revoked"),
        (Some(foreign), "begin with qk_test_ or qk_live_"),
        (Some(&*basic), "must be the word Bearer and the key"),
        (Some(&*key), "must be the word Bearer and the key"),
    ] {
        let headers: Vec<_> = header.map(|value| ("Authorization", value)).into_iter().collect();
        for path in
            ["/pay/payments", "/pay/payments/7", "/pay/refunds", "/pay/disputes", "/pay/webhooks/deliveries"]
        {
            let answer = nobody.send("GET", path, &headers, b"");
            let error = answer.expect_error(401, "unauthorized");
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("invalid or missing API key: "), "{message}");
            assert!(message.contains(kind), "{header:?}: {message}");
            assert!(
                answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")),
                "{answer}"
            );
        }
        let answer = nobody.send("POST", "/pay/payments", &headers, b"not even read");
        assert_eq!(answer.status, 401, "{answer}");
    }
}

#[test]
fn an_unknown_transaction_is_404_in_every_route() {
    let app = TestApp::new();
    let client = app.client();
    for path in ["", "/events"] {
        let error = client.get(&format!("/pay/payments/{NOBODY}{path}")).expect_error(404, "not_found");
        assert_eq!(error["message"], "transaction not found");
    }
    for action in ["cancel", "capture", "refunds"] {
        let answer = client.post_empty(&format!("/pay/payments/{NOBODY}/{action}"));
        assert_eq!(answer.expect_error(404, "not_found")["message"], "transaction not found");
    }
    let answer = client.post_empty(&format!("/sandbox/payments/{NOBODY}/pay"));
    assert_eq!(answer.expect_error(404, "not_found")["message"], "transaction not found");
}

#[test]
fn an_unknown_address_is_404_in_the_shape_of_errors() {
    let app = TestApp::new();
    for path in
        ["/pay", "/pay/payment", "/pay/payments/", "/pay/payments/x/y/z", "/%00", "/..%2f..%2fetc/passwd"]
    {
        let answer = app.client().get(path);
        assert_eq!(answer.status, 404, "{answer}");
        answer.expect_error_shape();
    }
}

#[test]
fn a_method_that_an_address_does_not_know_is_405_with_allow() {
    let app = TestApp::new();
    let client = app.client();
    for (method, path, allow) in [
        ("DELETE", "/pay/payments", "GET, POST"),
        ("PUT", "/pay/payments", "GET, POST"),
        ("POST", "/pay/payments/7", "GET"),
        ("PATCH", "/pay/payments/7", "GET"),
        ("GET", "/pay/payments/7/cancel", "POST"),
        ("GET", "/pay/payments/7/refunds", "POST"),
        ("POST", "/pay/refunds", "GET"),
        ("DELETE", "/pay/disputes", "GET"),
        ("POST", "/pay/webhooks/deliveries", "GET"),
        ("GET", "/pay/webhooks/deliveries/7/redeliver", "POST"),
    ] {
        let answer = client.send(method, path, &[], b"");
        answer.expect_error(405, "method_not_allowed");
        let mut allowed: Vec<_> = answer.header("allow").unwrap().split(", ").collect();
        allowed.retain(|method| *method != "HEAD");
        assert_eq!(allowed.join(", "), allow, "{answer}");
    }
}

#[test]
fn a_body_that_is_too_large_is_413() {
    let app = TestApp::new();
    let just_right = pix(10_027).with("novelty", json!("x".repeat(255 * 1024)));
    app.client().create(&just_right);
    let too_large = pix(10_027).with("novelty", json!("x".repeat(256 * 1024)));
    app.client().post("/pay/payments", &too_large).expect_error(413, "payload_too_large");
}

#[test]
fn a_body_of_another_type_is_415() {
    let app = TestApp::new();
    let body = pix(10_000).to_string();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/xml",
        "nonsense",
        "application/jsonp",
    ] {
        let answer = app.client().send("POST", "/pay/payments", &[("Content-Type", kind)], body.as_bytes());
        assert_eq!(answer.status, 415, "{kind}: {answer}");
        answer.expect_error_shape();
    }
    assert_eq!(app.client().send("POST", "/pay/payments", &[], body.as_bytes()).status, 415);
    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        let answer = app.client().send("POST", "/pay/payments", &[("Content-Type", kind)], body.as_bytes());
        assert_eq!(answer.status, 201, "{kind}: {answer}");
    }
}

#[test]
fn every_response_carries_a_request_id() {
    let app = TestApp::new();
    let client = app.client();
    let own = client.send("GET", "/pay/payments", &[("X-Request-Id", "order-7.retry:2")], b"");
    assert_eq!((own.status, own.header("x-request-id")), (200, Some("order-7.retry:2")));
    let error = client.send("GET", "/pay/payments/7", &[("X-Request-Id", "mine")], b"");
    assert_eq!(error.expect_error_shape()["requestId"], "mine");
    let first = client.get("/pay/payments");
    let second = client.get("/pay/payments");
    assert!(first.header("x-request-id").is_some_and(|id| !id.is_empty()), "{first}");
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    let long = "x".repeat(5_000);
    for insane in ["", "two words", "<script>", "\u{e9}t\u{e9}", &long] {
        let answer = client.send("GET", "/nowhere", &[("X-Request-Id", insane)], b"");
        let id = answer.header("x-request-id").unwrap();
        assert!(!id.is_empty() && id.len() <= 200 && !id.contains(' '), "{insane:.40}: {answer}");
    }
}

#[test]
fn more_requests_than_a_key_may_send_are_429_with_retry_after() {
    let app = TestApp::builder().arg("--rate-limit", "5").start();
    let answers: Vec<_> = (0..20).map(|_| app.client().get("/pay/payments")).collect();
    let refused =
        answers.iter().find(|answer| answer.status == 429).expect("20 at once are more than 5 a second");
    let error = refused.expect_error(429, "rate_limited");
    assert!(error["message"].as_str().unwrap().contains("at most 5 requests per second; wait"), "{error}");
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{refused}");
    assert_eq!(answers[0].status, 200);
    let other = app.create_key(&["--merchant", "other"]);
    assert_eq!(app.client_with(&other).get("/pay/payments").status, 200, "another key has its own limit");
}

#[test]
fn a_refused_card_is_no_error() {
    let app = TestApp::new();
    let record = app.client().create(&card("4000000000000002", 10_000));
    assert_eq!(
        (&record["status"], &record["creditCard"]["declineCode"]),
        (&json!("declined"), &json!("generic_decline"))
    );
}

#[test]
fn no_answer_of_the_api_is_kept_by_anybody_in_between() {
    let app = TestApp::new();
    let client = app.client();
    let stranger = app.client_without_key();
    let created = client.post("/pay/payments", &pix(10_027));
    let id = created.json()["transactionId"].as_str().unwrap().to_owned();
    let path = format!("/pay/payments/{id}");
    for answer in [
        created,
        client.get(&path),
        client.get(&format!("{path}/events")),
        client.get("/pay/payments"),
        client.get("/pay/webhooks/deliveries"),
        client.post("/pay/payments", &json!({})),
        client.post_empty(&format!("{path}/cancel")),
        client.get("/pay/payments/7"),
        client.send("PUT", "/pay/payments", &[], b""),
        client.get("/nowhere"),
        stranger.get(&path),
        stranger.post("/acquirers/sandbox/notifications", &json!({})),
        app.ops().get("/ops/exceptions"),
        app.ops().get("/health/ready"),
        app.ops().get("/metrics"),
    ] {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer}");
    }
}
