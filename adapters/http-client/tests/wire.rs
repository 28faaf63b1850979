//! Answers as servers send them, and the request that each of them is the answer to.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests: what must not happen fails the test"
)]

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use quita_http_client::{
    Answer, Client, ClientSettings, End, Failure, HeaderMap, Method, Request, Why, public_roots, tls,
};
use quita_wire::{Asked, Expected, Server, Step, cases, frame};
use tokio::time::{Instant, sleep};

const TIME_OUT: Duration = Duration::from_secs(20);
const MOST: usize = 1024 * 1024;

fn client_that(may_dial: impl Fn(IpAddr) -> bool + 'static) -> Client {
    Client::new(ClientSettings {
        tls: Arc::new(tls(public_roots(), None).unwrap()),
        may_dial: Box::new(may_dial),
        at_once: 4,
        kept: 4,
        step: Duration::from_secs(2),
    })
}

fn client() -> Client {
    client_that(|_| true)
}

fn request(method: Method, url: &str, is_repeatable: bool) -> Request {
    let body = if method == Method::GET { "" } else { "{}" };
    Request { method, uri: url.parse().unwrap(), headers: HeaderMap::new(), body: body.into(), is_repeatable }
}

fn post(server: &Server) -> Request {
    request(Method::POST, &server.url("/x"), false)
}

async fn send(client: &Client, request: &Request) -> Result<Answer, Failure> {
    client.send(request, Instant::now() + TIME_OUT, MOST).await
}

#[tokio::test]
async fn every_request_gets_its_own_answer_however_it_is_put_into_bytes() {
    for case in cases() {
        let steps = case.steps;
        let server = Server::start(move |asked: &Asked| match asked.number {
            1 => steps(500, "first answer"),
            _ => frame(200, "second answer"),
        })
        .await;
        let client = client();
        let first = send(&client, &post(&server)).await;
        match (case.expected, &first) {
            (Expected::Whole, Ok(answer)) => {
                assert_eq!((answer.status, &*answer.body), (500, &b"first answer"[..]), "{}", case.name);
                assert_eq!(answer.end, End::Whole, "{}", case.name);
            }
            (Expected::Broken, Ok(answer)) => {
                assert!(matches!(answer.end, End::Broken(_)), "{}: {first:?}", case.name);
                assert_eq!(answer.status, 500, "{}", case.name);
            }
            (Expected::None, Err(failure)) => assert!(failure.may_have_left, "{}: {failure:?}", case.name),
            _ => panic!("{}: {first:?}", case.name),
        }
        server.at_rest().await;
        let second = send(&client, &post(&server)).await.unwrap();
        assert_eq!((second.status, &*second.body), (200, &b"second answer"[..]), "{}", case.name);
        let expected = if case.is_kept { [1, 1] } else { [1, 2] };
        assert_eq!(server.connections(), expected, "{}", case.name);
    }
}

#[tokio::test]
async fn what_has_no_body_ends_with_its_head_whatever_the_head_says() {
    for status in [204, 304] {
        for (headers, is_kept) in [
            ("", true),
            ("Content-Length: 0\r\n", true),
            ("Content-Length: 5\r\n", false),
            ("Transfer-Encoding: chunked\r\n", false),
            ("Transfer-Encoding: gzip\r\n", false),
        ] {
            let server = Server::start(move |asked: &Asked| match asked.number {
                1 => vec![Step::send(format!("HTTP/1.1 {status} Nothing\r\n{headers}\r\n"))],
                _ => frame(200, "second answer"),
            })
            .await;
            let client = client();
            let begun = Instant::now();
            let first = send(&client, &post(&server)).await.unwrap();
            assert_eq!((first.status, first.body.len(), first.end), (status, 0, End::Whole), "{headers}");
            assert!(begun.elapsed() < TIME_OUT / 2, "{status} {headers}");
            let second = send(&client, &post(&server)).await.unwrap();
            assert_eq!(second.body, b"second answer");
            let expected = if is_kept { [1, 1] } else { [1, 2] };
            assert_eq!(server.connections(), expected, "{status} {headers}");
        }
    }
}

#[tokio::test]
async fn wherever_the_bytes_of_an_answer_are_split_it_is_the_same() {
    let answers = [
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 422 No\r\nContent-Length: 4, 4\r\n\r\nbody",
        "HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nbo\r\n2\r\ndy\r\n0\r\nTrailer: x\r\n\r\n",
        "HTTP/1.1 422 No\r\nX: y\r\ncontent-length:4\r\n\r\nbody",
    ];
    let server = Server::start(move |asked: &Asked| {
        let mut dice = fastrand::Rng::with_seed(u64::try_from(asked.number).unwrap());
        let bytes = answers[asked.number % answers.len()].as_bytes();
        let mut steps = Vec::new();
        let mut from = 0;
        while from < bytes.len() {
            let to = (from + dice.usize(1..=24)).min(bytes.len());
            steps.push(Step::Send(bytes[from..to].to_vec()));
            if dice.bool() {
                steps.push(Step::Pause(Duration::from_millis(1)));
            }
            from = to;
        }
        steps
    })
    .await;
    let client = client();
    for number in 0..300 {
        let answer = send(&client, &post(&server)).await.unwrap();
        assert_eq!((answer.status, &*answer.body, answer.end), (422, &b"body"[..], End::Whole), "{number}");
    }
    assert!(server.connections().iter().all(|connection| *connection == 1), "all were whole");
}

/// A server that answers once on each connection, and whose first connection ends in this way when it is used again.
async fn server_that_forgets(ending: &'static [Step]) -> Server {
    Server::start(move |asked: &Asked| match (asked.connection, asked.number) {
        (1, 1) => frame(200, "ok"),
        (1, _) => ending.to_vec(),
        _ => frame(201, "again"),
    })
    .await
}

#[tokio::test]
async fn a_kept_connection_that_ends_without_a_byte_costs_a_repeatable_request_nothing() {
    for method in [Method::GET, Method::PUT, Method::POST] {
        let server = server_that_forgets(&[Step::Close]).await;
        let client = client();
        let request = request(method.clone(), &server.url("/x"), true);
        assert_eq!(send(&client, &request).await.unwrap().status, 200);
        assert_eq!(send(&client, &request).await.unwrap().status, 201, "{method}");
        assert_eq!(server.connections(), [1, 1, 2]);
    }
}

#[tokio::test]
async fn what_may_not_be_repeated_is_unknown_after_a_kept_connection_ended() {
    let server = server_that_forgets(&[Step::Close]).await;
    let client = client();
    send(&client, &post(&server)).await.unwrap();
    let failure = send(&client, &post(&server)).await.unwrap_err();
    assert!(failure.may_have_left, "{failure:?}");
    assert_eq!(server.asked().len(), 2, "it was not sent again");
}

#[tokio::test]
async fn a_byte_of_an_answer_forbids_to_send_again() {
    let server = Server::start(|asked: &Asked| match asked.number {
        1 => frame(200, "ok"),
        _ => vec![Step::send("H"), Step::Pause(Duration::from_millis(30)), Step::Close],
    })
    .await;
    let client = client();
    let request = request(Method::GET, &server.url("/x"), true);
    send(&client, &request).await.unwrap();
    let failure = send(&client, &request).await.unwrap_err();
    assert_eq!((failure.why, failure.may_have_left), (Why::CutShort, true));
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_request_is_sent_again_once_and_never_after_a_fresh_connection() {
    let server = Server::start(|asked: &Asked| match asked.number {
        1 => frame(200, "ok"),
        _ => vec![Step::Close],
    })
    .await;
    let client = client();
    let request = request(Method::GET, &server.url("/x"), true);
    send(&client, &request).await.unwrap();
    let failure = send(&client, &request).await.unwrap_err();
    assert_eq!((failure.why, failure.may_have_left), (Why::Closed, true));
    assert_eq!(server.connections(), [1, 1, 2]);
    send(&client, &request).await.unwrap_err();
    assert_eq!(server.connections(), [1, 1, 2, 3]);
}

#[tokio::test]
async fn a_connection_that_was_closed_before_is_seen_and_nothing_is_risked_on_it() {
    let server = Server::start(|asked: &Asked| {
        let mut steps = frame(200, "ok");
        if asked.connection == 1 {
            steps.extend([Step::Pause(Duration::from_millis(20)), Step::Close]);
        }
        steps
    })
    .await;
    let client = client();
    send(&client, &post(&server)).await.unwrap();
    server.at_rest().await;
    // It may not be repeated, and need not be: nothing was written to the connection that had been closed.
    send(&client, &post(&server)).await.unwrap();
    assert_eq!(server.connections(), [1, 2]);
}

#[tokio::test]
async fn what_an_earlier_connection_took_is_unknown_even_if_the_next_one_can_not_be_made() {
    let allowed = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let server = server_that_forgets(&[Step::Close]).await;
    let asked = Arc::clone(&allowed);
    let client = client_that(move |_| asked.swap(false, std::sync::atomic::Ordering::SeqCst));
    let request = request(Method::GET, &server.url("/x"), true);
    send(&client, &request).await.unwrap();
    let failure = send(&client, &request).await.unwrap_err();
    assert_eq!((failure.why, failure.may_have_left), (Why::NotAllowed, true));
}

#[tokio::test]
async fn an_address_is_judged_when_it_is_dialled_and_each_time() {
    let server =
        Server::start(|_: &Asked| vec![Step::send("HTTP/1.1 204 No\r\nConnection: close\r\n\r\n")]).await;
    let calls = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let client = client_that(move |address| {
        assert!(address.is_loopback());
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2
    });
    send(&client, &post(&server)).await.unwrap();
    send(&client, &post(&server)).await.unwrap();
    let failure = send(&client, &post(&server)).await.unwrap_err();
    assert_eq!((failure.why, failure.may_have_left), (Why::NotAllowed, false));
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_deadline_tells_whether_anything_had_left() {
    let server = Server::start(|_: &Asked| vec![Step::Pause(Duration::from_secs(60))]).await;
    let client = client();
    let soon = || Instant::now() + Duration::from_millis(200);
    let failure = client.send(&post(&server), soon(), MOST).await.unwrap_err();
    assert_eq!((failure.why, failure.may_have_left), (Why::TimeOut, true));
    let busy: Vec<_> = (0..4).map(|_| post(&server)).collect();
    let waiting = async {
        tokio::join!(
            client.send(&busy[0], soon(), MOST),
            client.send(&busy[1], soon(), MOST),
            client.send(&busy[2], soon(), MOST),
            client.send(&busy[3], soon(), MOST),
            client.send(&busy[0], Instant::now() + Duration::from_millis(50), MOST),
        )
        .4
    };
    let failure = waiting.await.unwrap_err();
    assert_eq!((failure.why, failure.may_have_left), (Why::TimeOut, false), "it had no place");
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_its_connection_not_used_again() {
    let server = Server::start(|_: &Asked| frame(200, &"x".repeat(1_000))).await;
    let client = client();
    for (limit, read, end) in [(1_000, 1_000, End::Whole), (999, 999, End::TooLong)] {
        let answer = client.send(&post(&server), Instant::now() + TIME_OUT, limit).await.unwrap();
        assert_eq!((answer.body.len(), answer.end), (read, end));
    }
    send(&client, &post(&server)).await.unwrap();
    assert_eq!(server.connections(), [1, 1, 2]);
}

#[tokio::test]
async fn idle_connections_are_bounded_in_number() {
    let client = client();
    let mut servers = Vec::new();
    for _ in 0..6 {
        servers.push(Server::start(|_: &Asked| frame(200, "ok")).await);
    }
    for server in servers.iter().chain(&servers) {
        send(&client, &post(server)).await.unwrap();
    }
    // Four are kept: each time round, the one that is wanted next was closed.
    assert!(servers.iter().all(|server| server.connections() == [1, 2]));
}

#[tokio::test]
async fn an_answer_before_the_whole_request_is_read_is_the_answer() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut some = [0; 1024];
        stream.read_exact(&mut some).await.unwrap();
        stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno").await.unwrap();
        // The rest is never read.
        sleep(Duration::from_secs(60)).await;
    });
    let mut large = request(Method::POST, &format!("http://127.0.0.1:{port}/"), false);
    large.body = vec![b'x'; 16 * 1024 * 1024].into();
    let answer = send(&client(), &large).await.unwrap();
    assert_eq!((answer.status, &*answer.body), (413, &b"no"[..]));
}
