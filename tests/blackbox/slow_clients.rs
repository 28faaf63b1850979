//! Clients that hold connections and send or take nothing: they keep nobody else waiting.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use crate::support::{TestApp, block_on, exchange, pix};

/// As many open files as a shell allows that was told nothing.
const OPEN_FILES: u32 = 1_024;
/// Longest time until somebody is answered who has nothing to do with those that hold connections.
const SOON: Duration = Duration::from_secs(5);

const FIRST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const SECOND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// A form of which one byte came, from a browser that was shown one.
const BEGUN: &str = "POST /console/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\
                     Cookie: quita_console_visit=a; quita_operator_visit=a\r\n\
                     Content-Type: application/x-www-form-urlencoded\r\n\r\na";

fn begun_of_operator() -> String {
    BEGUN.replace("/console/sign-in", "/sign-in")
}

/// Tries to open so many connections from an address, and says the same on each. They are closed when they are dropped.
fn hold(from: Ipv4Addr, to: &str, count: usize, said: &str) -> Vec<TcpStream> {
    let to: SocketAddr = to.parse().unwrap();
    let mut held = Vec::new();
    for _ in 0..count {
        // One that is refused may be gone before it is connected.
        let Ok(mut stream) = block_on(connect(from, to)) else { continue };
        stream.set_nonblocking(false).unwrap();
        drop(stream.write_all(said.as_bytes()));
        held.push(stream);
    }
    held
}

async fn connect(from: Ipv4Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    socket.connect(to).await?.into_std()
}

#[test]
fn connections_held_from_two_addresses_keep_health_and_api_from_nobody_else() {
    let app = TestApp::builder().open_files(OPEN_FILES).start();
    let ops = app.ops_url().trim_start_matches("http://").to_owned();
    let mut held = Vec::new();
    for from in [FIRST, SECOND] {
        held.extend(hold(from, app.address(), 350, BEGUN));
        held.extend(hold(from, &ops, 200, &begun_of_operator()));
    }
    assert!(held.len() > 200, "{} are held", held.len());
    for _ in 0..3 {
        let asked = Instant::now();
        assert_eq!(app.ops().get("/health/live").status, 200);
        assert_eq!(app.ops().get("/health/ready").status, 200);
        assert_eq!(app.client_without_key().get("/docs").status, 200);
        assert_eq!(app.client().create(&pix(10_027))["status"], "pending");
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    }
    drop(held);
}

#[test]
fn behind_a_proxy_one_address_has_as_many_connections_as_there_are() {
    let app = TestApp::builder().open_files(OPEN_FILES).arg("--behind-proxy", "true").start();
    let mut held = hold(FIRST, app.address(), 300, "GET /docs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    for stream in &mut held {
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
    }
    drop(held);
}

#[test]
fn a_form_that_does_not_come_is_answered_and_its_connection_ended() {
    let app = TestApp::new();
    let ops = app.ops_url().trim_start_matches("http://").to_owned();
    let operator = begun_of_operator();
    std::thread::scope(|scope| {
        for (address, begun) in [(app.address(), BEGUN), (&*ops, &*operator)] {
            scope.spawn(move || {
                let answer = exchange(address, begun.as_bytes()).expect("an answer");
                assert_eq!(answer.status, 408, "{answer}");
            });
        }
    });
}
