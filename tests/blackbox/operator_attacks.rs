//! What a stranger may try at the operator's console, and that it is refused.

use crate::support::{Account, TestApp, Visitor};

/// What development on a loopback address takes if none is set.
const PASSWORD: &str = "quita-operator-development";

/// Every page, stream and form of the console but those for signing in.
const READ: [&str; 14] = [
    "/",
    "/kinds/front",
    "/live",
    "/live/history",
    "/transactions",
    "/transactions/01900000-0000-7000-8000-000000000000",
    "/transactions/01900000-0000-7000-8000-000000000000/stream",
    "/acquirers",
    "/acquirers/stream",
    "/acquirers/sandbox/pix/paused",
    "/exceptions",
    "/exceptions/act?action=resolve&id=1",
    "/store",
    "/audit",
];
const CHANGED: [&str; 3] = ["/acquirers/sandbox/pix/paused", "/exceptions/act", "/sign-out"];

fn operator(app: &TestApp) -> Visitor {
    let operator = Visitor::at_ops(app);
    let answer = operator.sign_in("", PASSWORD, "");
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{answer}");
    operator
}

#[test]
fn every_address_is_in_the_lists_of_these_tests() {
    let routes = include_str!("../../src/ops/console/routes.rs");
    let patterns: Vec<_> =
        routes.split(".route(\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(patterns.len() > 15, "{patterns:?}");
    for pattern in patterns {
        let is_of_signing_in = ["/sign-in", "/language", "/console/assets/{name:.*}"].contains(&pattern);
        let begins = pattern.split('{').next().unwrap();
        let is_tried = READ.iter().chain(&CHANGED).any(|path| path.starts_with(begins));
        assert!(is_of_signing_in || is_tried, "{pattern} is not tried");
    }
}

#[test]
fn a_stranger_and_a_merchant_see_nothing_and_change_nothing() {
    let app = TestApp::new();
    let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
    let merchant = Visitor::signed_in(&app, &owner);
    let session = merchant.cookie("quita_console").unwrap();
    let stranger = Visitor::at_ops(&app);
    let disguised = Visitor::at_ops(&app);
    disguised.set_cookie("quita_operator", &session);
    disguised.set_cookie("quita_console", &session);
    for visitor in [&stranger, &disguised] {
        for path in READ {
            let answer = visitor.get(path);
            assert_eq!(answer.status, 303, "{path}: {answer}");
            assert!(answer.header("location").unwrap().starts_with("/sign-in"), "{path}: {answer}");
        }
        for path in CHANGED {
            let answer = visitor.post_with(path, &[], &[("formToken", "x")]);
            assert_eq!(answer.status, 303, "{path}: {answer}");
        }
    }
    let states = app.ops().get("/health/ready").text();
    assert!(!states.contains("paused"), "{states}");
}

#[test]
fn a_form_without_the_session_s_token_or_from_another_site_is_refused() {
    let app = TestApp::new();
    let (operator, other) = (operator(&app), operator(&app));
    let token = operator.form_token();
    let foreign = other.form_token();
    let cross_site = [("Sec-Fetch-Site", "cross-site")];
    for path in CHANGED {
        for (headers, fields) in [
            (&[][..], vec![]),
            (&[][..], vec![("formToken", "")]),
            (&[][..], vec![("formToken", foreign.as_str())]),
            (&cross_site[..], vec![("formToken", token.as_str())]),
        ] {
            let answer = operator.post_with(path, headers, &fields);
            assert_eq!(answer.status, 403, "{path}: {answer}");
        }
    }
    assert_eq!(operator.get("/").status, 200, "the session goes on");
    assert!(!app.ops().get("/health/ready").text().contains("paused"));
}

#[test]
fn guessing_the_password_is_slow_and_a_wrong_one_tells_nothing() {
    let app = TestApp::new();
    let stranger = Visitor::at_ops(&app);
    let statuses: Vec<_> =
        (0..10).map(|guess| stranger.sign_in("", &format!("guess {guess}"), "").status).collect();
    assert_eq!(statuses[..8], [422; 8], "{statuses:?}");
    assert_eq!(statuses[8..], [429; 2], "{statuses:?}");
    assert_eq!(stranger.get("/").status, 303);
}

#[test]
fn a_session_ends_with_signing_out_and_is_never_one_that_was_there_before() {
    let app = TestApp::new();
    let operator = Visitor::at_ops(&app);
    operator.set_cookie("quita_operator", "chosen-by-somebody-else");
    assert_eq!(operator.sign_in("", PASSWORD, "https://evil.example/").header("location"), Some("/"));
    let session = operator.cookie("quita_operator").unwrap();
    assert_ne!(session, "chosen-by-somebody-else");
    assert_eq!(operator.post("/sign-out", &[]).status, 303);
    operator.set_cookie("quita_operator", &session);
    assert_eq!(operator.get("/").status, 303, "the old cookie opens nothing");
}

#[test]
fn another_password_ends_the_sessions_and_production_without_one_is_closed() {
    let mut app = TestApp::builder().env("QUITA_OPERATOR_PASSWORD", "the first of two passwords").start();
    let visitor = Visitor::at_ops(&app);
    assert_eq!(visitor.sign_in("", "the first of two passwords", "").status, 303);
    app.restart_with("QUITA_OPERATOR_PASSWORD", "the second of two passwords");
    let again = Visitor::at_ops(&app);
    again.set_cookie("quita_operator", &visitor.cookie("quita_operator").unwrap());
    assert_eq!(again.get("/").status, 303);
    let production = TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .env("QUITA_SECRET_KEY", "a-key-for-tests-that-is-long-enough-to-be-taken")
        .start();
    for path in ["/", "/sign-in", "/acquirers"] {
        let answer = Visitor::at_ops(&production).get(path);
        assert!([303, 503].contains(&answer.status), "{path}: {answer}");
    }
    let closed = Visitor::at_ops(&production).get("/sign-in");
    assert!(closed.status == 503 && closed.text().contains("QUITA_OPERATOR_PASSWORD"), "{closed}");
    assert_eq!(production.ops().get("/health/live").status, 200, "health and metrics need no password");
}

#[test]
fn pages_carry_the_headers_that_keep_scripts_and_frames_out() {
    let app = TestApp::new();
    let operator = operator(&app);
    for path in ["/", "/sign-in", "/nowhere", "/console/assets/console.css", "/live/history"] {
        let answer = operator.get(path);
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{path}: {answer}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    assert_eq!(operator.get("/").header("cache-control"), Some("no-store"));
}

#[test]
fn nonsense_in_addresses_is_told_as_such() {
    let app = TestApp::new();
    let operator = operator(&app);
    for path in [
        "/kinds/nobody",
        "/transactions/7",
        "/transactions?id=7",
        "/transactions/01900000-0000-7000-8000-000000000000",
        "/acquirers/nobody/pix/paused",
        "/acquirers/sandbox/cash/paused",
        "/acquirers/sandbox/pix/burnt",
        "/exceptions/act",
        "/exceptions/act?action=resolve&id=none",
        "/exceptions/act?action=burn&id=%00",
        "/audit?cursor=a&cursor=b",
        "/nowhere",
    ] {
        assert_eq!(operator.get(path).status, 404, "{path}");
    }
    for path in ["/audit?cursor=x", "/exceptions?state=odd&done=odd"] {
        assert_eq!(operator.get(path).status, 200, "{path}");
    }
}
