//! One HTTP/1.1 exchange on its own connection, with the progress of a failed one.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Maximum length of a head or body that is read.
const LONGEST: usize = 8 * 1024 * 1024;

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallError {
    /// There was no connection: not one byte has left.
    NotConnected(String),
    /// The other side may have read something.
    Lost(String),
}

/// Request to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
}

impl Call<'_> {
    /// Makes the exchange. The caller limits its time.
    pub(crate) async fn to(self, address: SocketAddr) -> Result<Answer, CallError> {
        let mut stream =
            TcpStream::connect(address).await.map_err(|error| CallError::NotConnected(error.to_string()))?;
        let lost = |error: std::io::Error| CallError::Lost(error.to_string());
        stream.set_nodelay(true).map_err(lost)?;
        stream.write_all(&self.bytes(address)).await.map_err(lost)?;
        let mut buffer = Vec::new();
        loop {
            if let Some(answer) = answer_in(&buffer)? {
                return Ok(answer);
            }
            if buffer.len() > LONGEST {
                return Err(CallError::Lost("the answer is too long".into()));
            }
            if stream.read_buf(&mut buffer).await.map_err(lost)? == 0 {
                return Err(CallError::Lost("the connection was closed before the answer ended".into()));
            }
        }
    }

    fn bytes(self, address: SocketAddr) -> Vec<u8> {
        let Self { method, path, headers, body } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }
}

/// Returns the position at which the head ends, if all of it is in the buffer.
pub(crate) fn end_of_head(buffer: &[u8]) -> Option<usize> {
    buffer.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

/// Returns the value of a header in a head.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .find_map(|(known, value)| known.eq_ignore_ascii_case(name).then(|| value.trim()))
}

fn answer_in(buffer: &[u8]) -> Result<Option<Answer>, CallError> {
    let Some(end) = end_of_head(buffer) else { return Ok(None) };
    let unreadable = || CallError::Lost("the answer is unreadable".into());
    let head = std::str::from_utf8(&buffer[..end]).map_err(|_| unreadable())?;
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).ok_or_else(unreadable)?;
    let status = status.parse().map_err(|_| unreadable())?;
    let length: usize =
        header(head, "content-length").ok_or_else(unreadable)?.parse().map_err(|_| unreadable())?;
    Ok(buffer.get(end..end + length).map(|body| Answer { status, body: body.to_vec() }))
}
