//! The bytes of a connection, and the facts about them: how many went out and came in, and what broke.

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Maximum number of bytes that are read at once.
const PIECE: usize = 16 * 1024;

/// Facts about the bytes of the exchange under way.
#[derive(Default)]
pub(crate) struct Seen {
    read: Cell<usize>,
    may_have_left: Cell<bool>,
    /// True if the next read first asks the operating system whether anything has arrived meanwhile.
    asks_first: Cell<bool>,
    broken: RefCell<Option<io::Error>>,
}

impl Seen {
    /// Begins another exchange.
    pub(crate) fn begin(&self) {
        self.read.set(0);
        self.may_have_left.set(false);
    }

    /// Returns the bytes that have arrived since the exchange began, without those of TLS itself.
    pub(crate) fn read(&self) -> usize {
        self.read.get()
    }

    /// Returns true if any byte of the request may have left.
    pub(crate) fn may_have_left(&self) -> bool {
        self.may_have_left.get()
    }

    /// Returns the cause that broke the connection, if any.
    pub(crate) fn broken(&self) -> Option<io::Error> {
        self.broken.borrow_mut().take()
    }

    /// Makes the next read ask the operating system first.
    pub(crate) fn ask_first(&self) {
        self.asks_first.set(true);
    }

    /// Returns true if this has not been done yet.
    pub(crate) fn is_unasked(&self) -> bool {
        self.asks_first.get()
    }

    fn note(&self, error: &io::Error) {
        let mut broken = self.broken.borrow_mut();
        // The first cause is kept: later ones are only consequences of the broken socket.
        if broken.is_none() {
            *broken = Some(copy(error));
        }
    }
}

/// Copies a socket error, which can't be cloned. Only its kind and its TLS error are needed.
fn copy(error: &io::Error) -> io::Error {
    match super::failure::rustls_error(error) {
        Some(tls) => io::Error::new(error.kind(), tls.clone()),
        None => error.kind().into(),
    }
}

/// A connected socket.
pub(crate) enum Socket {
    Plain(TcpStream),
    Secured(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// Returns true if the socket has unread bytes, or has reached its end.
    ///
    /// The runtime only notices them when it polls, which may be after a request was written. With TLS these may be
    /// bytes of its own, such as a ticket; such a connection is not used again either.
    fn holds_something(&self) -> bool {
        let tcp = match self {
            Self::Plain(tcp) => tcp,
            Self::Secured(tls) => tls.get_ref().0,
        };
        let mut byte = [MaybeUninit::uninit()];
        let peeked = SockRef::from(tcp).peek(&mut byte);
        !matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Self::Secured(tls) => match ready!(Pin::new(tls).poll_read(cx, buffer)) {
                // Many servers close without TLS's `close_notify`. This can't cut a body with a stated length
                // unnoticed, nor JSON.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                read => Poll::Ready(read),
            },
        }
    }
}

/// A socket in the form that the protocol needs.
pub(crate) struct Wire {
    socket: Socket,
    seen: Rc<Seen>,
    piece: Box<[u8]>,
}

impl Wire {
    pub(crate) fn new(socket: Socket, seen: Rc<Seen>) -> Self {
        Self { socket, seen, piece: vec![0; PIECE].into() }
    }

    /// Records the outcome of a write.
    fn wrote(&self, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &wrote {
            // Bytes handed to the kernel count as left: nobody can tell if the network took them.
            Poll::Ready(Ok(count)) if *count > 0 => self.seen.may_have_left.set(true),
            Poll::Ready(Err(error)) => {
                self.seen.note(error);
                // A socket that refuses a write took none of it. TLS may have sent a part before.
                if matches!(self.socket, Socket::Secured(_)) {
                    self.seen.may_have_left.set(true);
                }
            }
            Poll::Ready(Ok(_)) | Poll::Pending => {}
        }
        wrote
    }
}

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        // Bytes that wait here belong to no request of ours, and the next request would take them for its answer.
        if this.seen.asks_first.take() && this.socket.holds_something() {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let room = buffer.remaining().min(this.piece.len());
        let Some(piece) = this.piece.get_mut(..room) else { return Poll::Ready(Ok(())) };
        let mut piece = ReadBuf::new(piece);
        if let Err(error) = ready!(this.socket.poll_read(cx, &mut piece)) {
            this.seen.note(&error);
            return Poll::Ready(Err(error));
        }
        let came = piece.filled();
        this.seen.read.set(this.seen.read.get().saturating_add(came.len()));
        buffer.put_slice(came);
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Socket::Secured(tls) => Pin::new(tls).poll_write(cx, bytes),
        };
        self.wrote(wrote)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Socket::Secured(tls) => Pin::new(tls).poll_flush(cx),
        };
        if let Poll::Ready(Err(error)) = &flushed {
            self.seen.note(error);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Socket::Secured(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, bytes),
            Socket::Secured(tls) => Pin::new(tls).poll_write_vectored(cx, bytes),
        };
        self.wrote(wrote)
    }
}
