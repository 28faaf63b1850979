//! One connection, many requests: nothing that one of them did is left for the next.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Edit, TestApp, exchange, pix};

fn post(app: &TestApp, headers: &str, body: &str) -> String {
    format!(
        "POST /pay/payments HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\n{headers}\r\n{body}",
        app.address(),
        app.key()
    )
}

fn count(app: &TestApp) -> usize {
    app.client().get("/pay/payments?limit=100").expect(200)["data"].as_array().unwrap().len()
}

/// Sends bytes and reads until the service hangs up or says nothing for a second.
fn talk(app: &TestApp, bytes: &str) -> String {
    let mut stream = TcpStream::connect(app.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut said = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        said.extend(&buffer[..length]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn requests_that_are_sent_at_once_are_answered_in_order() {
    let app = TestApp::new();
    let body = pix(10_027).to_string();
    let one = post(&app, &format!("Content-Length: {}\r\n", body.len()), &body);
    let bad = post(&app, "Content-Length: 2\r\n", "{}");
    let said = talk(&app, &format!("{one}{bad}{one}"));
    let statuses: Vec<_> = said.match_indices("HTTP/1.1 ").map(|(at, _)| &said[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["201", "400", "201"], "{said}");
    assert_eq!(count(&app), 2);
}

#[test]
fn a_refused_body_is_never_taken_for_the_next_request() {
    let app = TestApp::new();
    let body = pix(10_027).to_string();
    let inner = post(&app, &format!("Content-Length: {}\r\n", body.len()), &body);
    let length = inner.len();
    // Each of these is refused before its body is read; the body is a request by itself.
    let unauthorized =
        format!("POST /pay/payments HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{inner}");
    let wrong_type = format!("Content-Length: {length}\r\n");
    let wrong_type = post(&app, &wrong_type, &inner).replacen("application/json", "text/plain", 1);
    let unknown = format!("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{inner}");
    let wrong_method =
        format!("PUT /pay/payments HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{inner}");
    for bytes in [unauthorized, wrong_type, unknown, wrong_method] {
        let said = talk(&app, &bytes);
        assert!(said.starts_with("HTTP/1.1 4"), "{said}");
        assert!(!said.contains("HTTP/1.1 201"), "{said}");
    }
    assert_eq!(count(&app), 0);
}

#[test]
fn two_ways_to_say_where_a_body_ends_are_refused() {
    let app = TestApp::new();
    let body = pix(10_027).to_string();
    let inner = post(&app, &format!("Content-Length: {}\r\n", body.len()), &body);
    for headers in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
    ] {
        let said = talk(&app, &post(&app, headers, &format!("0\r\n\r\n{inner}")));
        assert!(!said.contains("HTTP/1.1 201"), "{headers}: {said}");
    }
    assert_eq!(count(&app), 0);
}

#[test]
fn a_chunk_whose_size_is_no_number_ends_the_connection_and_makes_nothing() {
    let app = TestApp::new();
    let body = pix(10_027).to_string();
    for size in [format!("+{:x}", body.len()), format!("-{:x}", body.len()), format!("0x{:x}", body.len())] {
        let chunked = format!("{size}\r\n{body}\r\n0\r\n\r\n");
        let said = talk(&app, &post(&app, "Transfer-Encoding: chunked\r\n", &chunked));
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 400"), "{size}: {said}");
    }
    assert_eq!(count(&app), 0);
}

#[test]
fn a_client_that_waits_to_be_told_to_continue_is_told() {
    let app = TestApp::new();
    let body = pix(10_027).to_string();
    let headers = format!("Content-Length: {}\r\nExpect: 100-continue\r\nConnection: close\r\n", body.len());
    let said = talk(&app, &post(&app, &headers, &body));
    assert!(said.contains("HTTP/1.1 201"), "{said}");
}

#[test]
fn an_old_client_is_answered() {
    let app = TestApp::new();
    let request = format!("GET /pay/payments HTTP/1.0\r\nAuthorization: Bearer {}\r\n\r\n", app.key());
    exchange(app.address(), request.as_bytes()).expect("an answer").expect(200);
}

#[test]
fn a_compressed_body_is_refused_or_read_but_never_a_defect() {
    let app = TestApp::new();
    for encoding in ["gzip", "br", "zstd", "deflate", "identity", "nonsense"] {
        let headers = [("Content-Type", "application/json"), ("Content-Encoding", encoding)];
        let body = pix(10_027).with("currency", "BRL".into()).to_string();
        let answer = app.client().send("POST", "/pay/payments", &headers, body.as_bytes());
        assert!([201, 400, 415].contains(&answer.status), "{encoding}: {answer}");
    }
}
