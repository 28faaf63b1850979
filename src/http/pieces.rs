//! Long answers, handed to the connection in pieces.
//!
//! The HTTP library copies everything it is given of a body into the connection's buffer. A client that reads nothing
//! would keep a copy of a long page in memory for as long as a connection may wait. With pieces there are only a few of
//! them: the library asks for the next one when there is room.

use std::convert::Infallible;

use actix_web::body::{BodySize, BoxBody, MessageBody, SizedStream};
use futures_util::stream;

/// Size of a piece in bytes. The library takes two to four of them at once.
const PIECE: usize = 8 * 1024;

/// Cuts a long body into pieces, and returns any other body unchanged.
pub(super) fn in_pieces(body: BoxBody) -> BoxBody {
    if is_long(body.size()) { cut(body) } else { body }
}

/// Returns true for more bytes than a piece has. A stream has no size, and already comes in pieces.
fn is_long(size: BodySize) -> bool {
    match size {
        BodySize::Sized(length) => usize::try_from(length).is_ok_and(|length| length > PIECE),
        BodySize::None | BodySize::Stream => false,
    }
}

/// Cuts a body into pieces. Nothing is copied: each piece is a part of the whole.
fn cut(body: BoxBody) -> BoxBody {
    let whole = match body.try_into_bytes() {
        Ok(whole) => whole,
        Err(body) => return body,
    };
    let length = whole.len();
    let pieces = (0..length).step_by(PIECE).map(move |from| {
        let until = from.saturating_add(PIECE).min(length);
        Ok::<_, Infallible>(whole.slice(from..until))
    });
    let size = u64::try_from(length).unwrap_or(u64::MAX);
    BoxBody::new(SizedStream::new(size, stream::iter(pieces)))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;

    use super::*;

    /// Sizes of the pieces of an answer, and the answer.
    async fn served(length: usize) -> (BodySize, Vec<usize>, Vec<u8>) {
        let text: Vec<u8> = (0..length).map(|place| b'a' + u8::try_from(place % 26).unwrap()).collect();
        let mut body = in_pieces(BoxBody::new(text));
        let size = body.size();
        let (mut sizes, mut whole) = (Vec::new(), Vec::new());
        while let Some(piece) = poll_fn(|context| Pin::new(&mut body).poll_next(context)).await {
            let piece = piece.unwrap();
            sizes.push(piece.len());
            whole.extend_from_slice(&piece);
        }
        (size, sizes, whole)
    }

    #[tokio::test]
    async fn a_long_answer_comes_in_pieces_and_is_the_same() {
        let length = 3 * PIECE + 5;
        let (size, sizes, whole) = served(length).await;
        assert_eq!(size, BodySize::Sized(u64::try_from(length).unwrap()));
        assert_eq!(sizes, [PIECE, PIECE, PIECE, 5]);
        assert!(whole.iter().enumerate().all(|(place, byte)| usize::from(byte - b'a') == place % 26));
    }

    #[tokio::test]
    async fn a_short_answer_is_one_piece() {
        for length in [1, PIECE] {
            assert_eq!(served(length).await.1, [length]);
        }
    }
}
