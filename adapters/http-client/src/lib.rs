//! Outgoing HTTP/1.1 for everything that is about money: webhooks, tokens of access, acquirers.
//!
//! A request gets its own final answer or a [`Failure`], which states with certainty whether any byte of the request
//! may have left. Interim answers are skipped. A connection is used again only if its last answer ended as it was
//! framed and nothing came after it. Time, connections and the size of an answer are bounded. Redirects are answers, no
//! proxy is used, nothing is decoded.

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
    /// Certificates: whom we believe, and who we are.
    pub tls: Arc<ClientConfig>,
    /// Judges an address at the moment in which it is dialled.
    pub may_dial: Box<dyn Fn(IpAddr) -> bool>,
    /// Exchanges at once; more wait for their turn until their deadline.
    pub at_once: usize,
    /// Idle connections that are kept, over all destinations.
    pub kept: usize,
    /// The longest that finding the address and connecting may take, and the handshake again.
    pub step: Duration,
}

/// A request. Its headers and its body may hold secrets: it is never printed.
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
    /// Says whether sending it twice does no more than sending it once.
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
    /// End of the reading of the body.
    pub end: End,
}

/// End of the reading of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The end that its framing says.
    Whole,
    /// At the limit: there is more.
    TooLong,
    /// Before its end.
    Broken(Why),
}

/// Sends requests, and keeps connections between them. Lives on one thread.
pub struct Client {
    settings: ClientSettings,
    places: Semaphore,
    kept: RefCell<Kept>,
}

impl Client {
    /// With these rules and limits.
    pub fn new(settings: ClientSettings) -> Self {
        let places = Semaphore::new(settings.at_once.clamp(1, Semaphore::MAX_PERMITS));
        let kept = RefCell::new(Kept::new(settings.kept));
        Self { settings, places, kept }
    }

    /// Sends a request, and reads its answer until this time and up to this many bytes.
    ///
    /// A kept connection may have been closed by the other side at any moment. If no byte of an answer came on such a
    /// one, a request of which nothing left, or that is repeatable, is sent again, once and on a new connection.
    ///
    /// # Errors
    /// If there is no final answer. If one began and broke off, that is no error: its [`End`] tells.
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
        // It is never closed.
        let _place = self.places.acquire().await;
        if let Some(mut used) = self.take(&destination).await {
            trail.follow(used.seen());
            let heard = used.exchange(prepared.clone(), max_bytes).await;
            let failure = match heard {
                Ok(heard) => return Ok(self.keep(destination, used, heard)),
                Err(failure) => failure,
            };
            // A closed kept connection usually took nothing, but only the count of bytes proves that.
            let may_go_again = !failure.may_have_left || request.is_repeatable;
            if !(used.heard_nothing() && may_go_again) {
                return Err(failure);
            }
            trail.leave();
        }
        // A new connection is not replaced by another one: it is not stale, so the failed request may have had an
        // effect.
        let mut fresh = dial::dial(&destination, &self.settings).await?;
        trail.follow(fresh.seen());
        let heard = fresh.exchange(prepared, max_bytes).await?;
        Ok(self.keep(destination, fresh, heard))
    }

    /// A kept connection on which nothing happened since.
    async fn take(&self, destination: &Destination) -> Option<Connection> {
        loop {
            let mut connection = self.kept.borrow_mut().take(destination, Instant::now())?;
            // Dropping the connection closes it, so the loop also clears away those that the server has closed.
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

/// The connections that one request was written to.
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
