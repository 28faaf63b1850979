//! One connection: one exchange after the other, and none after anything unexpected.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::ext::on_informational;

use super::destination::Prepared;
use super::failure::{Failure, Why, refuses_our_certificate, rustls_error};
use super::wire::{Seen, Socket, Wire};
use super::{Answer, End, framing};

/// A request in hyper's form.
pub(crate) type Outgoing = hyper::Request<Full<Bytes>>;

/// Maximum number of interim answers before the final one: more than one a second during the longest call.
const MAX_INTERIM: usize = 100;

/// Maximum bytes of heads before the body: those of interim answers and of the final one together.
const MAX_HEADS_BYTES: usize = 128 * 1024;

/// A connection. Nothing runs in the background: it progresses while an exchange is awaited, and closes when it is
/// dropped.
pub(crate) struct Connection {
    http: http1::Connection<Wire, Full<Bytes>>,
    sender: http1::SendRequest<Full<Bytes>>,
    seen: Rc<Seen>,
    was_used: bool,
    is_over: bool,
}

/// An answer, and the time for which the connection may be kept after it.
pub(crate) struct Heard {
    pub(crate) answer: Answer,
    pub(crate) keep_for: Option<Duration>,
}

impl Connection {
    /// Starts HTTP/1.1 on a socket. Nothing is sent.
    pub(crate) async fn open(socket: Socket) -> Result<Self, Failure> {
        let seen = Rc::new(Seen::default());
        let wire = Wire::new(socket, Rc::clone(&seen));
        // The body may contain a card: it is written from its own buffer, and not copied together with the head.
        let opened = http1::Builder::new()
            .writev(true)
            .max_buf_size(MAX_HEADS_BYTES)
            // RFC 9112, section 5.2: a client has to accept them in answers.
            .allow_obsolete_multiline_headers_in_responses(true)
            .handshake::<_, Full<Bytes>>(wire)
            .await;
        let (sender, http) = opened.map_err(|_| Failure::unsent(Why::Closed))?;
        Ok(Self { http, sender, seen, was_used: false, is_over: false })
    }

    pub(crate) const fn seen(&self) -> &Rc<Seen> {
        &self.seen
    }

    /// Returns true if no byte has arrived since the request began.
    pub(crate) fn heard_nothing(&self) -> bool {
        self.seen.read() == 0
    }

    /// Returns true if a kept connection is still as it was left: open, and without new bytes.
    pub(crate) fn is_untouched(&mut self, cx: &mut Context<'_>) -> bool {
        self.seen.ask_first();
        self.move_on(cx);
        !self.seen.is_unasked() && self.is_ready(cx)
    }

    fn is_ready(&mut self, cx: &mut Context<'_>) -> bool {
        !self.is_over && matches!(self.sender.poll_ready(cx), Poll::Ready(Ok(())))
    }

    /// Drives the connection.
    fn move_on(&mut self, cx: &mut Context<'_>) {
        // The error is reported to the exchange under way.
        self.is_over = self.is_over || Pin::new(&mut self.http).poll(cx).is_ready();
    }

    /// Sends a request, and reads its answer up to this many bytes of body.
    pub(crate) async fn exchange(&mut self, request: Prepared, max_bytes: usize) -> Result<Heard, Failure> {
        self.seen.begin();
        let is_first = !std::mem::replace(&mut self.was_used, true);
        let interim = Arc::new(AtomicUsize::new(0));
        let mut request = request.into_outgoing();
        let counted = Arc::clone(&interim);
        on_informational(&mut request, move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let head = self.head(request, &interim).await.map_err(|why| self.failed(why, is_first))?;
        let (head, body) = head.into_parts();
        let keep_for = framing::keep_for(head.status, head.version, &head.headers)
            .map_err(|why| self.failed(why, is_first))?;
        let (body, end) = self.body(body, max_bytes).await;
        // After a body that was cut off, bytes are still under way, and the next request must not get them as its
        // answer.
        let may_keep = end == End::Whole && !keep_for.is_zero();
        let keep_for = (may_keep && self.is_at_rest().await).then_some(keep_for);
        let answer = Answer { status: head.status.as_u16(), headers: head.headers, body, end };
        Ok(Heard { answer, keep_for })
    }

    /// Waits for the final head.
    async fn head(
        &mut self,
        request: Outgoing,
        interim: &AtomicUsize,
    ) -> Result<hyper::Response<Incoming>, Why> {
        let mut answering = pin!(self.sender.try_send_request(request));
        poll_fn(|cx| {
            self.move_on(cx);
            if let Poll::Ready(answered) = answering.as_mut().poll(cx) {
                return Poll::Ready(answered.map_err(|error| self.why(&error.into_error())));
            }
            let is_too_much =
                interim.load(Ordering::Relaxed) > MAX_INTERIM || self.seen.read() > MAX_HEADS_BYTES;
            if is_too_much {
                return Poll::Ready(Err(Why::TooManyInterim));
            }
            // The connection is checked last: an answer that arrived together with its end is still an answer.
            if self.is_over { Poll::Ready(Err(self.why_ended())) } else { Poll::Pending }
        })
        .await
    }

    /// Reads the body to its end, or up to the limit.
    async fn body(&mut self, mut body: Incoming, max_bytes: usize) -> (Vec<u8>, End) {
        let mut read = Vec::new();
        loop {
            let frame = poll_fn(|cx| {
                self.move_on(cx);
                Pin::new(&mut body).poll_frame(cx)
            });
            let data = match frame.await {
                None => return (read, End::Whole),
                // Trailers contain nothing that is needed.
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(_)) => {
                    let why = self.seen.broken().map_or(Why::CutShort, |error| Why::broken(&error));
                    return (read, End::Broken(why));
                }
            };
            let room = max_bytes.saturating_sub(read.len());
            read.extend(data.iter().take(room));
            if data.len() > room {
                // The rest is not read, so the connection can't be kept: the rest would be taken for the next answer.
                return (read, End::TooLong);
            }
        }
    }

    /// Returns true if the exchange left nothing behind: the whole request was written, and nothing followed the
    /// answer.
    async fn is_at_rest(&mut self) -> bool {
        poll_fn(|cx| {
            self.move_on(cx);
            Poll::Ready(self.is_ready(cx))
        })
        .await
    }

    fn why(&self, error: &hyper::Error) -> Why {
        if error.is_parse() { Why::NoHttp } else { self.why_ended() }
    }

    fn why_ended(&self) -> Why {
        if let Some(error) = self.seen.broken() {
            return match rustls_error(&error) {
                Some(rustls::Error::AlertReceived(alert)) if refuses_our_certificate(*alert) => {
                    Why::CertificateRefused(*alert)
                }
                Some(_) | None => Why::broken(&error),
            };
        }
        if self.heard_nothing() { Why::Closed } else { Why::CutShort }
    }

    fn failed(&self, why: Why, is_first: bool) -> Failure {
        // A server that accepted an earlier request on this connection had accepted our certificate.
        let is_refused = is_first && matches!(why, Why::CertificateRefused(_));
        Failure { why, may_have_left: self.seen.may_have_left() && !is_refused }
    }
}
