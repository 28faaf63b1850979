//! Outgoing HTTP/1.1 for everything that concerns money: webhooks, access tokens, acquirers.
//!
//! A request gets its own final answer or a [`Failure`], which states with certainty whether any byte of the request
//! may have left. Interim answers are skipped. A connection is used again only if its last answer ended as framed and
//! nothing came after it. Time, connections and the size of an answer are limited. Redirects are returned as answers,
//! no proxy is used, and nothing is decoded.

mod connection;
mod destination;
mod dial;
mod failure;
mod framing;
mod handshake;
mod kept;
mod tls;
mod wire;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rustls::ClientConfig;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

pub use failure::{Failure, Why};
pub use handshake::HandshakeCause;
pub use hyper::{HeaderMap, Method, Uri, header};
pub use tls::{public_roots, tls};

use connection::Connection;
use destination::Destination;
use kept::Kept;
use wire::Seen;

/// Rules and limits of a client.
pub struct ClientSettings {
    /// Certificates: the trusted authorities, and our own.
    pub tls: Arc<ClientConfig>,
    /// Decides if an address may be dialled, at the moment of dialling.
    pub may_dial: Box<dyn Fn(IpAddr) -> bool>,
    /// Maximum number of concurrent exchanges; further ones wait for their turn until their deadline.
    pub at_once: usize,
    /// Maximum number of idle connections, over all destinations.
    pub kept: usize,
    /// Time limit for lookup and connection together, and again for the handshake.
    pub step: Duration,
}

/// A request. Its headers and its body may contain secrets: it is never printed.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The whole address, `http` or `https`.
    pub uri: Uri,
    /// All headers but `host` and `content-length`.
    pub headers: HeaderMap,
    /// The body, empty if there is none.
    pub body: Bytes,
    /// True if sending it twice has the same effect as sending it once.
    pub is_repeatable: bool,
}

/// The final answer to a request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status, 200 or above.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// The body as far as it was read.
    pub body: Vec<u8>,
    /// End of the body.
    pub end: End,
}

/// End of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The body ended as its framing states.
    Whole,
    /// The limit was reached: there is more.
    TooLong,
    /// The body broke off before its end.
    Broken(Why),
}

/// Sends requests, and keeps connections between them. Lives on one thread.
pub struct Client {
    settings: ClientSettings,
    places: Semaphore,
    kept: RefCell<Kept>,
}

impl Client {
    /// Creates a client with these rules and limits.
    pub fn new(settings: ClientSettings) -> Self {
        let places = Semaphore::new(settings.at_once.clamp(1, Semaphore::MAX_PERMITS));
        let kept = RefCell::new(Kept::new(settings.kept));
        Self { settings, places, kept }
    }

    /// Sends a request, and reads its answer up to this deadline and this many bytes.
    ///
    /// The other side may close a kept connection at any moment. If no byte of an answer arrived on such a connection,
    /// the request is sent again, once and on a new connection. This only happens if nothing of it had left, or it is
    /// repeatable.
    ///
    /// # Errors
    /// Fails if there is no final answer. An answer that began and broke off is no error: see its [`End`].
    pub async fn send(
        &self,
        request: &Request,
        deadline: Instant,
        max_bytes: usize,
    ) -> Result<Answer, Failure> {
        let trail = Trail::default();
        let sent = timeout_at(deadline, self.exchange(request, max_bytes, &trail)).await;
        let failed = match sent {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(failure)) => failure,
            Err(_) => Failure { why: Why::TimeOut, may_have_left: trail.may_have_left() },
        };
        // Bytes sent on the earlier connection may have arrived, whatever happened on the later one.
        Err(Failure { may_have_left: failed.may_have_left || trail.left_before.get(), ..failed })
    }

    async fn exchange(&self, request: &Request, max_bytes: usize, trail: &Trail) -> Result<Answer, Failure> {
        let destination = Destination::of(&request.uri).ok_or(Failure::unsent(Why::Invalid))?;
        let prepared = destination.prepare(request).ok_or(Failure::unsent(Why::Invalid))?;
        // The semaphore is never closed.
        let _place = self.places.acquire().await;
        if let Some(mut used) = self.take(&destination).await {
            trail.follow(used.seen());
            let heard = used.exchange(prepared.clone(), max_bytes).await;
            let failure = match heard {
                Ok(heard) => return Ok(self.keep(destination, used, heard)),
                Err(failure) => failure,
            };
            // A closed kept connection has usually taken nothing, but only the count of bytes proves this.
            let may_go_again = !failure.may_have_left || request.is_repeatable;
            if !(used.heard_nothing() && may_go_again) {
                return Err(failure);
            }
            trail.leave();
        }
        // A new connection is not replaced by another one: it was not stale, so the failed request may have had an
        // effect.
        let mut fresh = dial::dial(&destination, &self.settings).await?;
        trail.follow(fresh.seen());
        let heard = fresh.exchange(prepared, max_bytes).await?;
        Ok(self.keep(destination, fresh, heard))
    }

    /// Takes a kept connection on which nothing has happened since.
    async fn take(&self, destination: &Destination) -> Option<Connection> {
        loop {
            let mut connection = self.kept.borrow_mut().take(destination, Instant::now())?;
            // Dropping the connection closes it, so the loop also removes those that the server has closed.
            if poll_fn(|cx| std::task::Poll::Ready(connection.is_untouched(cx))).await {
                return Some(connection);
            }
        }
    }

    fn keep(&self, destination: Destination, connection: Connection, heard: connection::Heard) -> Answer {
        if let Some(keep_for) = heard.keep_for {
            self.kept.borrow_mut().put(destination, connection, Instant::now(), keep_for);
        }
        heard.answer
    }
}

/// The connections to which one request was written.
#[derive(Default)]
struct Trail {
    current: RefCell<Option<Rc<Seen>>>,
    left_before: Cell<bool>,
}

impl Trail {
    fn follow(&self, seen: &Rc<Seen>) {
        *self.current.borrow_mut() = Some(Rc::clone(seen));
    }

    fn leave(&self) {
        self.left_before.set(self.may_have_left());
        *self.current.borrow_mut() = None;
    }

    fn may_have_left(&self) -> bool {
        let on_current = self.current.borrow().as_ref().is_some_and(|seen| seen.may_have_left());
        on_current || self.left_before.get()
    }
}
