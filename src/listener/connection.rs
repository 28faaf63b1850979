//! Accepted connection, with deadlines that apply to any protocol.
//!
//! HTTP's own deadlines cover the first head, and idle connections. These cover the rest: a client that reads nothing
//! of its response, and one that keeps sending without completing a request. The latter may send an endless head, or a
//! body that nobody reads.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::places::ConnectionSlot;
use super::refusal::LibraryRefusal;

/// Time for which a client may read nothing of the data that is ready for it.
const TAKE_TIME_OUT: Duration = Duration::from_secs(30);
/// Time for which a connection may live without anything to send. It exceeds the duration of any request, and the pause
/// between two keep-alive messages of a live page.
const SILENCE_TIME_OUT: Duration = Duration::from_secs(120);

/// Stream that can be reset instead of closed.
pub(super) trait Cut {
    /// Makes the stream end with a reset: unsent bytes are dropped.
    fn cut(&self);
}

impl Cut for TcpStream {
    fn cut(&self) {
        cut(self);
    }
}

/// Makes a stream end with a reset. If that fails, it is closed as usual, and the system keeps the unsent bytes.
pub(super) fn cut(stream: &TcpStream) {
    drop(stream.set_zero_linger());
}

/// Stream that ends if its client takes too long.
pub(super) struct Connection<S> {
    stream: S,
    /// Timer that expires if the client reads nothing; absent while it reads.
    untaken: Option<Pin<Box<Sleep>>>,
    sent_at: Instant,
    /// Timer for the next check of `sent_at`.
    silence: Pin<Box<Sleep>>,
    /// Bytes to send in place of a bare refusal, once there is one.
    refused: Option<Replacement>,
    /// True if a refusal is logged at `info`.
    tells_refusals: bool,
    _place: ConnectionSlot,
}

/// Bytes that are sent in place of others.
struct Replacement {
    bytes: Vec<u8>,
    sent: usize,
}

impl<S: Cut> Connection<S> {
    pub(super) fn new(stream: S, place: ConnectionSlot, tells_refusals: bool) -> Self {
        let silence = Box::pin(sleep(SILENCE_TIME_OUT));
        Self {
            stream,
            untaken: None,
            sent_at: Instant::now(),
            silence,
            refused: None,
            tells_refusals,
            _place: place,
        }
    }

    fn check_silence(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        // The timer is moved only when it expires: a write costs a clock read, but no timer operation (decision 20).
        while self.silence.as_mut().poll(context).is_ready() {
            let Some(end) = self.sent_at.checked_add(SILENCE_TIME_OUT).filter(|end| *end > Instant::now())
            else {
                return Err(self.time_out());
            };
            self.silence.set(sleep_until(end));
        }
        Ok(())
    }

    fn time_out(&self) -> io::Error {
        // Unsent bytes are dropped with the connection; otherwise the kernel would keep them for a client that reads
        // nothing.
        self.stream.cut();
        io::ErrorKind::TimedOut.into()
    }
}

impl<S: AsyncRead + Cut + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.check_silence(context)?;
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Cut + Unpin> Connection<S> {
    /// Sends bytes unchanged.
    fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(written) => {
                (self.untaken, self.sent_at) = (None, Instant::now());
                Poll::Ready(written)
            }
            Poll::Pending => {
                let untaken = self.untaken.get_or_insert_with(|| Box::pin(sleep(TAKE_TIME_OUT)));
                // The timer starts when the client reads nothing, and is cleared by any byte, so slow clients are
                // served.
                ready!(untaken.as_mut().poll(context));
                Poll::Ready(Err(self.time_out()))
            }
        }
    }

    /// Sends a whole replacement. Then reports as many bytes as written as it replaces.
    fn poll_replace(
        &mut self,
        context: &mut Context<'_>,
        mut replacement: Replacement,
        stands_for: usize,
    ) -> Poll<io::Result<usize>> {
        while let Some(left @ [_, ..]) = replacement.bytes.get(replacement.sent..) {
            match self.poll_send(context, left) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(sent)) => replacement.sent = replacement.sent.saturating_add(sent),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    self.refused = Some(replacement);
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(stands_for))
    }
}

impl<S: AsyncWrite + Cut + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Some(replacement) = this.refused.take() {
            return this.poll_replace(context, replacement, bytes.len());
        }
        match LibraryRefusal::at_end_of(bytes) {
            None => this.poll_send(context, bytes),
            Some(refusal) if refusal.starts_at == 0 => {
                let replacement = Replacement { bytes: refusal.in_our_shape(this.tells_refusals), sent: 0 };
                this.poll_replace(context, replacement, bytes.len())
            }
            // The HTTP library then writes the refusal again, complete and on its own.
            Some(refusal) => this.poll_send(context, bytes.get(..refusal.starts_at).unwrap_or(bytes)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.check_silence(context)?;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::super::places::{ConnectionLimits, Places};
    use super::*;

    impl Cut for DuplexStream {
        fn cut(&self) {}
    }

    /// Makes a connection and its client, with a buffer of ten bytes between them.
    fn connected() -> (Connection<DuplexStream>, DuplexStream, Places) {
        let places = Places::uncounted(ConnectionLimits { all: 1, of_one: 1 });
        let place = places.take(IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
        let (stream, client) = duplex(10);
        (Connection::new(stream, place, false), client, places)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_of_its_answer_is_cut_and_its_place_is_free() {
        let (mut connection, client, places) = connected();
        let begun = Instant::now();
        let error = connection.write_all(&[7; 100]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed()), (io::ErrorKind::TimedOut, TAKE_TIME_OUT));
        assert!(places.take(IpAddr::V4(Ipv4Addr::LOCALHOST)).is_none());
        drop((connection, client));
        assert!(places.take(IpAddr::V4(Ipv4Addr::LOCALHOST)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_its_answer_slowly_gets_all_of_it() {
        let (mut connection, mut client, _places) = connected();
        let begun = Instant::now();
        let sending = tokio::spawn(async move { connection.write_all(&[7; 100]).await });
        let mut taken = [0; 10];
        for _ in 0..10 {
            tokio::time::sleep(TAKE_TIME_OUT - Duration::from_secs(1)).await;
            client.read_exact(&mut taken).await.unwrap();
        }
        assert!(sending.await.unwrap().is_ok());
        assert!(begun.elapsed() > TAKE_TIME_OUT * 9);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bare_refusal_goes_out_in_our_shape_behind_the_answers_before_it() {
        let (mut connection, mut client, _places) = connected();
        let before = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        let bytes = format!("{before}HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        let sending = tokio::spawn(async move { connection.write_all(bytes.as_bytes()).await });
        let mut taken = Vec::new();
        client.read_to_end(&mut taken).await.unwrap();
        assert!(sending.await.unwrap().is_ok());
        let taken = String::from_utf8(taken).unwrap();
        let refused = taken.strip_prefix(before).unwrap();
        assert!(refused.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{refused}");
        assert!(refused.ends_with('}') && refused.contains("unreadable_request"), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_only_sends_is_cut_however_much_it_sends() {
        let (mut connection, mut client, _places) = connected();
        let begun = Instant::now();
        tokio::spawn(async move {
            while client.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let mut read = 0;
        let mut buffer = [0; 10];
        let error = loop {
            match connection.read(&mut buffer).await {
                Ok(length) => read += length,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(read > 100 && begun.elapsed() <= SILENCE_TIME_OUT + Duration::from_secs(1), "{read}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_with_signs_of_life_goes_on_for_as_long_as_it_is_read() {
        let (mut connection, mut client, _places) = connected();
        let watching = tokio::spawn(async move {
            let mut read = 0;
            let mut buffer = [0; 10];
            while let Ok(length @ 1..) = client.read(&mut buffer).await {
                read += length;
            }
            read
        });
        for _ in 0..100 {
            let quiet = Duration::from_secs(40);
            let nothing = tokio::time::timeout(quiet, connection.read(&mut [0; 1])).await;
            assert!(nothing.is_err(), "{nothing:?}");
            connection.write_all(b": alive\n\n").await.unwrap();
            connection.flush().await.unwrap();
        }
        drop(connection);
        assert_eq!(watching.await.unwrap(), 900);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_happens_ends_too() {
        let (mut connection, _client, _places) = connected();
        let begun = Instant::now();
        let error = connection.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed()), (io::ErrorKind::TimedOut, SILENCE_TIME_OUT));
    }
}
