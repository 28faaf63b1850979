//! A receiver's answer, reduced to the part that is read and kept.

use quita_domain::retry_after;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_http_client::header::{CONTENT_ENCODING, RETRY_AFTER};
use quita_http_client::{self as http, End};

use super::failure::Failure;

/// Longest `Retry-After` that is accepted: more than any step of the schedule could use.
const MAX_WAIT_MS: u64 = DAY_MS;

/// Maximum bytes of an answer that are read; for a longer answer, the connection is closed.
pub(super) const MAX_READ_BYTES: usize = 64 * 1024;

/// Maximum characters of an answer that are kept.
const KEPT_CHARACTERS: usize = 256;

/// Bytes that suffice for this many characters of any kind.
const KEPT_BYTES: usize = KEPT_CHARACTERS * 4;

/// A receiver's answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after_ms: Option<u64>,
    /// The first characters; `None` if the body is empty.
    pub(super) beginning: Option<String>,
    /// Reason why the body broke off; the status counts nevertheless.
    pub(super) failure: Option<Failure>,
}

impl Answer {
    /// Returns the part of an answer that is kept.
    pub(super) fn of(answer: &http::Answer, now: Timestamp) -> Self {
        let header = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let wait_ms = header.and_then(|value| retry_after::wait_ms(value, now));
        let failure = match &answer.end {
            // The status decides the delivery, and it was read before the body grew too long.
            End::Whole | End::TooLong => None,
            End::Broken(why) => Some(Failure::of(why)),
        };
        // No content coding was requested; encoded text is not shown.
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

/// Returns the first characters of a text in any encoding. Bytes that are not UTF-8 are replaced.
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
