//! A server for tests that answers with bytes: as servers do, as they are allowed to, and as they must not.
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
    /// Does nothing for so long.
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

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The connection that it came on, from 1.
    pub connection: usize,
    /// Its place among all requests, from 1.
    pub number: usize,
    /// Head and body.
    pub text: String,
}

impl Asked {
    /// The method and the path.
    pub fn line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

type Script = dyn Fn(&Asked) -> Vec<Step> + Send + Sync;

/// A server on loopback that does with each request what its script says. It ends with its runtime.
pub struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    done: Arc<AtomicUsize>,
}

impl Server {
    /// Starts one.
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

    /// Waits until it has done all that its script says, and that has arrived.
    pub async fn at_rest(&self) {
        while self.done.load(Ordering::SeqCst) < self.asked.lock().unwrap().len() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }

    /// Address at which it listens.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Every request that it read, in the order in which they came.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The connections that requests came on.
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

/// Goes through the steps. Says whether the connection is still open.
async fn answer(stream: &mut TcpStream, steps: Vec<Step>) -> bool {
    for step in steps {
        match step {
            // The client may have had enough.
            Step::Send(bytes) if stream.write_all(&bytes).await.is_err() => return false,
            Step::Send(_) => {}
            Step::Pause(pause) => tokio::time::sleep(pause).await,
            Step::Close => return false,
        }
    }
    true
}

/// Head and body of the next request; none at the end of the connection.
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
