//! A small HTTP/1.1 server that can break off at any point. Each connection has one request.

use std::future::Future;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;

use crate::wire::{end_of_head, header};

/// A complete request.
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Incoming {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

/// Reply that the other side gets.
pub(crate) enum Reply {
    /// A status and a JSON body.
    Json(u16, String),
    /// Bytes that are not HTTP.
    Garbage,
    /// The connection is closed before the first byte.
    Cut,
}

/// Serves until the task is dropped.
pub(crate) async fn serve<H, F>(listener: TcpListener, handler: H)
where
    H: Fn(Incoming) -> F + 'static,
    F: Future<Output = Reply> + 'static,
{
    let handler = Rc::new(handler);
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let handler = Rc::clone(&handler);
        spawn_local(async move {
            // A broken connection is the other side's problem: it does not know the outcome of its request.
            drop(exchange(stream, &*handler).await);
        });
    }
}

async fn exchange<H, F>(mut stream: TcpStream, handler: &H) -> std::io::Result<()>
where
    H: Fn(Incoming) -> F,
    F: Future<Output = Reply>,
{
    stream.set_nodelay(true)?;
    let Some(request) = read(&mut stream).await? else { return Ok(()) };
    match handler(request).await {
        Reply::Cut => Ok(()),
        Reply::Garbage => stream.write_all(b"\x15\x03\x01\x00\x02\x02\x28 what?\r\n\r\n").await,
        Reply::Json(status, body) => {
            let head = format!(
                "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(&[head.into_bytes(), body.into_bytes()].concat()).await
        }
    }
}

/// Reads one request. Returns `None` if the connection ended before the request was complete.
async fn read(stream: &mut TcpStream) -> std::io::Result<Option<Incoming>> {
    let mut buffer = Vec::new();
    loop {
        if let Some(end) = end_of_head(&buffer) {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let length: usize =
                header(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
            if let Some(body) = buffer.get(end..end + length) {
                let mut words = head.split(' ');
                let method = words.next().unwrap_or_default().to_owned();
                let path = words.next().unwrap_or_default().to_owned();
                let body = body.to_vec();
                return Ok(Some(Incoming { method, path, head, body }));
            }
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(None);
        }
    }
}
