//! A stream of server-sent events, read as it comes.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{PATIENCE, TestApp, Visitor};

/// An open stream.
pub(crate) struct EventStream {
    lines: BufReader<TcpStream>,
    /// The head of the answer.
    pub(crate) head: String,
}

impl EventStream {
    /// Opens a stream of the merchants' console with a visitor's cookies.
    #[track_caller]
    pub(crate) fn open(app: &TestApp, visitor: &Visitor, path: &str) -> Self {
        Self::open_at(app.address(), visitor, path)
    }

    /// The same of the operators' console.
    #[track_caller]
    pub(crate) fn open_at_ops(app: &TestApp, visitor: &Visitor, path: &str) -> Self {
        Self::open_at(app.ops_url().trim_start_matches("http://"), visitor, path)
    }

    #[track_caller]
    fn open_at(host: &str, visitor: &Visitor, path: &str) -> Self {
        let mut stream = TcpStream::connect(host).unwrap();
        let cookies = visitor.cookie_header();
        // Without chunks (HTTP/1.0), so that what is read is what was sent.
        let request = format!(
            "GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept-Language: en\r\nCookie: {cookies}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut open = Self { lines: BufReader::new(stream), head: String::new() };
        while let Some(line) = open.line().filter(|line| !line.is_empty()) {
            open.head.push_str(&line.to_ascii_lowercase());
            open.head.push('\n');
        }
        assert!(open.head.contains("text/event-stream"), "{path}: {}", open.head);
        open
    }

    /// The data of the next event; `None` at the end of the stream. Signs of life are passed over.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Option<String> {
        let mut data = Vec::new();
        loop {
            let line = self.line()?;
            match line.strip_prefix("data: ") {
                Some(text) => data.push(text.to_owned()),
                None if line.is_empty() && !data.is_empty() => return Some(data.join("\n")),
                None => {}
            }
        }
    }

    /// Waits until the other side ends the stream.
    #[track_caller]
    pub(crate) fn wait_for_end(&mut self, within: Duration) {
        let begun = Instant::now();
        let mut is_open = true;
        while is_open {
            is_open = self.line().is_some();
            assert!(begun.elapsed() < within, "the stream went on for {:?}", begun.elapsed());
        }
    }

    /// The next line; `None` at the end.
    #[track_caller]
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("nothing came any more: {error}"),
        }
    }
}
