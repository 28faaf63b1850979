//! Rules for every address, whoever comes: parameters, HEAD, encodings, bytes that are no request, headers of safety.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Answer, TestApp, boleto, exchange, pix};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const NOBODY: &str = "0193b2c4-0000-7000-8000-000000000000";
/// Time within which a stranger is refused whose body has not come.
const AT_ONCE: Duration = Duration::from_secs(4);

fn path_of(app: &TestApp, url: &Value) -> String {
    url.as_str().unwrap().strip_prefix(&app.url()).unwrap().trim_end_matches(".png").to_owned()
}

#[test]
fn a_parameter_that_an_address_does_not_have_is_400_and_named() {
    let app = TestApp::new();
    let client = app.client();
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let lists =
        ["/pay/payments", "/pay/refunds", "/pay/disputes", "/pay/webhooks/deliveries"].map(String::from);
    let of_one = [format!("/pay/payments/{id}"), format!("/pay/payments/{id}/events")];
    for path in lists.iter().chain(&of_one) {
        for (query, name) in [
            ("status[]=paid", "status[]"),
            ("status%5B%5D=paid", "status[]"),
            ("Status=paid", "Status"),
            ("createdfrom=2026-11-21T00:00:00Z", "createdfrom"),
            ("payment_method=pix", "payment_method"),
            ("external_reference=1", "external_reference"),
            ("x", "x"),
        ] {
            let answer = client.get(&format!("{path}?{query}"));
            answer.expect_error(400, "unknown_parameter");
            assert_eq!(answer.violations(), [(name.to_owned(), "unknown_parameter".to_owned())], "{answer}");
        }
        let twice = client.get(&format!("{path}?a=1&b=2&a=3"));
        assert_eq!(twice.violations().len(), 2, "{twice}");
        assert_eq!(client.get(&format!("{path}?")).status, 200);
    }
    let repeated = client.get("/pay/payments?limit=1&limit=1");
    assert_eq!(repeated.violations(), [("limit".to_owned(), "duplicate".to_owned())]);
    let stranger = app.client_without_key();
    assert_eq!(stranger.get("/pay/payments?x=1").status, 401, "who calls comes first");
    app.ops().get("/ops/exceptions?limit=1").expect_error(400, "unknown_parameter");
}

#[test]
fn nothing_is_done_with_a_parameter_that_nobody_reads() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&pix(10_027));
    let id = record["transactionId"].as_str().unwrap();
    for path in [
        "/pay/payments".to_owned(),
        format!("/pay/payments/{id}/cancel"),
        format!("/pay/payments/{id}/capture"),
        format!("/pay/payments/{id}/refunds"),
        "/pay/routing/evaluate".to_owned(),
        format!("/sandbox/payments/{id}/pay"),
    ] {
        let answer = client.post(&format!("{path}?amount=1"), &pix(10_027));
        assert_eq!(answer.violations(), [("amount".to_owned(), "unknown_parameter".to_owned())], "{answer}");
    }
    assert_eq!(client.payment(id)["version"], record["version"]);
    assert_eq!(client.get("/pay/payments").expect(200)["data"].as_array().unwrap().len(), 1);
}

#[test]
fn links_of_payers_and_callbacks_of_providers_may_carry_parameters() {
    let app = TestApp::new();
    let public = app.client_without_key();
    let page = path_of(&app, &app.client().create(&pix(10_027))["pix"]["qrCode"]);
    let slip = path_of(&app, &app.client().create(&boleto(10_027))["boleto"]["url"]);
    for path in [&page, &format!("{page}.png"), &format!("{page}/status"), &slip, &format!("{slip}.pdf")] {
        assert_eq!(public.get(&format!("{path}?utm_source=mail&fbclid=x")).status, 200, "{path}");
    }
    for path in ["/assets/pages.js", "/docs", "/openapi.json", "/console/sign-in"] {
        assert_eq!(public.get(&format!("{path}?v=1")).status, 200, "{path}");
    }
    for path in ["/health/live", "/health/ready", "/metrics"] {
        assert_eq!(app.ops().get(&format!("{path}?v=1")).status, 200, "{path}");
    }
    let unsigned = public.post("/acquirers/sandbox/notifications?ignorar=1", &json!({}));
    assert_eq!(unsigned.status, 401, "{unsigned}");
}

/// Headers that may differ from one answer to the next.
fn lasting(answer: &Answer) -> Vec<(String, String)> {
    let passing = ["date", "x-request-id", "set-cookie"];
    let mut headers = answer.headers.clone();
    headers.retain(|(name, _)| !passing.contains(&name.as_str()));
    headers.sort();
    headers
}

#[test]
fn head_is_answered_wherever_get_is_with_the_same_headers_and_no_body() {
    let app = TestApp::new();
    let record = app.client().create(&pix(10_027));
    let id = record["transactionId"].as_str().unwrap();
    let page = path_of(&app, &record["pix"]["qrCode"]);
    let slip = path_of(&app, &app.client().create(&boleto(10_027))["boleto"]["url"]);
    let public = [
        "/pay/payments".to_owned(),
        format!("/pay/payments/{id}"),
        format!("/pay/payments/{NOBODY}"),
        format!("/pay/payments/{id}/events"),
        "/pay/payments?x=1".into(),
        "/pay/refunds?status=failed".into(),
        "/pay/disputes".into(),
        "/pay/webhooks/deliveries".into(),
        page.clone(),
        format!("{page}.png"),
        format!("{page}.svg"),
        format!("{page}/status"),
        slip.clone(),
        format!("{slip}.pdf"),
        format!("{slip}/status"),
        "/assets/pages.css".into(),
        "/docs".into(),
        "/docs.js".into(),
        "/openapi.json".into(),
        "/console/sign-in".into(),
        "/console/assets/console.css".into(),
        "/console/".into(),
        "/nowhere".into(),
    ]
    .map(|path| (app.client(), path));
    let ops = ["/health/live", "/health/ready", "/ops/exceptions", "/sign-in", "/console/assets/logo.svg"];
    let ops = ops.map(|path| (app.ops(), path.to_owned()));
    for (client, path) in public.into_iter().chain(ops) {
        let get = client.get(&path);
        let head = client.send("HEAD", &path, &[], b"");
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{head}");
        assert_eq!(lasting(&head), lasting(&get), "{path}");
        let length = head.header("content-length").and_then(|length| length.parse().ok());
        assert_eq!(length.unwrap_or(0), get.body.len(), "{head}");
    }
    // Its length is another one each time.
    let metrics = app.ops().send("HEAD", "/metrics", &[], b"");
    assert!(metrics.status == 200 && metrics.body.is_empty(), "{metrics}");
    assert!(metrics.header("content-length").unwrap().parse::<u64>().unwrap() > 1_000, "{metrics}");
    let nobody = app.client_without_key().send("HEAD", "/pay/payments", &[], b"");
    assert_eq!((nobody.status, nobody.body.len()), (401, 0), "{nobody}");
}

#[test]
fn a_connection_goes_on_after_head() {
    let app = TestApp::new();
    let one = |method: &str| format!("{method} /docs HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut stream = TcpStream::connect(app.address()).unwrap();
    stream.set_read_timeout(Some(AT_ONCE)).unwrap();
    stream.write_all(one("HEAD").as_bytes()).unwrap();
    let mut buffer = [0; 64 * 1024];
    let read = stream.read(&mut buffer).unwrap();
    let head = String::from_utf8_lossy(&buffer[..read]).into_owned();
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
    stream.write_all(one("GET").as_bytes()).unwrap();
    let read = stream.read(&mut buffer).unwrap();
    assert!(buffer[..read].starts_with(b"HTTP/1.1 200"));
}

#[test]
fn other_methods_are_405_and_told_which_are_right() {
    let app = TestApp::new();
    let client = app.client();
    for (path, allow) in [
        ("/pay/payments", "GET, HEAD, POST"),
        ("/pay/payments/7", "GET, HEAD"),
        ("/pay/payments/7/cancel", "POST"),
        ("/pay/refunds", "GET, HEAD"),
        ("/pay/disputes", "GET, HEAD"),
        ("/pay/webhooks/deliveries", "GET, HEAD"),
        ("/pay/links", "GET, HEAD, POST"),
        ("/pay/links/7", "GET, HEAD"),
        ("/pay/links/7/close", "POST"),
        ("/checkout/x", "GET, HEAD, POST"),
        ("/pix/x", "GET, HEAD"),
        ("/boletos/x/status", "GET, HEAD"),
        ("/docs", "GET, HEAD"),
        ("/acquirers/sandbox/notifications", "POST"),
    ] {
        for method in ["OPTIONS", "DELETE", "PUT", "PATCH", "TRACE", "PROPFIND"] {
            let answer = client.send(method, path, &[], b"");
            answer.expect_error(405, "method_not_allowed");
            assert_eq!(answer.header("allow"), Some(allow), "{answer}");
        }
    }
    let head = client.send("HEAD", "/pay/payments/7/cancel", &[], b"");
    assert_eq!((head.status, head.header("allow")), (405, Some("POST")), "{head}");
    for path in ["/health/live", "/health/ready", "/metrics", "/ops/exceptions"] {
        let answer = app.ops().send("OPTIONS", path, &[], b"");
        answer.expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{answer}");
    }
}

#[test]
fn a_body_that_would_have_to_be_unpacked_is_415_and_a_plain_one_is_read() {
    let app = TestApp::new();
    let client = app.client();
    let body = pix(10_027).to_string();
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let refund = format!("/pay/payments/{id}/refunds");
    for encoding in
        ["gzip", "br", "zstd", "deflate", "x-gzip", "identity, gzip", "GZIP", "nonsense", "\u{e9}"]
    {
        for path in ["/pay/payments", "/pay/routing/evaluate", &refund] {
            let headers = [JSON, ("Content-Encoding", encoding)];
            let answer = client.send("POST", path, &headers, body.as_bytes());
            answer.expect_error(415, "unsupported_content_encoding");
            let untyped = client.send("POST", path, &headers[1..], body.as_bytes());
            assert_eq!(untyped.status, 415, "{untyped}");
        }
    }
    for encoding in ["identity", "Identity", "", "identity, identity"] {
        let headers = [JSON, ("Content-Encoding", encoding)];
        assert_eq!(client.send("POST", "/pay/payments", &headers, body.as_bytes()).status, 201, "{encoding}");
    }
    // No body, nothing to unpack.
    let cancel = format!("/pay/payments/{id}/cancel");
    assert_eq!(client.send("POST", &cancel, &[("Content-Encoding", "gzip")], b"").status, 200);
}

#[test]
fn what_is_no_request_is_refused_in_the_shape_of_errors() {
    let app = TestApp::new();
    let ops = app.ops_url().trim_start_matches("http://").to_owned();
    let long = "x".repeat(200_000);
    for (bytes, status, code) in [
        ("GET /pay/payments HTTP/1.1\r\n\r\n", 400, "unreadable_request"),
        ("GET /docs HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "unreadable_request"),
        ("POST /pay/payments HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400, "unreadable_request"),
        ("POST /pay/payments HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "unreadable_request"),
        ("POST /pay/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400, "unreadable_request"),
        (
            "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
            "unreadable_request",
        ),
        ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "unreadable_request"),
        ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400, "unreadable_request"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "unreadable_request"),
        ("\u{16}\u{3}\u{1}\u{0}\u{5}hello", 400, "unreadable_request"),
        (format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n").as_str(), 431, "headers_too_large"),
    ] {
        for address in [app.address(), &ops] {
            let answer = exchange(address, bytes.as_bytes()).unwrap_or_else(|| panic!("{bytes:.60}"));
            answer.expect_error(status, code);
            assert_eq!(answer.header("connection"), Some("close"), "{answer}");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer}");
        }
    }
    app.client().create(&pix(10_027));
}

#[test]
fn a_host_that_can_be_none_is_refused_at_both_listeners() {
    let app = TestApp::new();
    let ops = app.ops_url().trim_start_matches("http://").to_owned();
    let get = |address: &str, target: &str, host: &str| {
        let bytes = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        exchange(address, bytes.as_bytes()).unwrap_or_else(|| panic!("{target} of {host}"))
    };
    for (address, path) in [(app.address(), "/docs.css"), (ops.as_str(), "/health/live")] {
        for host in ["x y/z@", "a/b", "user@a", "a:b", "a:65536", "[::1", "::1", "caf\u{e9}"] {
            let answer = get(address, path, host);
            answer.expect_error(400, "unreadable_request");
            assert!(answer.header("x-request-id").is_some(), "{answer}");
        }
        for host in ["localhost", "api.example.com:8080", "127.0.0.1:1", "[::1]", "[::1]:8080", ""] {
            for target in [path.to_owned(), format!("http://{address}{path}")] {
                let answer = get(address, &target, host);
                assert_eq!(answer.status, 200, "{target} of {host}: {answer}");
            }
        }
        get(address, &format!("http://user@{address}{path}"), "a").expect_error(400, "unreadable_request");
        let old = exchange(address, format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes());
        assert_eq!(old.expect("an answer to HTTP/1.0").status, 200, "without a Host");
    }
}

#[test]
fn answers_that_stand_before_what_is_no_request_are_whole() {
    let app = TestApp::new();
    let good = "GET /docs.css HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut stream = TcpStream::connect(app.address()).unwrap();
    stream.set_read_timeout(Some(AT_ONCE)).unwrap();
    stream.write_all(format!("{good}{good}GET /docs HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    let said = String::from_utf8_lossy(&said).into_owned();
    let css = app.client().get("/docs.css").text();
    assert_eq!(said.matches(&css).count(), 2, "{said}");
    let last = said.rsplit(&css).next().unwrap();
    assert!(last.starts_with("HTTP/1.1 400 Bad Request\r\n") && last.ends_with('}'), "{last}");
}

#[test]
fn strangers_do_not_send_bodies_before_they_are_refused() {
    let app = TestApp::new();
    let ops = app.ops_url().trim_start_matches("http://").to_owned();
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let signed = "webhook-id: a\r\nwebhook-timestamp: 1\r\n";
    for (address, path, headers, status) in [
        (app.address(), "/pay/payments", "Content-Type: application/json\r\n", 401),
        (app.address(), "/acquirers/nobody/notifications", "", 404),
        (app.address(), "/acquirers/nobody/notifications/x", "", 404),
        (app.address(), "/acquirers/sandbox/notifications/x", "", 404),
        (app.address(), "/acquirers/sandbox/notifications", "", 401),
        (app.address(), "/acquirers/sandbox/notifications", signed, 401),
        (app.address(), "/console/sign-in", form, 403),
        (app.address(), "/console/language", form, 403),
        (ops.as_str(), "/sign-in", form, 403),
        (ops.as_str(), "/first-operator", form, 403),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: 200000\r\n\r\nbegun"
        );
        let asked = Instant::now();
        let answer = exchange(address, head.as_bytes()).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(answer.status, status, "{answer}");
        assert!(asked.elapsed() < AT_ONCE, "{path}: {:?}", asked.elapsed());
    }
}

#[test]
fn a_pix_that_is_over_has_no_code_to_pay() {
    let app = TestApp::new();
    let client = app.client();
    let public = app.client_without_key();
    for (cents, status) in [(10_000, "paid"), (10_017, "expired"), (10_027, "cancelled")] {
        let record = client.create(&pix(cents));
        let path = path_of(&app, &record["pix"]["qrCode"]);
        let id = record["transactionId"].as_str().unwrap();
        if status == "cancelled" {
            for kind in ["png", "svg"] {
                let [first, again] = [(); 2].map(|()| public.get(&format!("{path}.{kind}")));
                assert_eq!((first.status, &first.body), (200, &again.body), "{kind}");
            }
            client.post(&format!("/pay/payments/{id}/cancel"), &json!({})).expect(200);
        }
        client.wait_for_status(id, status);
        for kind in ["png", "svg"] {
            public.get(&format!("{path}.{kind}")).expect_error(410, "gone");
        }
        assert_eq!(public.get(&path).status, 200, "the page says how it stands");
    }
}

#[test]
fn no_answer_is_guessed_at_and_browsers_come_back_over_tls_alone() {
    let app = TestApp::new();
    let client = app.client();
    let page = path_of(&app, &client.create(&pix(10_027))["pix"]["qrCode"]);
    let slip = path_of(&app, &client.create(&boleto(10_027))["boleto"]["url"]);
    let public = [
        client.get("/pay/payments"),
        client.get("/pay/payments/7"),
        client.send("PUT", "/pay/payments", &[], b""),
        client.post("/pay/payments", &json!({})),
        client.send("GET", "/pay/payments", &[("X-Request-Id", "4242424242424242")], b""),
        app.client_without_key().get("/pay/payments"),
        client.get("/openapi.json"),
        client.get("/docs"),
        client.get("/docs.js"),
        client.get("/docs.css"),
        client.get("/assets/pages.js"),
        client.get("/nowhere"),
        client.get(&page),
        client.get(&format!("{page}.png")),
        client.get(&format!("{page}/status")),
        client.get(&slip),
        client.get(&format!("{slip}.pdf")),
        client.get("/console/sign-in"),
        client.get("/console/"),
        client.get("/console/nowhere"),
        client.get("/console/assets/console.js"),
        client.send("POST", "/console/sign-in", &[], b"x"),
    ];
    let ops = ["/health/live", "/metrics", "/ops/exceptions", "/sign-in", "/", "/nowhere"];
    let ops = ops.map(|path| app.ops().get(path)).into_iter();
    let foreign = app.ops().send("GET", "/", &[("Host", "evil.example")], b"");
    for answer in public.into_iter().chain(ops).chain([foreign]) {
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer}");
        let lasts = answer.header("strict-transport-security");
        assert_eq!(lasts, Some("max-age=31536000; includeSubDomains"), "{answer}");
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("frame-ancestors"), "{answer}");
        for name in ["content-security-policy", "x-content-type-options", "referrer-policy"] {
            let count = answer.headers.iter().filter(|(known, _)| known == name).count();
            assert_eq!(count, 1, "{name}: {answer}");
        }
    }
}
