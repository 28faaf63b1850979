//! A server with TLS that wants a certificate of its caller, and does with requests what the test wants.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::authority::{Authority, ServerIdentity, Validity};

/// Version of TLS that the bank speaks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Versions {
    Tls12,
    Tls13,
}

/// Behaviour of the bank.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// Answers every request with these bytes, and hangs up unless they are a whole answer.
    Answers(String),
    /// The same, and then hangs up without the goodbye of TLS.
    HangsUpAfter(Box<Self>),
    /// Reads and never answers.
    Silent,
    /// Hangs up in the middle of the handshake, where it has its caller's certificate.
    RefusesWithoutAWord,
}

impl Behaviour {
    /// A good answer with this body.
    pub(crate) fn answers(body: &[u8]) -> Self {
        let text = String::from_utf8(body.to_vec()).unwrap();
        Self::Answers(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", body.len()))
    }

    /// A good answer in so many equal pieces.
    pub(crate) fn chunks(piece: &[u8], count: usize) -> Self {
        let piece = String::from_utf8(piece.to_vec()).unwrap();
        let chunks = format!("{:x}\r\n{piece}\r\n", piece.len()).repeat(count);
        Self::Answers(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n"))
    }
}

#[derive(Debug, Default)]
struct Seen {
    requests: Vec<String>,
    connections: usize,
}

/// The server; it ends with its test.
pub(crate) struct Bank {
    port: u16,
    seen: Arc<Mutex<Seen>>,
}

impl Bank {
    /// One that this authority vouches for, and that takes whom it vouches for.
    pub(crate) async fn start(authority: &Authority, versions: Versions, behaviour: Behaviour) -> Self {
        Self::start_as(authority.server(Validity::Now), authority, versions, behaviour).await
    }

    pub(crate) async fn start_as(
        identity: ServerIdentity,
        callers: &Authority,
        versions: Versions,
        behaviour: Behaviour,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(Arc::new(tls(identity, callers, versions)));
        let seen = Arc::new(Mutex::new(Seen::default()));
        tokio::spawn({
            let seen = Arc::clone(&seen);
            async move {
                while let Ok((socket, _)) = listener.accept().await {
                    tokio::spawn(serve(socket, acceptor.clone(), behaviour.clone(), Arc::clone(&seen)));
                }
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Every request that it read.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().requests.clone()
    }

    /// Connections whose handshake ended well.
    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }
}

fn tls(identity: ServerIdentity, callers: &Authority, versions: Versions) -> ServerConfig {
    let ServerIdentity { certificate, key } = identity;
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(callers.certificate()).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
    let versions = match versions {
        Versions::Tls12 => [&TLS12],
        Versions::Tls13 => [&TLS13],
    };
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&versions).unwrap();
    builder.with_client_cert_verifier(verifier).with_single_cert(vec![certificate], key).unwrap()
}

async fn serve(socket: TcpStream, acceptor: TlsAcceptor, behaviour: Behaviour, seen: Arc<Mutex<Seen>>) {
    if matches!(behaviour, Behaviour::RefusesWithoutAWord) {
        return hang_up(socket, acceptor).await;
    }
    match acceptor.accept(socket).into_fallible().await {
        Ok(stream) => {
            seen.lock().unwrap().connections += 1;
            converse(stream, behaviour, seen).await;
        }
        // The alert is sent. What the client sent meanwhile is taken from the line, so that no reset overtakes it.
        Err((_, mut socket)) => {
            tokio::io::copy(&mut socket, &mut tokio::io::sink()).await.ok();
        }
    }
}

/// Lets the handshake begin, and hangs up instead of judging the certificate.
async fn hang_up(socket: TcpStream, acceptor: TlsAcceptor) {
    let config = Arc::clone(acceptor.config());
    let mut socket = socket;
    let mut server = tokio_rustls::rustls::ServerConnection::new(config).unwrap();
    let mut hello = vec![0; 16 * 1024];
    let read = socket.read(&mut hello).await.unwrap();
    server.read_tls(&mut &hello[..read]).unwrap();
    server.process_new_packets().unwrap();
    let mut answer = Vec::new();
    while server.wants_write() {
        server.write_tls(&mut answer).unwrap();
    }
    socket.write_all(&answer).await.unwrap();
    let flight = socket.read(&mut hello).await.unwrap_or(0);
    assert!(flight > 0, "it showed its certificate");
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    behaviour: Behaviour,
    seen: Arc<Mutex<Seen>>,
) {
    while let Some(request) = read_request(&mut stream).await {
        seen.lock().unwrap().requests.push(request);
        let answer = match &behaviour {
            Behaviour::Answers(answer) => answer,
            Behaviour::HangsUpAfter(before) => {
                if let Behaviour::Answers(answer) = before.as_ref() {
                    stream.write_all(answer.as_bytes()).await.ok();
                    stream.flush().await.ok();
                }
                return;
            }
            Behaviour::Silent | Behaviour::RefusesWithoutAWord => {
                std::future::pending::<()>().await;
                return;
            }
        };
        stream.write_all(answer.as_bytes()).await.ok();
        stream.flush().await.ok();
        let is_whole = answer.ends_with("0\r\n\r\n") || is_as_long_as_promised(answer);
        if !is_whole || answer.contains("Connection: close") {
            stream.shutdown().await.ok();
            return;
        }
    }
}

fn is_as_long_as_promised(answer: &str) -> bool {
    let promised = answer.split_once("Content-Length: ").and_then(|(_, rest)| rest.split_once("\r\n"));
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.len());
    promised.is_some_and(|(length, _)| length.parse().ok() == body)
}

/// Head and body of the next request, if there is one.
async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut text = String::new();
    loop {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).await.ok().filter(|read| *read > 0)?;
        text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length = head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next());
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return Some(text);
        }
    }
}
