//! Just enough HTTP/1.1 to read what comes over a socket.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;

/// The head of a message and its body, as far as it came.
pub(crate) struct Message {
    /// The request line or the status line.
    pub(crate) first_line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }
}

/// Reads one message: until its `Content-Length`, its last chunk, or the end of the stream. `None` if not even a
/// whole head came.
pub(crate) fn read_message(stream: &mut TcpStream) -> Option<Message> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end;
        }
        read_more(stream, &mut bytes)?;
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let first_line = lines.next()?.to_owned();
    let pair = |line: &str| line.split_once(':').map(|(name, value)| (name.into(), value.trim().into()));
    let headers = lines.filter_map(pair).collect();
    let mut message = Message { first_line, headers, body: bytes.split_off(head_end + 4) };
    let length = message.header("content-length").and_then(|length| length.parse::<usize>().ok());
    let is_chunked = message.header("transfer-encoding").is_some_and(|value| value.contains("chunked"));
    let is_request = !message.first_line.starts_with("HTTP/");
    loop {
        let is_whole = match length {
            Some(length) => message.body.len() >= length,
            None if is_chunked => message.body.ends_with(b"0\r\n\r\n"),
            None => is_request,
        };
        if is_whole || read_more(stream, &mut message.body).is_none() {
            return Some(message);
        }
    }
}

/// `None` at the end of the stream, or when nothing comes any more.
fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return None,
            Ok(length) => {
                bytes.extend(&buffer[..length]);
                return Some(());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
