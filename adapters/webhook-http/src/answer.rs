//! A receiver's answer, as far as it is read and kept.

use quita_domain::retry_after;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_http_client::header::{CONTENT_ENCODING, RETRY_AFTER};
use quita_http_client::{self as http, End};

use super::failure::Failure;

/// The longest `Retry-After` that is believed: more than any step of the schedule could use.
const MAX_WAIT_MS: u64 = DAY_MS;

/// Bytes of an answer that are read; the rest is cut off together with the connection.
pub(super) const MAX_READ_BYTES: usize = 64 * 1024;

/// Characters of an answer that are kept.
const KEPT_CHARACTERS: usize = 256;

/// Bytes that hold as many characters, whichever they are.
const KEPT_BYTES: usize = KEPT_CHARACTERS * 4;

/// A receiver's answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after_ms: Option<u64>,
    /// The first characters; `None` when it is empty.
    pub(super) beginning: Option<String>,
    /// The body broke off; the status stands nevertheless.
    pub(super) failure: Option<Failure>,
}

impl Answer {
    /// Part that is kept of an answer.
    pub(super) fn of(answer: &http::Answer, now: Timestamp) -> Self {
        let header = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let wait_ms = header.and_then(|value| retry_after::wait_ms(value, now));
        let failure = match &answer.end {
            // The status decides about a delivery, and it was read before the body grew too long.
            End::Whole | End::TooLong => None,
            End::Broken(why) => Some(Failure::of(why)),
        };
        // Nobody asked for a coding; what one made of the words is not shown.
        let codings = answer.headers.get_all(CONTENT_ENCODING);
        let is_plain = codings.iter().all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"));
        let bytes = answer.body.get(..KEPT_BYTES).unwrap_or(&answer.body);
        Self {
            status: answer.status,
            retry_after_ms: wait_ms.map(|ms| ms.min(MAX_WAIT_MS)),
            beginning: beginning(bytes).filter(|_| is_plain),
            failure,
        }
    }
}

/// The first characters of a text in whatever encoding; what is no UTF-8 is replaced.
fn beginning(bytes: &[u8]) -> Option<String> {
    let text: String = String::from_utf8_lossy(bytes).chars().take(KEPT_CHARACTERS).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut() {
        for character in ["a", "é", "漢", "😀"] {
            let text = character.repeat(300);
            let bytes: Vec<u8> = text.bytes().take(KEPT_BYTES).collect();
            assert_eq!(beginning(&bytes), Some(character.repeat(256)), "{character}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_nothing_is_nothing() {
        assert_eq!(beginning(b"ol\xe1"), Some("ol\u{fffd}".to_owned()));
        assert_eq!(beginning(b""), None);
    }
}
