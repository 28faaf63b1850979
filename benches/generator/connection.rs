//! A connection that stays open, with one exchange after the other.

use std::io;
use std::net::SocketAddr;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uuid::Uuid;

/// Maximum number of headers in an answer or a request.
pub(crate) const MAX_HEADERS: usize = 32;
/// Maximum length of an answer.
const MAX_ANSWER: usize = 256 * 1024;
/// Initial buffer for an answer; it grows if needed.
const BUFFER: usize = 8 * 1024;

/// A connection to the service.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

/// Answer to a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// The status of HTTP.
    pub(crate) status: u16,
    /// The id at the end of `Location`, if there is one.
    pub(crate) location: Option<Uuid>,
    head: usize,
    length: usize,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Fails if nobody listens.
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER], filled: 0 })
    }

    /// Sends a request and reads its answer.
    ///
    /// # Errors
    /// Fails if the connection breaks, or the answer has no `Content-Length`.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Answer> {
        self.stream.write_all(request).await?;
        self.filled = 0;
        let answer = loop {
            self.read_more().await?;
            if let Some(answer) = Answer::parse(self.buffer.get(..self.filled).unwrap_or_default())? {
                break answer;
            }
        };
        while self.filled < answer.head + answer.length {
            self.read_more().await?;
        }
        ensure!(self.filled == answer.head + answer.length, "more was answered than asked for");
        Ok(answer)
    }

    /// Returns the body of the last answer.
    pub(crate) fn body(&self, answer: &Answer) -> &[u8] {
        self.buffer.get(answer.head..answer.head + answer.length).unwrap_or_default()
    }

    async fn read_more(&mut self) -> anyhow::Result<()> {
        if self.filled == self.buffer.len() {
            ensure!(self.filled < MAX_ANSWER, "the answer is too long");
            self.buffer.resize(self.filled * 2, 0);
        }
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        match self.stream.read(room).await? {
            0 => bail!("the connection was closed"),
            read => self.filled += read,
        }
        Ok(())
    }
}

impl Answer {
    /// Parses the head of an answer, once it is complete.
    fn parse(bytes: &[u8]) -> anyhow::Result<Option<Self>> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(head) = response.parse(bytes)? else { return Ok(None) };
        let mut length = None;
        let mut location = None;
        for header in response.headers.iter() {
            if header.name.eq_ignore_ascii_case("content-length") {
                length = Some(decimal(header.value)?);
            } else if header.name.eq_ignore_ascii_case("location") {
                location = header.value.last_chunk::<36>().and_then(|id| Uuid::try_parse_ascii(id).ok());
            }
        }
        let length = length.context("an answer without Content-Length")?;
        Ok(Some(Self { status: response.code.unwrap_or_default(), location, head, length }))
    }
}

/// Reads a length.
///
/// # Errors
/// Fails if it is not a number.
pub(crate) fn decimal(digits: &[u8]) -> anyhow::Result<usize> {
    Ok(std::str::from_utf8(digits)?.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_once_its_head_is_complete() {
        let whole = b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\
            location: /pay/payments/01890a5d-ac96-774b-bcce-b302099a8057\r\n\r\n{}";
        assert!(Answer::parse(&whole[..60]).unwrap().is_none());
        let answer = Answer::parse(whole).unwrap().unwrap();
        assert_eq!((answer.status, answer.length, &whole[answer.head..]), (201, 2, &b"{}"[..]));
        assert_eq!(answer.location.unwrap().to_string(), "01890a5d-ac96-774b-bcce-b302099a8057");
    }

    #[test]
    fn an_answer_without_a_length_is_refused() {
        assert!(Answer::parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }
}
