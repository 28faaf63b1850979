//! The sender of webhooks against real receivers on loopback.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quita_domain::delivery::DeliveryAttempt;
use quita_machine::SystemClock;
use quita_ports::{DetailKind, SentWebhook, WebhookRequest, WebhookSenderFactory};
use quita_webhook_http::{AddressPolicy, WebhookHttpFactory};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Long enough for an exchange on loopback on a busy machine.
const PATIENCE_MS: u64 = 10_000;
/// Short, where the time-out is what is tried.
const IMPATIENCE_MS: u64 = 300;

/// Behaviour of a receiver after it read a request.
#[derive(Clone)]
enum Behaviour {
    /// Answers with these bytes; the connection stays open.
    Answer(String),
    /// Answers 200 with a body of which a byte comes now and then, for ever.
    Drip,
    /// Answers 200 with a body without end, and counts what it could write.
    Flood,
    /// Promises more than it sends, and closes.
    BreakOff,
    /// Closes at once.
    Close,
}

/// A receiver on loopback.
struct Receiver {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
    written: Arc<Mutex<usize>>,
}

impl Receiver {
    async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            port: listener.local_addr().unwrap().port(),
            requests: Arc::default(),
            connections: Arc::default(),
            written: Arc::default(),
        };
        let requests = Arc::clone(&receiver.requests);
        let connections = Arc::clone(&receiver.connections);
        let written = Arc::clone(&receiver.written);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                *connections.lock().unwrap() += 1;
                let serving = serve(stream, behaviour.clone(), Arc::clone(&requests), Arc::clone(&written));
                tokio::spawn(serving);
            }
        });
        receiver
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?x=1", self.port)
    }
}

async fn serve(
    mut stream: TcpStream,
    behaviour: Behaviour,
    requests: Arc<Mutex<Vec<String>>>,
    written: Arc<Mutex<usize>>,
) {
    while let Some(request) = read_request(&mut stream).await {
        requests.lock().unwrap().push(request);
        match &behaviour {
            Behaviour::Answer(answer) => stream.write_all(answer.as_bytes()).await.unwrap(),
            Behaviour::Drip => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n").await.unwrap();
                while stream.write_all(b".").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Behaviour::Flood => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n").await.unwrap();
                let chunk = vec![b'x'; 16 * 1024];
                while stream.write_all(&chunk).await.is_ok() {
                    *written.lock().unwrap() += chunk.len();
                }
            }
            Behaviour::BreakOff => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await.unwrap();
                return;
            }
            Behaviour::Close => return,
        }
    }
}

/// Reads a request with a body of a told length; `None` at the end of the connection.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse::<usize>().unwrap() {
                return Some(text);
            }
        }
    }
}

fn answer(status: &str, headers: &str, body: &str) -> Behaviour {
    let length = body.len();
    Behaviour::Answer(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}"))
}

fn request(url: &str) -> WebhookRequest {
    WebhookRequest {
        url: url.to_owned(),
        id: "evt_1".into(),
        timestamp_s: 1_614_265_330,
        signature: "v1,c2lnbmF0dXJl".into(),
        body: r#"{"status":"paid"}"#.into(),
    }
}

fn factory(policy: AddressPolicy, time_out_ms: u64) -> WebhookHttpFactory {
    WebhookHttpFactory::new(policy, Arc::new(SystemClock)).unwrap().with_time_out_ms(time_out_ms)
}

async fn send(url: &str, policy: AddressPolicy, time_out_ms: u64) -> DeliveryAttempt {
    sent(url, policy, time_out_ms).await.attempt
}

async fn sent(url: &str, policy: AddressPolicy, time_out_ms: u64) -> SentWebhook {
    factory(policy, time_out_ms).build().send(request(url)).await
}

/// Runs on one thread, as a worker does.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(tokio::task::LocalSet::new().run_until(test));
}

async fn send_to(behaviour: Behaviour, time_out_ms: u64) -> (Receiver, DeliveryAttempt) {
    let receiver = Receiver::start(behaviour).await;
    let attempt = send(&receiver.url(), AddressPolicy::Any, time_out_ms).await;
    (receiver, attempt)
}

#[test]
fn a_receiver_gets_a_signed_post_and_confirms() {
    run(async {
        let (receiver, attempt) = send_to(answer("200 OK", "", "thanks"), PATIENCE_MS).await;
        assert!(attempt.is_confirmed(), "{attempt:?}");
        assert_eq!((attempt.error, attempt.answer.as_deref()), (None, Some("thanks")));
        let requests = receiver.requests.lock().unwrap();
        let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
        assert_eq!((requests.len(), body), (1, r#"{"status":"paid"}"#));
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with("post /hook?x=1 http/1.1\r\n"), "{head}");
        for header in [
            format!("host: 127.0.0.1:{}", receiver.port),
            "content-type: application/json".into(),
            format!("user-agent: quita/{}", env!("CARGO_PKG_VERSION")),
            "webhook-id: evt_1".into(),
            "webhook-timestamp: 1614265330".into(),
            "webhook-signature: v1,c2lnbmf0dxjl".into(),
        ] {
            assert_eq!(head.lines().filter(|line| *line == header).count(), 1, "{header} in {head}");
        }
    });
}

#[test]
fn what_a_receiver_refuses_is_recorded_as_it_answered() {
    run(async {
        for (status, code) in [("500 Oops", 500), ("410 Gone", 410), ("404 Not Found", 404)] {
            let (_, attempt) = send_to(answer(status, "", ""), PATIENCE_MS).await;
            assert_eq!((attempt.status, attempt.error, attempt.answer), (Some(code), None, None));
        }
        let behaviour = answer("503 Busy", "Retry-After: 120\r\n", "later");
        let (_, attempt) = send_to(behaviour, PATIENCE_MS).await;
        assert_eq!((attempt.status, attempt.retry_after_ms), (Some(503), Some(120_000)));
        let (_, attempt) = send_to(answer("429 Busy", "Retry-After: inf\r\n", ""), PATIENCE_MS).await;
        assert_eq!((attempt.status, attempt.retry_after_ms), (Some(429), None));
    });
}

#[test]
fn a_redirect_is_not_followed() {
    run(async {
        let target = Receiver::start(answer("200 OK", "", "")).await;
        for status in ["301 Moved", "302 Found", "307 Moved", "308 Moved"] {
            let location = format!("Location: {}\r\n", target.url());
            let (_, attempt) = send_to(answer(status, &location, ""), PATIENCE_MS).await;
            assert!(attempt.status.is_some_and(|code| (300..400).contains(&code)), "{attempt:?}");
            assert!(!attempt.is_confirmed());
        }
        assert_eq!(*target.connections.lock().unwrap(), 0);
    });
}

#[test]
fn a_receiver_that_drips_is_cut_at_the_time_out() {
    run(async {
        let (_, attempt) = send_to(Behaviour::Drip, IMPATIENCE_MS).await;
        assert_eq!((attempt.status, attempt.error.as_deref()), (None, Some("timeout")));
        assert!((IMPATIENCE_MS..5_000).contains(&attempt.duration_ms), "{attempt:?}");
    });
}

#[test]
fn a_receiver_that_never_answers_is_cut_at_the_time_out() {
    run(async {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = silent.local_addr().unwrap().port();
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://127.0.0.1:{port}/");
            let attempt = send(&url, AddressPolicy::Any, IMPATIENCE_MS).await;
            assert_eq!((attempt.status, attempt.error.as_deref()), (None, Some("timeout")), "{scheme}");
        }
    });
}

#[test]
fn a_huge_answer_is_not_read_whole() {
    run(async {
        let (receiver, attempt) = send_to(Behaviour::Flood, PATIENCE_MS).await;
        assert_eq!((attempt.status, attempt.error.as_deref()), (Some(200), None));
        assert_eq!(attempt.answer, Some("x".repeat(256)));
        // What the sockets buffered is written too; the receiver meant to write a gigabyte.
        assert!(*receiver.written.lock().unwrap() < 50_000_000);
    });
}

#[test]
fn the_beginning_of_an_answer_ends_between_characters() {
    run(async {
        let (_, attempt) = send_to(answer("200 OK", "", &"é".repeat(1000)), PATIENCE_MS).await;
        assert_eq!(attempt.answer, Some("é".repeat(256)));
    });
}

#[test]
fn a_status_stands_although_the_body_is_broken() {
    run(async {
        let (_, attempt) = send_to(Behaviour::BreakOff, PATIENCE_MS).await;
        assert_eq!((attempt.status, attempt.answer.as_deref()), (Some(200), Some("half")));
        let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno number\r\n";
        let (_, attempt) = send_to(Behaviour::Answer(chunks.into()), PATIENCE_MS).await;
        assert_eq!((attempt.status, attempt.error.as_deref()), (Some(200), Some("protocol")));
    });
}

#[test]
fn every_other_failure_has_its_name() {
    run(async {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let plain = Receiver::start(answer("200 OK", "", "")).await;
        let nonsense = Receiver::start(Behaviour::Answer("what do you want?\r\n\r\n".into())).await;
        let closing = Receiver::start(Behaviour::Close).await;
        for (url, error) in [
            (format!("http://127.0.0.1:{free}/"), "connect"),
            (format!("http://[::1]:{free}/"), "connect"),
            // No label is that long, so no server is asked for it.
            (format!("http://{}.example/", "a".repeat(64)), "dns"),
            (nonsense.url(), "protocol"),
            (closing.url(), "protocol"),
            ("no url".into(), "invalid_url"),
            ("ftp://127.0.0.1/".into(), "invalid_url"),
            ("http://user:secret@127.0.0.1/".into(), "invalid_url"),
        ] {
            let attempt = send(&url, AddressPolicy::Any, PATIENCE_MS).await;
            assert_eq!((attempt.status, attempt.error.as_deref()), (None, Some(error)), "{url}");
        }
        // A receiver that speaks no TLS: it hears nothing that it could answer.
        let url = format!("https://localhost:{}/", tls_refuser().await);
        let attempt = send(&url, AddressPolicy::Any, PATIENCE_MS).await;
        assert_eq!(attempt.error.as_deref(), Some("tls"));
        assert!(plain.requests.lock().unwrap().is_empty());
    });
}

/// Sends to this address, and gives the `error` of the record, the kind of the detail, and its text.
async fn told(url: &str) -> (String, Option<DetailKind>, String) {
    let SentWebhook { attempt, detail } = sent(url, AddressPolicy::Any, PATIENCE_MS).await;
    let detail = detail.unwrap_or_else(|| panic!("no detail: {attempt:?}"));
    (attempt.error.unwrap(), detail.kind, detail.text)
}

#[test]
fn failures_that_share_an_error_are_told_apart_by_their_detail() {
    run(async {
        let nonsense = Receiver::start(Behaviour::Answer("what do you want?\r\n\r\n".into())).await;
        let closing = Receiver::start(Behaviour::Close).await;
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let plain = format!("https://localhost:{}/", tls_refuser().await);
        let secured = tls_receiver(Certificate::SelfSigned).await;
        for (url, error, kind) in [
            (nonsense.url(), "protocol", Some(DetailKind::NoHttp)),
            (closing.url(), "protocol", Some(DetailKind::ClosedUnanswered)),
            (format!("http://localhost:{secured}/"), "protocol", Some(DetailKind::NoHttp)),
            (plain, "tls", Some(DetailKind::NoTls)),
            (format!("http://127.0.0.1:{free}/"), "connect", None),
        ] {
            let (told_error, told_kind, text) = told(&url).await;
            assert_eq!((told_error.as_str(), told_kind), (error, kind), "{url}: {text}");
        }
    });
}

#[test]
fn a_certificate_that_is_not_good_is_told_with_its_fault() {
    run(async {
        for (certificate, kind, part) in [
            (Certificate::SelfSigned, DetailKind::UnknownIssuer, "UnknownIssuer"),
            (Certificate::SelfSignedAuthority, DetailKind::UnknownIssuer, "CaUsedAsEndEntity"),
        ] {
            let port = tls_receiver(certificate).await;
            let (error, told_kind, text) = told(&format!("https://localhost:{port}/hook?token=x")).await;
            assert_eq!((error.as_str(), told_kind), ("tls", Some(kind)), "{text}");
            assert!(text.starts_with("the handshake failed: ") && text.contains(part), "{text}");
            assert!(!text.contains("token"), "{text}");
        }
    });
}

#[test]
fn an_answer_needs_no_detail() {
    run(async {
        let receiver = Receiver::start(answer("301 Moved", "Location: /there\r\n", "")).await;
        let sent = sent(&receiver.url(), AddressPolicy::Any, PATIENCE_MS).await;
        assert_eq!((sent.attempt.status, sent.detail), (Some(301), None));
    });
}

/// Certificates that nobody believes.
enum Certificate {
    SelfSigned,
    /// As `openssl req -x509` makes it.
    SelfSignedAuthority,
}

/// The port of a receiver that speaks TLS.
async fn tls_receiver(certificate: Certificate) -> u16 {
    let mut params = CertificateParams::new(vec!["localhost".into()]).unwrap();
    params.not_after = date_time_ymd(4000, 1, 1);
    if matches!(certificate, Certificate::SelfSignedAuthority) {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(acceptor.accept(stream).await);
        }
    });
    port
}

/// The port of something that answers a handshake with HTTP.
async fn tls_refuser() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 1024];
            if stream.read(&mut buffer).await.is_ok() {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.ok();
            }
        }
    });
    port
}

#[test]
fn no_address_of_the_inside_is_dialled_when_only_public_ones_are_allowed() {
    run(async {
        let receiver = Receiver::start(answer("200 OK", "", "")).await;
        let port = receiver.port;
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0.0.0.0",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "10.0.0.1",
            "169.254.169.254",
            "localhost",
            "LOCALHOST",
            "①②⑦.0.0.1",
        ] {
            let url = format!("http://{host}:{port}/");
            let attempt = send(&url, AddressPolicy::PublicOnly, PATIENCE_MS).await;
            assert_eq!(
                (attempt.status, attempt.error.as_deref()),
                (None, Some("address_not_allowed")),
                "{url}"
            );
        }
        assert_eq!(*receiver.connections.lock().unwrap(), 0);
        // The same name is dialled where everything is allowed.
        let url = format!("http://localhost:{port}/");
        assert!(send(&url, AddressPolicy::Any, PATIENCE_MS).await.is_confirmed());
    });
}

#[test]
fn a_connection_is_used_again() {
    run(async {
        let receiver = Receiver::start(answer("200 OK", "", "ok")).await;
        let sender = factory(AddressPolicy::Any, PATIENCE_MS).build();
        for _ in 0..5 {
            assert!(sender.send(request(&receiver.url())).await.attempt.is_confirmed());
        }
        assert_eq!(receiver.requests.lock().unwrap().len(), 5);
        assert_eq!(*receiver.connections.lock().unwrap(), 1);
    });
}
