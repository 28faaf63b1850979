//! Requests that no browser sends: nonsense in addresses, queries and forms.

use super::answers::check_is_sane;
use super::routes::{Route, examples};
use super::shops::Shops;
use crate::support::{Answer, TestApp, Visitor, exchange, form, form_token_in};

/// The first and the last moment that a cursor can name.
const FAR: [&str; 2] = [
    "LTkyMjMzNzIwMzY4NTQ3NzU4MDguMDE5ODAwMDAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw",
    "OTIyMzM3MjAzNjg1NDc3NTgwNy4wMTk4MDAwMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA",
];

#[test]
fn nonsense_in_a_query_is_no_defect() {
    let shops = Shops::open();
    let names = [
        "q",
        "status",
        "method",
        "amount",
        "from",
        "to",
        "cursor",
        "state",
        "redelivered",
        "more",
        "done",
        "next",
        "since",
        "receiver",
        "rest",
    ];
    let huge = "9".repeat(4_000);
    let mut values =
        vec!["%00", "%ff%fe", &huge, "", "%zz", "-1", "1e999", "NaN", "%F0%9F%92%B8", "%22%3E%3Cscript%3E"];
    values.extend([
        "$ne",
        "..%2f..",
        "%2B262142-12-31",
        "-262143-01-01",
        "9999-12-31",
        "0000-01-01",
        "true",
        "[]",
    ]);
    values.extend(["%7B%22%24gt%22%3A%22%22%7D", "a%00%40b", "R%24", FAR[0], FAR[1]]);
    // These read the most; the others read which notice to show.
    let searching = [
        "/{mode}/payments",
        "/{mode}/payments.csv",
        "/{mode}/refunds",
        "/{mode}/disputes",
        "/{mode}/links",
        "/{mode}/deliveries",
        "/{mode}/deliveries/redeliver",
        "/{mode}/audit",
    ];
    for (route, example) in examples("GET").filter(|(route, _)| !route.is_stream()) {
        let path = shops.ids.attempt(route, example).path;
        let twice: Vec<_> =
            names.iter().flat_map(|name| [format!("{name}=1"), format!("{name}=2")]).collect();
        check_is_sane(&shops.owner.get(&format!("{path}?{}", twice.join("&"))));
        let tried = if searching.contains(&route.pattern) { &values[..] } else { &values[..3] };
        for value in tried {
            let query: Vec<_> = names.iter().map(|name| format!("{name}={value}")).collect();
            check_is_sane(&shops.owner.get(&format!("{path}?{}", query.join("&"))));
        }
    }
}

#[test]
fn nonsense_in_a_path_leads_nowhere() {
    let shops = Shops::open();
    for path in [
        "/console/../pay/payments",
        "/console/..%2fpay",
        "/console/%2e%2e/docs",
        "/console/./test",
        "/console//test",
        "/console/test//payments",
        "/console/test/payments/",
        "/console/test/",
        "/console/test;x=1/payments",
        "/console/%00",
        "/console/test/%ff%fe",
        "/console/test/payments/%2e%2e%2f%2e%2e",
        "/console/test/payments/{paid}%00",
        "/console/test/payments/{paid}%2frefund",
        "/console/test/payments/{paid}/%72efund/..",
        "/console/test/payments/{paid}/deliveries/-1/redeliver",
        "/console/test/payments/{paid}/deliveries/99/redeliver",
        "/console/test/payments/{paid}/deliveries/4294967296/redeliver",
        "/console/test/payments/{paid}/deliveries/0x0/redeliver",
        "/console/test/payments/{paid}/destroy",
        "/console/test/links/",
        "/console/test/links/%2e%2e",
        "/console/test/links/{link}%00",
        "/console/test/links/{link}/open",
        "/console/test/links/{paid}",
        "/console/test/links/01980000",
        "/console/test/applications/.",
        "/console/test/applications/..",
        "/console/test/applications/%2e%2e",
        "/console/test/applications/{application}/keys/{key}/show",
        "/console/test/applications/{application}/keys/%00/revoke",
        "/console/test/applications/{application}/secret/steal",
        "/console/test/applications/{application}/secret/show",
        "/console/test/people/{login}/promote",
        "/console/test/people/{login}/role",
        "/console/test/people/%00/remove",
        "/console/test/people/@/remove",
        "/console/assets/",
        "/console/assets/../console.css",
        "/console/assets/%2e%2e/%2e%2e/Cargo.toml",
        "/console/assets/..%2f..%2fCargo.toml",
        "/console/assets//etc/passwd",
        "/console/assets/vendor/../console.css",
        "/console/assets/console.css%00.svg",
        "/console/sign-in/",
        "/console/sign-in/x",
    ] {
        let answer = shops.owner.get(&shops.ids.fill(path));
        assert_eq!(answer.status, 404, "{answer}");
        check_is_sane(&answer);
    }
    let long = shops.owner.get(&format!("/console/test/applications/{}", "a".repeat(4_000)));
    assert_eq!(long.status, 404, "{long}");
}

#[test]
fn a_form_is_bounded() {
    let shops = Shops::open();
    let before = shops.state();
    for (route, example) in examples("POST") {
        let path = shops.ids.attempt(route, example).path;
        let answer = huge_form(&shops.app, &shops.owner, route, &path);
        assert_eq!(answer.status, 413, "{path}: {answer}");
        check_is_sane(&answer);
    }
    assert_eq!(shops.state(), before);
}

/// A form of 65 KiB with the right token, over a socket: the service may answer and hang up before it has read it all.
fn huge_form(app: &TestApp, who: &Visitor, route: &Route, path: &str) -> Answer {
    let token = if route.pattern == "/sign-in" {
        form_token_in(&who.page("/console/sign-in"))
    } else {
        who.form_token()
    };
    let body = form(&[("formToken", &token), ("x", &"x".repeat(65 * 1024))]);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAccept-Language: en\r\nCookie: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
        app.address(),
        who.cookie_header(),
        body.len()
    );
    exchange(app.address(), format!("{head}{body}").as_bytes()).expect("it is answered")
}

#[test]
fn what_a_form_says_is_checked_before_anything_is_done() {
    let shops = Shops::open();
    let before = shops.state();
    let token = shops.owner.form_token();
    let long = format!("name={}", "a".repeat(61));
    let receiver = format!("since=2026-01-01T00:00&receiver={}", "a".repeat(260));
    for (path, fields, status) in [
        ("/applications", "", 422),
        ("/applications", "name=", 422),
        ("/applications", "name=a%00b", 422),
        ("/applications", "name=a%0D%0Ab", 422),
        ("/applications", "name=.", 422),
        ("/applications", "name=..", 422),
        ("/applications", &long, 422),
        ("/applications/{application}/rename", "title=+", 422),
        ("/applications/{application}/keys", "scope=everything", 422),
        ("/applications/{application}/keys", "scope=webhooks&expiry=soon", 422),
        ("/applications/{application}/keys", "scope=webhooks&expiry=-1", 422),
        ("/applications/{application}/endpoint", "url=gopher%3A%2F%2F127.0.0.1%2F", 422),
        ("/applications/{application}/endpoint", "url=https%3A%2F%2Fa.example%2F4242424242424242", 422),
        ("/applications/{application}/origins", "origins=https%3A%2F%2Fa.example%2Fpay", 422),
        ("/applications/{application}/origins", "origins=null", 422),
        ("/applications/{application}/origins", "origins=https%3A%2F%2F4242424242424242.example", 422),
        ("/applications/{application}/test-event", "url=gopher%3A%2F%2F127.0.0.1%2F", 422),
        ("/applications/{application}/test-event", "url=http%3A%2F%2Fa+b%2F", 422),
        ("/people", "email=nobody&role=owner", 422),
        ("/people", "email=a%40b%40c&role=owner", 422),
        ("/people", "email=new%40shop.example&role=root", 404),
        ("/people", "email=new%40shop.example&role=Owner", 404),
        ("/people/{login}/role", "role=operator", 404),
        ("/people/{login}/promote", "", 404),
        ("/people/ana%40shop.example/remove", "", 409),
        ("/people/ana%40shop.example/role", "role=viewer", 409),
        ("/payments/{paid}/refund", "amount=1.00&key=", 403),
        ("/payments/{paid}/refund", "amount=&key={requested}", 422),
        ("/payments/{paid}/refund", "amount=-1.00&key={requested}", 422),
        ("/payments/{paid}/refund", "amount=1,00&key={requested}", 422),
        ("/payments/{paid}/refund", "amount=99999999999999999999&key={requested}", 422),
        ("/payments/{paid}/refund", "amount=0&key={requested}", 409),
        ("/payments/{paid}/refund", "amount=100.01&key={requested}", 409),
        ("/payments/{paid}/capture", "amount=1.00&key={requested}", 409),
        ("/payments/{paid}/cancel", "key={requested}", 409),
        ("/payments/{pending}/refund", "amount=1.00&key={requested}", 409),
        ("/payments/{pending}/deliveries/0/redeliver", "", 409),
        ("/links/new", "title=x&amount=1.00&method=pix&key=", 403),
        ("/links/new", "title=+&amount=1.00&method=pix&key={requested}", 422),
        ("/links/new", "title=a%00b&amount=1.00&method=pix&key={requested}", 422),
        ("/links/new", "title=4242+4242+4242+4242&amount=1.00&method=pix&key={requested}", 422),
        ("/links/new", "title=x&amount=&method=pix&key={requested}", 422),
        ("/links/new", "title=x&amount=0&method=pix&key={requested}", 422),
        ("/links/new", "title=x&amount=1,00&method=pix&key={requested}", 422),
        ("/links/new", "title=x&amount=99999999999999999999&method=pix&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=cash&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=pix&method=PIX&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=cash&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=pix&uses=0&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=pix&uses=1e9&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=pix&uses=99999999999999999999&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=pix&days=0&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=pix&days=366&key={requested}", 422),
        ("/links/new", "title=x&amount=1.00&method=pix&days=-1&key={requested}", 422),
        ("/links/01980000-0000-7000-8000-000000000000/close", "", 404),
        ("/deliveries/redeliver", "since=yesterday", 422),
        ("/deliveries/redeliver", "since=%2B262142-12-31T23:59", 422),
        ("/deliveries/redeliver", "since=2026-01-01T00:00&receiver=a%00b", 422),
        ("/deliveries/redeliver", &receiver, 422),
        ("/account/password", "current={password}&new=short", 422),
        ("/account/mail", "mail=loud", 422),
        ("/account/webhook", "url=gopher%3A%2F%2F127.0.0.1%2F&language=en", 422),
        ("/account/webhook", "url=http%3A%2F%2Fa+b%2F&language=en", 422),
        ("/account/webhook", "url=https%3A%2F%2Fa.example%2F&language=loud", 422),
        ("/account/webhook", "url=https%3A%2F%2Fa.example%2F4242424242424242&language=en", 422),
    ] {
        let path = shops.ids.fill(&format!("/console/test{path}"));
        let fields = shops.ids.fill(fields).replace("{requested}", "01980000-0000-7000-8000-000000000001");
        let headers = [("Content-Type", "application/x-www-form-urlencoded")];
        let body = format!("formToken={token}&{fields}");
        let answer = shops.owner.send("POST", &path, &headers, body.as_bytes());
        assert_eq!(answer.status, status, "{fields}: {answer}");
        check_is_sane(&answer);
    }
    assert_eq!(shops.state(), before);
    // This one leaves an entry of the audit log, and nothing else.
    let wrong = [("current", "wrong"), ("new", "a new long sentence")];
    assert_eq!(shops.owner.post("/console/test/account/password", &wrong).status, 409);
    assert!(shops.owner.page("/console/test/audit").contains("failed to confirm their identity"));
    drop(Visitor::signed_in(&shops.app, &shops.owner_account));
}
