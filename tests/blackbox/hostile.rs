//! Input that no honest client sends: always an answer in the one shape, and the service lives on.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Answer, Edit, TestApp, exchange, exchange_slowly, pix};

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// Fails unless this is a success, or a refusal in the shape of errors.
#[track_caller]
fn check_sane(answer: &Answer) {
    let status = answer.status;
    assert!(matches!(status, 200..=299 | 400..=499 | 503), "{answer}");
    if status >= 400 {
        answer.expect_error_shape();
    }
}

#[track_caller]
fn check_alive(app: &TestApp) {
    assert_eq!(app.client().create(&pix(10_027))["status"], "pending");
}

fn request(app: &TestApp, headers: &str, body: &[u8]) -> Vec<u8> {
    let host = app.address();
    let key = app.key();
    let head = format!(
        "POST /pay/payments HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn bodies_that_are_garbage_are_refused() {
    let app = TestApp::new();
    let good = pix(10_027).to_string();
    let half = good.as_bytes()[..good.len() / 2].to_vec();
    let latin1 =
        good.replace("São", "S\u{1}").bytes().map(|byte| if byte == 1 { 0xe3 } else { byte }).collect();
    let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xef\xbb\xbf", good.as_bytes()].concat();
    let repeated = good.replacen('{', "{\"amount\":1,", 1).into_bytes();
    let twice = [good.as_bytes(), good.as_bytes()].concat();
    let surrogate = good.replace("Maria", "\\ud800").into_bytes();
    let infinite = good.replace("10027", "1e999").into_bytes();
    let not_a_number = good.replace("10027", "NaN").into_bytes();
    let garbage = (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for body in [half, latin1, utf16, marked, repeated, twice, surrogate, infinite, not_a_number, garbage] {
        let answer = app.client().send("POST", "/pay/payments", &[JSON], &body);
        assert_eq!(answer.status, 400, "{answer}");
        answer.expect_error_shape();
    }
    check_alive(&app);
}

#[test]
fn deep_nesting_and_endless_numbers_are_refused() {
    let app = TestApp::new();
    let nested =
        |open: &str, close: &str| format!("{{\"novelty\":{}1{}}}", open.repeat(40_000), close.repeat(40_000));
    for body in [nested("[", "]"), nested("{\"a\":", "}"), "[".repeat(200_000), "{\"a\":".repeat(50_000)] {
        let answer = app.client().send("POST", "/pay/payments", &[JSON], body.as_bytes());
        assert_eq!(answer.status, 400, "{answer}");
        answer.expect_error_shape();
    }
    let digits = "9".repeat(5_000);
    for number in [
        digits.clone(),
        format!("-{digits}"),
        format!("0.{digits}"),
        format!("1e{digits}"),
        format!("{digits}.0"),
    ] {
        for field in ["amount", "expiresIn", "novelty"] {
            let body = pix(10_027).with(field, json!("NUMBER")).to_string().replace("\"NUMBER\"", &number);
            let answer = app.client().send("POST", "/pay/payments", &[JSON], body.as_bytes());
            check_sane(&answer);
            assert!(field == "novelty" || answer.status >= 400, "{answer}");
        }
    }
    check_alive(&app);
}

#[test]
fn nul_bytes_and_odd_characters_never_harm() {
    let app = TestApp::new();
    let client = app.client();
    let odd = [
        "\u{0}",
        "a\u{0}b",
        "\u{202e}evil",
        "'; DROP TABLE payments; --",
        "<script>alert(1)</script>",
        "{{7*7}}",
    ];
    let more =
        ["\u{feff}", "🏴‍☠️", "ﷺ", "a\r\nSet-Cookie: x=1", "%00", "$where", "../../etc/passwd", "\u{7f}\u{85}"];
    let fields =
        ["paymentDetails.firstName", "paymentDetails.email", "externalReference", "UTMSource", "metadata"];
    for text in odd.into_iter().chain(more) {
        for field in fields {
            let value = if field == "metadata" { json!({text: text}) } else { json!(text) };
            check_sane(&client.post("/pay/payments", &pix(10_027).with(field, value)));
        }
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for path in
            ["/pay/payments/", "/pay/payments?document=", "/pix/", "/boletos/", "/pay/payments?cursor=", "/"]
        {
            check_sane(&client.get(&format!("{path}{encoded}")));
        }
    }
    check_alive(&app);
}

#[test]
fn idempotency_keys_of_any_bytes_get_an_answer() {
    let app = TestApp::new();
    for key in ["", " ", "\t", "two words", "é", &"k".repeat(256), &"k".repeat(8_000)] {
        let answer = app.client().post_once("/pay/payments", key, &pix(10_027));
        check_sane(&answer);
        assert!(answer.status >= 400, "{key:.20}: {answer}");
    }
    for key in ["k", "!", "~", &"k".repeat(255)] {
        assert_eq!(app.client().post_once("/pay/payments", key, &pix(10_027)).status, 201, "{key:.20}");
    }
}

#[test]
fn a_body_over_the_limit_is_413_whether_announced_or_not() {
    let app = TestApp::new();
    let announced = request(&app, "Content-Length: 300000000\r\n", b"{");
    let answer = exchange(app.address(), &announced).expect("an answer before the body has come");
    answer.expect_error(413, "payload_too_large");
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x1_0000));
    let body = format!("{}0\r\n\r\n", chunk.repeat(8));
    let answer = exchange(app.address(), &request(&app, "Transfer-Encoding: chunked\r\n", body.as_bytes()));
    answer.expect("an answer to a chunked body").expect_error(413, "payload_too_large");
    check_alive(&app);
}

#[test]
fn a_chunked_body_within_the_limit_is_accepted() {
    let app = TestApp::new();
    let body = pix(10_027).to_string();
    let chunks: String = body
        .as_bytes()
        .chunks(100)
        .map(|part| format!("{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part)))
        .collect();
    // A character of two bytes may be cut in two by the line above; the request has none at these places.
    let body = format!("{chunks}0\r\n\r\n");
    let answer = exchange(app.address(), &request(&app, "Transfer-Encoding: chunked\r\n", body.as_bytes()));
    answer.expect("an answer").expect(201);
}

#[test]
fn a_body_that_does_not_come_holds_nobody_for_long() {
    let app = TestApp::new();
    let address = app.address();
    let head = request(&app, "Content-Length: 1000\r\n", b"{\"amount\"");
    let begun = Instant::now();
    let answer = std::thread::scope(|scope| {
        let slow = scope.spawn(|| exchange_slowly(address, &head, &[b' '; 400], Duration::from_millis(100)));
        check_alive(&app);
        slow.join().unwrap()
    });
    assert!(begun.elapsed() < Duration::from_secs(35), "{:?}", begun.elapsed());
    if let Some(answer) = answer {
        check_sane(&answer);
        assert!(answer.status >= 400, "{answer}");
    }
    check_alive(&app);
}

#[test]
fn garbage_on_the_socket_is_400_or_hung_up() {
    let app = TestApp::new();
    let long_line = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(200_000));
    let many_headers = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-A: b\r\n".repeat(5_000));
    let cases: [&[u8]; 12] = [
        b"\r\n\r\n\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon here\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS client hello\r\n\r\n",
        b"POST /pay/payments HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /pay/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"POST /pay/payments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /\x00\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        long_line.as_bytes(),
        many_headers.as_bytes(),
    ];
    for bytes in cases {
        // Bytes that are no HTTP have no handler: a bare 400 of the server, or a closed connection, is right.
        if let Some(answer) = exchange(app.address(), bytes) {
            assert!((400..=499).contains(&answer.status), "{answer}");
        }
    }
    check_alive(&app);
}

#[test]
fn many_connections_that_say_nothing_do_not_keep_others_out() {
    let app = TestApp::new();
    let idle: Vec<_> = (0..200).map(|_| std::net::TcpStream::connect(app.address()).unwrap()).collect();
    check_alive(&app);
    assert_eq!(idle.len(), 200);
}

#[test]
fn a_postback_to_a_strange_place_never_breaks_the_service() {
    let app = TestApp::new();
    for url in
        ["http://127.0.0.1:1/", "http://[::1]:1/", "http://localhost:1/x?y=z", "http://nowhere.invalid/"]
    {
        let answer = app.client().post("/pay/payments", &pix(10_027).with("postbackUrl", json!(url)));
        assert_eq!(answer.status, 201, "{url}: {answer}");
    }
    for url in [
        "http://user:password@127.0.0.1/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//x",
        "http://",
        "gopher://x",
    ] {
        let answer = app.client().post("/pay/payments", &pix(10_027).with("postbackUrl", json!(url)));
        check_sane(&answer);
        assert!(
            !url.starts_with("http:") || url == "http://user:password@127.0.0.1/" || answer.status == 422,
            "{answer}"
        );
    }
    check_alive(&app);
}
