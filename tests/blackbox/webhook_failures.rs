//! Why a webhook was not taken: the log, the console's pages and a test event say it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Account, Edit, PATIENCE, TestApp, TestReceiver, Visitor, eventually, pause, pix};

/// Longer than the time after a line in which its receiver gets no other.
const NEXT_LINE_AFTER: Duration = Duration::from_millis(2_500);

/// Time without a byte after which a request is at its end.
const READS_FOR: Duration = Duration::from_millis(300);

/// Starts of what servers say to a request that they do not understand.
const PLAIN_HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
const ALERT_OF_TLS: &[u8] = &[0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46];

/// Starts a server that reads what comes, says this and closes; returns host and port.
fn server_that_says(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // What is left unread would reset the connection, and the reset would overtake the answer.
            drop(stream.set_read_timeout(Some(READS_FOR)));
            while stream.read(&mut [0; 4_096]).is_ok_and(|count| count > 0) {}
            drop(stream.write_all(bytes));
        }
    });
    address
}

/// Lines of the log about receivers that did not take a webhook.
fn lines(app: &TestApp) -> Vec<String> {
    let log = app.log();
    log.lines()
        .filter(|line| line.contains("a receiver did not accept a webhook"))
        .map(str::to_owned)
        .collect()
}

/// Creates a payment with this receiver, and returns its first delivery once that was attempted.
#[track_caller]
fn attempted(app: &TestApp, url: &str) -> Value {
    let record = app.client().create(&pix(10_027).with("postbackUrl", json!(url)));
    let id = record["transactionId"].as_str().unwrap();
    eventually(PATIENCE, "the attempt is listed", || {
        app.client().deliveries(id).into_iter().find(|delivery| delivery["attempts"] != json!([]))
    })
}

fn developer(app: &TestApp) -> Visitor {
    Visitor::signed_in(app, &Account::create(app, "shop", "dora@shop.example", "developer"))
}

#[test]
fn a_receiver_that_fails_is_one_line_of_the_log_until_its_reason_changes() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer(503);
    let url = format!("{}?token=s3cret", receiver.url());
    for _ in 0..4 {
        attempted(&app, &url);
    }
    assert_eq!(lines(&app).len(), 1, "{:#?}", lines(&app));
    receiver.answer(301);
    pause(NEXT_LINE_AFTER);
    for _ in 0..4 {
        attempted(&app, &url);
    }
    let told = lines(&app);
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].contains("503") && told[1].contains("301, redirects are not followed"), "{told:#?}");
    let host = receiver.url().replace("http://", "").replace("/webhooks", "");
    for line in &told {
        assert!(line.contains("INFO") && line.contains(&host), "{line}");
        assert!(!line.contains("s3cret") && !line.contains("/webhooks") && !line.contains("evt_"), "{line}");
    }
}

#[test]
fn the_log_has_the_exact_reason_and_the_record_only_its_kind() {
    let app = TestApp::new();
    for (url, error, exactly) in [
        (format!("https://{}/", server_that_says(PLAIN_HTTP)), "tls", "InvalidContentType"),
        (format!("http://{}/", server_that_says(ALERT_OF_TLS)), "protocol", "the answer is not HTTP/1.1"),
        (
            format!("http://{}/", server_that_says(b"")),
            "protocol",
            "the connection was closed without an answer",
        ),
    ] {
        let attempt = attempted(&app, &url)["attempts"][0].clone();
        assert_eq!((&attempt["error"], &attempt["status"]), (&json!(error), &json!(null)), "{url}");
        let members: Vec<_> = attempt.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members.len(), 5, "nothing is stored beside it: {members:?}");
        let told = lines(&app).pop().expect("there is a line");
        assert!(told.contains(exactly), "{exactly}: {told}");
    }
}

#[test]
fn in_production_the_log_has_these_lines_at_debug_only() {
    let production = |level: &str| {
        let app = TestApp::builder()
            .arg("--environment", "production")
            .arg("--public-url", "https://pay.example.com")
            .arg("--log-level", level)
            .env("QUITA_SECRET_KEY", "a-key-for-tests-that-is-long-enough-to-be-taken")
            .env("QUITA_ACQUIRER", "[{ name = \"sandbox\", adapter = \"sandbox\" }]")
            .start();
        attempted(&app, "https://shop.example/webhooks");
        lines(&app).len()
    };
    assert_eq!((production("info"), production("debug")), (0, 1));
}

#[test]
fn a_test_event_says_in_words_why_there_was_no_answer() {
    let app = TestApp::new();
    let developer = developer(&app);
    let receiver = TestReceiver::start();
    receiver.answer(301);
    for (url, parts) in [
        (
            format!("https://{}/", server_that_says(PLAIN_HTTP)),
            [
                "TLS or certificate refused",
                "The port does not speak TLS: perhaps the URL must begin with http://.",
            ],
        ),
        (
            format!("http://{}/", server_that_says(ALERT_OF_TLS)),
            [
                "connection lost or no HTTP answer",
                "if the port speaks TLS, the URL must begin with https://.",
            ],
        ),
        (
            "http://127.0.0.1:1/".to_owned(),
            ["connection refused or host unreachable", "(no connection: connection refused)"],
        ),
        (receiver.url(), ["301, redirects are not followed", "(empty answer)"]),
    ] {
        let path = "/console/test/applications/default/test-event";
        let page = developer.post(path, &[("url", &url)]).text();
        for part in parts {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("No answer"), "{page}");
    }
}

#[test]
fn the_console_says_that_a_redirect_is_not_followed_and_that_410_ends_the_attempts() {
    let app = TestApp::new();
    let developer = developer(&app);
    let receiver = TestReceiver::start();
    for (status, state, expected) in [
        (301, "failing", "301, redirects are not followed"),
        (410, "exhausted", "410, which ends all attempts for the payment"),
    ] {
        receiver.answer(status);
        let delivery = attempted(&app, &receiver.url());
        let page = developer.page(&format!("/console/test/deliveries?state={state}"));
        // In its row, and as the last failure of its receiver.
        assert!(page.matches(expected).count() >= 2, "{page}");
        let id = delivery["transactionId"].as_str().unwrap();
        let page = developer.page(&format!("/console/test/payments/{id}"));
        assert!(page.contains(expected), "{page}");
    }
}
