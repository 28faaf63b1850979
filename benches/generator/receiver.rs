//! A receiver of webhooks that answers 200, and reports the events on request.
//!
//! `POST /` takes an event. For the measurement: `GET /count` (distinct events so far), `GET /report`, `GET /events` (a
//! line for each), `POST /reset`. Ends on SIGTERM.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::{Context, ensure};
use clap::Args;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_local;

use crate::connection::{MAX_HEADERS, decimal};
use crate::outcome::epoch_us;
use crate::seen::Seen;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
/// Maximum length of a request.
const MAX_REQUEST: usize = 256 * 1024;

/// Options of the receiver.
#[derive(Args)]
pub(crate) struct ReceiverOptions {
    /// Address to listen on.
    #[arg(long)]
    listen: SocketAddr,
}

/// Purpose of a request.
enum Asked {
    Event,
    Count,
    Report,
    Events,
    Reset,
}

/// A complete request.
struct Request {
    asked: Asked,
    head: usize,
    length: usize,
}

/// Receives until it is told to end.
///
/// # Errors
/// Fails if the address is taken.
pub(crate) async fn run(options: ReceiverOptions) -> anyhow::Result<ExitCode> {
    let listener = TcpListener::bind(options.listen).await.context("cannot listen")?;
    let mut terminate = signal(SignalKind::terminate())?;
    let seen = Rc::new(RefCell::new(Seen::new()?));
    loop {
        tokio::select! {
            _ = terminate.recv() => return Ok(ExitCode::SUCCESS),
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                stream.set_nodelay(true)?;
                spawn_local(serve(stream, Rc::clone(&seen)));
            }
        }
    }
}

/// Serves one connection, up to the first request that can't be read.
async fn serve(mut stream: TcpStream, seen: Rc<RefCell<Seen>>) {
    let mut buffer = vec![0; 16 * 1024];
    let mut filled = 0;
    while let Ok((request, at_us)) = receive(&mut stream, &mut buffer, &mut filled).await {
        let body = buffer.get(request.head..request.head + request.length).unwrap_or_default();
        let answered = match request.asked {
            Asked::Event => {
                seen.borrow_mut().arrived(body, at_us);
                stream.write_all(OK).await
            }
            Asked::Count => {
                let count = seen.borrow().count().to_string();
                tell(&mut stream, &count).await
            }
            Asked::Report => {
                let report = seen.borrow().report().to_string();
                tell(&mut stream, &report).await
            }
            Asked::Events => {
                let lines = seen.borrow().lines();
                tell(&mut stream, &lines).await
            }
            Asked::Reset => match Seen::new() {
                Ok(none) => {
                    seen.replace(none);
                    stream.write_all(OK).await
                }
                Err(_) => return,
            },
        };
        if answered.is_err() {
            return;
        }
        let end = request.head + request.length;
        buffer.copy_within(end..filled, 0);
        filled -= end;
    }
}

async fn tell(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", text.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await
}

/// Reads the next request, with the arrival time of its first byte.
async fn receive(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    filled: &mut usize,
) -> anyhow::Result<(Request, i64)> {
    let mut at_us = (*filled > 0).then(epoch_us);
    loop {
        if let Some(request) = Request::parse(buffer.get(..*filled).unwrap_or_default())?
            && *filled >= request.head + request.length
        {
            return Ok((request, at_us.unwrap_or_else(epoch_us)));
        }
        if *filled == buffer.len() {
            ensure!(*filled < MAX_REQUEST, "the request is too long");
            buffer.resize(*filled * 2, 0);
        }
        let read = stream.read(buffer.get_mut(*filled..).unwrap_or_default()).await?;
        ensure!(read > 0, "the connection was closed");
        at_us.get_or_insert_with(epoch_us);
        *filled += read;
    }
}

impl Request {
    /// Parses the head of a request, once it is complete.
    fn parse(bytes: &[u8]) -> anyhow::Result<Option<Self>> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(head) = request.parse(bytes)? else { return Ok(None) };
        let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
        let length = length.map(|header| decimal(header.value)).transpose()?.unwrap_or_default();
        let asked = match request.path {
            Some("/count") => Asked::Count,
            Some("/report") => Asked::Report,
            Some("/events") => Asked::Events,
            Some("/reset") => Asked::Reset,
            _ => Asked::Event,
        };
        Ok(Some(Self { asked, head, length }))
    }
}
