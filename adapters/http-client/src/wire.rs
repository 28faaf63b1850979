//! The bytes of a connection, and what is known of them: how many went out and came in, and what broke.

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

/// The most that is read at once.
const PIECE: usize = 16 * 1024;

/// Facts about the bytes of the exchange under way.
#[derive(Default)]
pub(crate) struct Seen {
    read: Cell<usize>,
    may_have_left: Cell<bool>,
    /// Asks the operating system itself, before the next reading, whether anything came in the meantime.
    asks_first: Cell<bool>,
    broken: RefCell<Option<io::Error>>,
}

impl Seen {
    /// Another exchange begins.
    pub(crate) fn begin(&self) {
        self.read.set(0);
        self.may_have_left.set(false);
    }

    /// Bytes that came since it began, without those of TLS itself.
    pub(crate) fn read(&self) -> usize {
        self.read.get()
    }

    /// Says whether any byte of the request may have left.
    pub(crate) fn may_have_left(&self) -> bool {
        self.may_have_left.get()
    }

    /// Cause that broke the connection, if anything did.
    pub(crate) fn broken(&self) -> Option<io::Error> {
        self.broken.borrow_mut().take()
    }

    /// Has the next reading ask the operating system first.
    pub(crate) fn ask_first(&self) {
        self.asks_first.set(true);
    }

    /// Says whether that was not done yet.
    pub(crate) fn is_unasked(&self) -> bool {
        self.asks_first.get()
    }

    fn note(&self, error: &io::Error) {
        let mut broken = self.broken.borrow_mut();
        // The first cause is kept, because later ones are only consequences of a socket that is broken already.
        if broken.is_none() {
            *broken = Some(copy(error));
        }
    }
}

/// Errors of sockets can't be cloned; what is asked of them is their kind and the error of TLS.
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
    /// Says whether the socket holds bytes that nobody has read, or its end.
    ///
    /// The runtime learns of them only when it looks, which may be after a request was written. Of TLS these may be
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
                // Many servers close without the goodbye of TLS. A body that states its length is not cut by that
                // unnoticed, nor is JSON.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                read => Poll::Ready(read),
            },
        }
    }
}

/// A socket as the protocol sees it.
pub(crate) struct Wire {
    socket: Socket,
    seen: Rc<Seen>,
    piece: Box<[u8]>,
}

impl Wire {
    pub(crate) fn new(socket: Socket, seen: Rc<Seen>) -> Self {
        Self { socket, seen, piece: vec![0; PIECE].into() }
    }

    /// Notes what a writing came to.
    fn wrote(&self, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &wrote {
            // Handed to the kernel counts as left: nobody can say whether the network took it.
            Poll::Ready(Ok(count)) if *count > 0 => self.seen.may_have_left.set(true),
            Poll::Ready(Err(error)) => {
                self.seen.note(error);
                // A socket that refuses a writing took none of it. TLS may have sent a part before that.
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
        // An answer that waits here belongs to no request of ours, and the next one would take it for its own.
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
