//! Counterparties that replace real ones in tests: a bank with API Pix, one that registers boletos, a Cielo and a
//! Pagar.me, each with its own books. They share no code with the product, so that its mistakes can't hide in them.
//!
//! A [`Counterparty`] is plain state: a request and the time go in, a [`Reply`] comes out. The simulated world calls it
//! in process; a server puts it behind HTTP with mutual TLS.

pub mod api_pix;
#[cfg(feature = "server")]
pub mod certificates;
mod chance;
pub mod cielo;
pub mod faults;
mod oauth;
pub mod pagarme;
mod query;
#[cfg(feature = "server")]
pub mod server;
pub mod sicoob;

/// A provider as seen over HTTP.
pub trait Counterparty: Send {
    /// Handles one request at this time, in milliseconds since 1970.
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply;

    /// Takes the notices that are due, each once.
    fn notices(&mut self, now_ms: i64) -> Vec<Notice>;

    /// Receives the status of the answer to a notice; `None` if the notice did not arrive. Most providers ignore it.
    fn notified(&mut self, _notice: &Notice, _status: Option<u16>, _now_ms: i64) {}

    /// Performs actions outside the API (of payers, or at the provider's desk), changes settings and faults, or returns
    /// the books.
    ///
    /// A command is `{"do": "pay", …}` with the arguments beside `do`, so a server's control path is independent of its
    /// counterparty. An impossible command is answered with `{"error": "…"}`. Every counterparty supports `{"do":
    /// "books"}` and `{"do": "faults", …}` as [`faults::Planned`] reads it.
    fn control(&mut self, command: &serde_json::Value, now_ms: i64) -> serde_json::Value;
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `PUT`, …
    pub method: String,
    /// Path without host and query.
    pub path: String,
    /// The query without its question mark, not decoded.
    pub query: String,
    /// Names in lower case with their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The SHA-256 of the client's certificate in hexadecimal, if it presented one.
    pub certificate: Option<String>,
}

impl Request {
    /// Returns the first header with this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// An answer, or another end of the exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Answers after this many milliseconds.
    Answer {
        /// The answer.
        response: Response,
        /// Delay of the answer, in milliseconds.
        after_ms: u64,
    },
    /// The connection is cut without an answer.
    Reset,
    /// No answer ever comes.
    Silence,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names in lower case with their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns an answer in JSON.
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_string().into_bytes() }
    }

    /// Returns an answer without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }
}

/// A notice to a registered receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Complete target address; `None` if the counterparty has none.
    pub url: Option<String>,
    /// Names with values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}
