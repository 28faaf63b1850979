//! Exchanges over the network, against a server with TLS that wants to know who calls.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests: what must not happen fails the test"
)]

mod authority;
mod bank;

use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::exchange::http_client::{HttpClientFactory, HttpClientSettings};
use quita_acquirers::exchange::{ExchangeFactory, Failure, Request, Response, Verb};
use tokio::task::LocalSet;

use authority::{Authority, Validity};
use bank::{Bank, Behaviour, Versions};

const TIME_OUT: Duration = Duration::from_secs(5);

/// A client of banks that this authority vouches for.
fn settings(authority: &Authority) -> HttpClientSettings {
    HttpClientSettings {
        time_out: TIME_OUT,
        connections: 8,
        identity: Some(authority.client("quita")),
        authorities: Some(authority.trusted()),
    }
}

fn get(bank: &Bank) -> Request {
    Request {
        verb: Verb::Get,
        url: bank.url("/cob/1?key=hunter2"),
        headers: Vec::new(),
        body: Vec::new().into(),
        is_repeatable: true,
    }
}

fn put(bank: &Bank) -> Request {
    let headers = vec![("authorization".to_owned(), "Bearer hunter2".to_owned())];
    Request {
        verb: Verb::Put,
        url: bank.url("/cob/1?key=hunter2"),
        headers,
        body: b"{}".to_vec().into(),
        is_repeatable: true,
    }
}

async fn send(settings: HttpClientSettings, request: Request) -> Result<Response, Failure> {
    let factory = HttpClientFactory::new(settings).unwrap();
    LocalSet::new().run_until(async move { factory.open().send(request).await }).await
}

/// Checks that nothing was sent, and returns why. The reason tells nothing of the request.
fn not_sent(outcome: Result<Response, Failure>) -> String {
    let Err(Failure::NotSent(why)) = outcome else { panic!("{outcome:?}") };
    assert!(!why.contains("hunter2") && !why.contains("/cob"), "{why}");
    why
}

fn unknown(outcome: Result<Response, Failure>) -> String {
    let Err(Failure::Unknown(why)) = outcome else { panic!("{outcome:?}") };
    assert!(!why.contains("hunter2") && !why.contains("/cob"), "{why}");
    why
}

#[tokio::test]
async fn a_bank_that_knows_our_certificate_gets_the_request_and_is_heard() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let authority = Authority::named("bank");
        let answer = "HTTP/1.1 201 Created\r\nX-One: 1\r\nContent-Length: 2\r\n\r\n{}";
        let bank = Bank::start(&authority, versions, Behaviour::Answers(answer.into())).await;
        let answer = send(settings(&authority), put(&bank)).await.unwrap();
        assert_eq!((answer.status, answer.header("x-one"), &*answer.body), (201, Some("1"), &b"{}"[..]));
        let [request] = &bank.requests()[..] else { panic!("one request") };
        assert!(request.starts_with("PUT /cob/1?key=hunter2 HTTP/1.1\r\n"), "{request}");
        let request = request.to_ascii_lowercase();
        for header in
            ["\r\nauthorization: bearer hunter2\r\n", "\r\ncontent-length: 2\r\n", "\r\nuser-agent: quita/"]
        {
            assert!(request.contains(header), "{request}");
        }
        assert!(request.ends_with("\r\n\r\n{}"), "{request}");
    }
}

#[tokio::test]
async fn a_client_without_a_certificate_or_with_a_foreign_one_sent_nothing() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let authority = Authority::named("bank");
        let foreign = Authority::named("foreign");
        let bank = Bank::start(&authority, versions, Behaviour::answers(b"{}")).await;
        for identity in [None, Some(foreign.client("quita"))] {
            let settings = HttpClientSettings { identity, ..settings(&authority) };
            let why = not_sent(send(settings, put(&bank)).await);
            assert!(why.contains("certificate was refused") || why.contains("handshake failed"), "{why}");
        }
        assert_eq!(bank.requests(), [""; 0], "the bank read none");
    }
}

#[tokio::test]
async fn a_bank_that_hangs_up_on_our_certificate_without_a_word_may_have_read_the_request() {
    let authority = Authority::named("bank");
    let foreign = Authority::named("foreign");
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::RefusesWithoutAWord).await;
    let settings = HttpClientSettings { identity: Some(foreign.client("quita")), ..settings(&authority) };
    unknown(send(settings, put(&bank)).await);
}

#[tokio::test]
async fn a_bank_whose_certificate_is_over_or_of_a_stranger_is_sent_nothing() {
    let authority = Authority::named("bank");
    let stranger = Authority::named("stranger");
    for (bank_of, validity, expected) in
        [(&authority, Validity::Over, "xpired"), (&stranger, Validity::Now, "UnknownIssuer")]
    {
        let identity = bank_of.server(validity);
        let bank = Bank::start_as(identity, &authority, Versions::Tls13, Behaviour::answers(b"{}")).await;
        let why = not_sent(send(settings(&authority), put(&bank)).await);
        assert!(why.starts_with("the handshake failed: ") && why.contains(expected), "{why}");
        assert_eq!(bank.requests(), [""; 0]);
    }
}

#[tokio::test]
async fn an_own_authority_stands_in_place_of_the_built_in_ones() {
    let authority = Authority::named("bank");
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::answers(b"{}")).await;
    let settings = HttpClientSettings { authorities: None, ..settings(&authority) };
    assert!(not_sent(send(settings, get(&bank)).await).contains("UnknownIssuer"));
}

#[tokio::test]
async fn nobody_at_the_address_is_known_at_once() {
    let authority = Authority::named("bank");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for url in [format!("https://localhost:{}/", address.port()), format!("http://{address}/")] {
        let request = Request {
            verb: Verb::Get,
            url,
            headers: Vec::new(),
            body: Vec::new().into(),
            is_repeatable: true,
        };
        let why = not_sent(send(settings(&authority), request).await);
        assert_eq!(why, "no connection: connection refused");
    }
    let request = Request {
        verb: Verb::Get,
        url: "https://bank.invalid/".into(),
        headers: Vec::new(),
        body: Vec::new().into(),
        is_repeatable: true,
    };
    not_sent(send(settings(&authority), request).await);
}

#[tokio::test]
async fn what_can_not_be_written_is_not_sent() {
    let authority = Authority::named("bank");
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::answers(b"{}")).await;
    for (name, value) in [("a b", "c"), ("a", "c\r\nx: hunter2")] {
        let request = Request { headers: vec![(name.into(), value.into())], ..get(&bank) };
        not_sent(send(settings(&authority), request).await);
    }
    let request = Request { url: "bank.example/cob".into(), ..get(&bank) };
    not_sent(send(settings(&authority), request).await);
    assert_eq!(bank.requests(), [""; 0]);
}

#[tokio::test]
async fn an_answer_is_bounded_in_size() {
    let authority = Authority::named("bank");
    let limit = 1024 * 1024;
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::answers(&vec![b'x'; limit])).await;
    assert_eq!(send(settings(&authority), get(&bank)).await.unwrap().body.len(), limit);
    for behaviour in
        [Behaviour::answers(&vec![b'x'; limit + 1]), Behaviour::chunks(&[b'x'; 1024], limit / 1024 + 1)]
    {
        let bank = Bank::start(&authority, Versions::Tls13, behaviour).await;
        assert_eq!(unknown(send(settings(&authority), get(&bank)).await), "the answer is larger than 1 MiB");
    }
}

#[tokio::test]
async fn a_file_may_be_larger() {
    let authority = Authority::named("bank");
    let size = 3 * 1024 * 1024;
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::answers(&vec![b'x'; size])).await;
    let factory = HttpClientFactory::new(settings(&authority)).unwrap();
    let read = async { factory.open_for_files().send(get(&bank)).await };
    assert_eq!(LocalSet::new().run_until(read).await.unwrap().body.len(), size);
}

#[tokio::test]
async fn an_answer_that_is_cut_short_is_none() {
    let authority = Authority::named("bank");
    for beginning in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{\"\r\n",
        "220 mail.bank.example ESMTP\r\n\r\n",
    ] {
        let bank = Bank::start(&authority, Versions::Tls13, Behaviour::Answers(beginning.into())).await;
        unknown(send(settings(&authority), get(&bank)).await);
        assert_eq!(bank.requests().len(), 1, "{beginning:?}");
    }
}

#[tokio::test]
async fn an_answer_without_a_length_ends_with_its_connection_also_without_the_goodbye_of_tls() {
    let authority = Authority::named("bank");
    let answer = Behaviour::Answers("HTTP/1.1 200 OK\r\n\r\n{\"a\":1}".into());
    for behaviour in [answer.clone(), Behaviour::HangsUpAfter(Box::new(answer))] {
        let bank = Bank::start(&authority, Versions::Tls13, behaviour).await;
        assert_eq!(send(settings(&authority), get(&bank)).await.unwrap().body, b"{\"a\":1}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer() {
    let authority = Authority::named("bank");
    let elsewhere = "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n";
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::Answers(elsewhere.into())).await;
    assert_eq!(send(settings(&authority), get(&bank)).await.unwrap().status, 302);
    assert_eq!(bank.requests().len(), 1);
}

#[tokio::test]
async fn a_silent_bank_is_waited_for_as_long_as_is_allowed() {
    let authority = Authority::named("bank");
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::Silent).await;
    let settings = HttpClientSettings { time_out: Duration::from_millis(600), ..settings(&authority) };
    assert_eq!(unknown(send(settings, get(&bank)).await), "no answer within 600ms");
    assert_eq!(bank.requests().len(), 1);
}

#[tokio::test]
async fn a_handshake_that_never_ends_sent_nothing() {
    let authority = Authority::named("bank");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let settings = HttpClientSettings { time_out: Duration::from_millis(600), ..settings(&authority) };
    let request =
        Request { verb: Verb::Get, url, headers: Vec::new(), body: Vec::new().into(), is_repeatable: true };
    assert_eq!(not_sent(send(settings, request).await), "could not connect in time");
}

#[tokio::test]
async fn connections_are_kept_and_bounded_in_number() {
    let authority = Authority::named("bank");
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::answers(b"{}")).await;
    let settings = HttpClientSettings { connections: 2, ..settings(&authority) };
    let factory = HttpClientFactory::new(settings).unwrap();
    let all = async {
        let exchange = factory.open();
        for _ in 0..3 {
            assert_eq!(exchange.send(get(&bank)).await.unwrap().status, 200);
        }
        assert_eq!(bank.connections(), 1, "one after the other");
        let many = (0..20).map(|_| exchange.send(get(&bank)));
        for answer in futures_util::future::join_all(many).await {
            assert_eq!(answer.unwrap().status, 200);
        }
    };
    LocalSet::new().run_until(all).await;
    assert_eq!((bank.requests().len(), bank.connections()), (23, 2));
}

#[tokio::test]
async fn who_finds_no_free_connection_in_time_sent_nothing() {
    let authority = Authority::named("bank");
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::Silent).await;
    let settings =
        HttpClientSettings { connections: 1, time_out: Duration::from_millis(600), ..settings(&authority) };
    let factory = HttpClientFactory::new(settings).unwrap();
    let both = async {
        let exchange = factory.open();
        tokio::join!(exchange.send(get(&bank)), exchange.send(get(&bank)))
    };
    let (first, second) = LocalSet::new().run_until(both).await;
    unknown(first);
    assert_eq!(not_sent(second), "no connection was free within 300ms");
    assert_eq!(bank.requests().len(), 1);
}

#[tokio::test]
async fn a_bank_may_close_after_each_answer() {
    let authority = Authority::named("bank");
    let closing = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    let bank = Bank::start(&authority, Versions::Tls13, Behaviour::Answers(closing.into())).await;
    let factory = HttpClientFactory::new(settings(&authority)).unwrap();
    let three = async {
        let exchange = factory.open();
        for _ in 0..3 {
            assert_eq!(exchange.send(get(&bank)).await.unwrap().status, 200);
        }
    };
    LocalSet::new().run_until(three).await;
    assert_eq!((bank.requests().len(), bank.connections()), (3, 3));
}

/// Factories are shared by threads; what they open is not.
#[test]
fn a_factory_may_be_shared() {
    fn shared<T: Send + Sync + 'static>(_: &Arc<T>) {}
    let authority = Authority::named("bank");
    shared(&Arc::new(HttpClientFactory::new(settings(&authority)).unwrap()));
}
