//! A server for tests that answers with raw bytes: usual answers, unusual but valid ones, and invalid ones.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests: what must not happen fails the test"
)]

mod cases;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub use cases::{Case, Expected, cases, frame};

/// One step of a server that has read a whole request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Does nothing for this time.
    Pause(Duration),
    /// Closes the connection.
    Close,
}

impl Step {
    /// Writes this text.
    pub fn send(text: impl Into<String>) -> Self {
        Self::Send(text.into().into_bytes())
    }
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Number of the connection on which it arrived, from 1.
    pub connection: usize,
    /// Number of the request among all, from 1.
    pub number: usize,
    /// Head and body.
    pub text: String,
}

impl Asked {
    /// Returns the method and the path.
    pub fn line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

type Script = dyn Fn(&Asked) -> Vec<Step> + Send + Sync;

/// A server on loopback that handles each request as its script prescribes. It ends with its runtime.
pub struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    done: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server.
    pub async fn start(script: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (script, asked): (Arc<Script>, Arc<Mutex<Vec<Asked>>>) = (Arc::new(script), Arc::default());
        let log = Arc::clone(&asked);
        let done = Arc::<AtomicUsize>::default();
        let finished = Arc::clone(&done);
        tokio::spawn(async move {
            let mut connection = 0;
            while let Ok((stream, _)) = listener.accept().await {
                connection += 1;
                let script = Arc::clone(&script);
                let log = Arc::clone(&log);
                let finished = Arc::clone(&finished);
                tokio::spawn(serve(stream, connection, script, log, finished));
            }
        });
        Self { port, asked, done }
    }

    /// Waits until the script is complete for all requests, and everything has arrived.
    pub async fn at_rest(&self) {
        while self.done.load(Ordering::SeqCst) < self.asked.lock().unwrap().len() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }

    /// Returns the address at which it listens.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns every request that it read, in order of arrival.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the connections on which requests arrived.
    pub fn connections(&self) -> Vec<usize> {
        self.asked().iter().map(|asked| asked.connection).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    script: Arc<Script>,
    log: Arc<Mutex<Vec<Asked>>>,
    done: Arc<AtomicUsize>,
) {
    stream.set_nodelay(true).unwrap();
    while let Some(text) = read_request(&mut stream).await {
        let asked = {
            let mut log = log.lock().unwrap();
            let asked = Asked { connection, number: log.len() + 1, text };
            log.push(asked.clone());
            asked
        };
        let is_open = answer(&mut stream, script(&asked)).await;
        if !is_open {
            drop(stream);
            done.fetch_add(1, Ordering::SeqCst);
            return;
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// Executes the steps. Returns true if the connection is still open.
async fn answer(stream: &mut TcpStream, steps: Vec<Step>) -> bool {
    for step in steps {
        match step {
            // The client may have closed the connection.
            Step::Send(bytes) if stream.write_all(&bytes).await.is_err() => return false,
            Step::Send(_) => {}
            Step::Pause(pause) => tokio::time::sleep(pause).await,
            Step::Close => return false,
        }
    }
    true
}

/// Reads head and body of the next request; `None` at the end of the connection.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        if body.len() >= length.map_or(0, |length| length.trim().parse().unwrap()) {
            return Some(text);
        }
    }
}
