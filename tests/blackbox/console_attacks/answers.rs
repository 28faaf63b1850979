//! Properties of every answer of the console: its protecting headers, and a page if it is a failure.

use super::routes::examples;
use super::shops::Shops;
use crate::support::{
    Account, Answer, EventStream, TestApp, Visitor, check_is_protected, check_stream_is_protected,
};

/// An answer of the console, whatever was asked: protected, no defect, and a page if it is a failure.
#[track_caller]
pub(super) fn check_is_sane(answer: &Answer) {
    check_is_protected(answer);
    assert!(answer.status < 500, "{answer}");
    if answer.status >= 400 {
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{answer}");
        assert!(answer.request.starts_with("HEAD") || answer.text().contains("</html>"), "{answer}");
    }
}

#[test]
fn every_kind_of_answer_of_every_route_is_protected() {
    let shops = Shops::open();
    let stranger = Visitor::new(&shops.app);
    let token = shops.viewer.form_token();
    for (route, example) in examples("GET") {
        let attempt = shops.ids.attempt(route, example);
        check_is_sane(&attempt.by(&stranger, ""));
        if route.is_stream() {
            let head = EventStream::open(&shops.app, &shops.owner, &attempt.path).head;
            check_stream_is_protected(&head);
        } else {
            check_is_sane(&attempt.by(&shops.owner, ""));
            check_is_sane(&attempt.by(&shops.viewer, ""));
        }
    }
    for (route, example) in examples("POST").filter(|(route, _)| route.pattern != "/sign-out") {
        let attempt = shops.ids.attempt(route, example);
        check_is_sane(&attempt.by(&stranger, ""));
        check_is_sane(&attempt.by(&shops.viewer, &token));
        check_is_sane(&attempt.by(&shops.owner, ""));
        check_is_sane(&attempt.with(
            &shops.owner,
            &[("Sec-Fetch-Site", "cross-site")],
            &shops.owner.form_token(),
        ));
    }
    let token = shops.owner.form_token();
    for (route, example) in examples("POST").filter(|(route, _)| route.pattern != "/sign-in") {
        if !route.pattern.ends_with("/password") && route.pattern != "/sign-out" {
            check_is_sane(&shops.ids.attempt(route, example).by(&shops.owner, &token));
        }
    }
}

#[test]
fn head_is_answered_as_get_is_and_without_a_body() {
    let shops = Shops::open();
    let mut compared = 0;
    for (route, example) in examples("GET") {
        let path = shops.ids.attempt(route, example).path;
        let head = shops.owner.send("HEAD", &path, &[], b"");
        check_is_sane(&head);
        assert!(head.body.is_empty(), "{head}");
        if route.is_stream() {
            let told = (head.status, head.header("content-type"));
            assert_eq!(told, (200, Some("text/event-stream")), "{head}");
            continue;
        }
        let [get, again] = [(); 2].map(|()| shops.owner.get(&path));
        for name in ["content-type", "location"] {
            assert_eq!((head.status, head.header(name)), (get.status, get.header(name)), "{path}");
        }
        // The page of people, say, shows what has just happened, and that of the second factor a new secret each time.
        let length = get.header("content-length");
        if length.is_none() {
            assert_eq!(head.header("content-length"), None, "an export is as long as it will be: {path}");
        }
        if length.is_some() && get.body == again.body {
            assert_eq!(head.header("content-length"), length, "{path}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn cookies_are_for_the_console_alone_and_in_production_for_tls_alone() {
    let development = TestApp::new();
    let production = TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .env("QUITA_SECRET_KEY", "a-key-for-tests-that-is-long-enough-to-be-taken")
        .env("QUITA_ACQUIRER", "[{ name = \"sandbox\", adapter = \"sandbox\" }]")
        .start();
    for (app, prefix, secure) in [(&development, "", ""), (&production, "__Host-", " Secure;")] {
        let account = Account::create(app, "shop", "ana@shop.example", "owner");
        let visitor = Visitor::new(app);
        let set =
            |answer: &Answer| answer.header("set-cookie").unwrap_or_else(|| panic!("{answer}")).to_owned();
        let visit = set(&visitor.get("/console/sign-in"));
        let signed_in = visitor.sign_in(&account.email, &account.password, "");
        let begun = set(&signed_in);
        let device =
            signed_in.headers.iter().filter(|(name, _)| name == "set-cookie").nth(1).unwrap().1.clone();
        let ended = set(&visitor.post("/console/sign-out", &[]));
        for (cookie, name, seconds) in [
            (&visit, "quita_console_visit", 3_600),
            (&begun, "quita_console", 43_200),
            (&device, "quita_console_device", 31_536_000),
            (&ended, "quita_console", 0),
        ] {
            let (pair, attributes) = cookie.split_once("; ").unwrap();
            assert_eq!(pair.split('=').next(), Some(&*format!("{prefix}{name}")), "{cookie}");
            assert_eq!(attributes, format!("HttpOnly; SameSite=Strict;{secure} Path=/; Max-Age={seconds}"));
        }
    }
}
