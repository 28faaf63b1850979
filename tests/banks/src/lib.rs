//! Counterparties that stand in for real ones in tests: a bank that speaks API Pix, one that registers boletos, a Cielo and
//! a Pagar.me, each with books of its own. They know nothing of the product, so that a mistake of its own can't hide in
//! them.
//!
//! A [`Counterparty`] is plain state: a request and the time go in, a [`Reply`] comes out. The simulated world calls it
//! in process; a server puts it behind HTTP with mutual TLS.

pub mod api_pix;
pub mod certificates;
mod chance;
pub mod cielo;
pub mod faults;
mod oauth;
pub mod pagarme;
mod query;
pub mod server;
pub mod sicoob;

/// A provider as it is seen over HTTP.
pub trait Counterparty: Send {
    /// Takes one request at this time, in milliseconds since 1970.
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply;

    /// Notices that it wants to send by now, each to be taken once.
    fn notices(&mut self, now_ms: i64) -> Vec<Notice>;

    /// Learns the status that a notice was answered with; none if it did not arrive. Most providers don't look at it.
    fn notified(&mut self, _notice: &Notice, _status: Option<u16>, _now_ms: i64) {}

    /// Does what people outside of the API do (payers, the provider's desk), sets knobs and faults, or tells the books.
    ///
    /// A command is `{"do": "pay", …}` with the arguments beside `do`; so a server's control path needs to know nothing
    /// of the counterparty behind it. What can't be done is answered as `{"error": "…"}`. Every counterparty knows
    /// `{"do": "books"}` and `{"do": "faults", …}` as [`faults::Planned`] reads it.
    fn control(&mut self, command: &serde_json::Value, now_ms: i64) -> serde_json::Value;
}

/// A request as it came in.
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
    /// The SHA-256 of the client's certificate in hexadecimal, if it showed one.
    pub certificate: Option<String>,
}

impl Request {
    /// The first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// An answer, or what becomes of the connection instead.
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
    /// Nothing ever comes.
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
    /// An answer in JSON.
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_string().into_bytes() }
    }

    /// An answer without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }
}

/// A notice to whoever registered for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Whole address to which it goes, or none where the counterparty was told none.
    pub url: Option<String>,
    /// Names with values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}
