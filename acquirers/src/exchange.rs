//! One HTTP request to a provider and its outcome: all that an adapter needs of the network.

pub mod hold;
#[cfg(feature = "network")]
pub mod http_client;
#[cfg(feature = "network")]
pub mod identity;
pub mod watched;

use std::fmt;
use std::rc::Rc;

use async_trait::async_trait;
use quita_domain::retry_after;
use quita_domain::time::Timestamp;
use thiserror::Error;
use zeroize::Zeroizing;

/// Longest `Retry-After` that is accepted.
const MAX_RETRY_AFTER_MS: u64 = 5 * 60_000;

/// Sends requests to one provider. Lives on one thread, and has its own kept connections.
#[async_trait(?Send)]
pub trait Exchange {
    /// Sends a request and reads the whole answer, whatever its status. Limits the time and the size of the answer.
    ///
    /// # Errors
    /// Fails if there is no answer, or it could not be read to its end.
    async fn send(&self, request: Request) -> Result<Response, Failure>;
}

/// Factory that creates an [`Exchange`] on the thread where it will live.
pub trait ExchangeFactory: Send + Sync + 'static {
    /// Creates an exchange.
    fn open(&self) -> Rc<dyn Exchange>;

    /// Creates an exchange for files, whose answers may be larger than others.
    fn open_for_files(&self) -> Rc<dyn Exchange> {
        self.open()
    }
}

/// Methods that providers need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Creates, or asks for a token.
    Post,
    /// Creates under a name that we choose, or operates.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

impl Verb {
    /// Returns the spelling in HTTP.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// A request. Headers and body may contain secrets and personal data: neither is ever printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// Verb of the request.
    pub verb: Verb,
    /// The whole address, with its query.
    pub url: String,
    /// Names with values.
    pub headers: Vec<(String, String)>,
    /// The body, empty if there is none. It may contain a card, so it is zeroed when it is dropped.
    pub body: Zeroizing<Vec<u8>>,
    /// True if sending it twice has the same effect as sending it once: it only reads, or it names the object that it
    /// creates. Such a request is sent again if a kept connection turns out to be closed.
    pub is_repeatable: bool,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("verb", &self.verb).finish_non_exhaustive()
    }
}

/// A whole answer. Its body may contain personal data: it is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names in lower case with their values. Values that are not text are left out.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the first header with this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the time for which the counterparty wants no calls, in milliseconds, at most five minutes; `None` if it
    /// states none, or an unreadable one.
    pub fn retry_after_ms(&self, now: Timestamp) -> Option<u64> {
        let wait_ms = retry_after::wait_ms(self.header("retry-after")?, now)?;
        Some(wait_ms.min(MAX_RETRY_AFTER_MS))
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Reason for a missing answer. Its text is shown to operators, so it contains no secrets and no personal data.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    /// The request certainly did not leave: no address, no connection, or no handshake.
    #[error("{0}")]
    NotSent(String),
    /// The request may have arrived, at least in part. The connection broke, the time ran out, or the answer was too
    /// large, cut short, or could not be attributed to this request.
    #[error("{0}")]
    Unknown(String),
}
