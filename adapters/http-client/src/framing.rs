//! Framing: the head of an answer decides if its connection may be used again, and for how long.

use std::time::Duration;

use hyper::header::{CONTENT_LENGTH, HeaderMap, HeaderName, TRANSFER_ENCODING};
use hyper::{StatusCode, Version};

use super::failure::Why;

/// Longest time to keep a connection: shorter than the five seconds after which many servers close, so that few
/// requests meet a closed connection.
const LONGEST: Duration = Duration::from_secs(4);

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// Returns the time for which the connection of an answer with this head may be kept after the answer's end; zero if it
/// may not.
///
/// # Errors
/// Fails if the end of the answer, or the form of its body, can't be determined.
pub(crate) fn keep_for(status: StatusCode, version: Version, headers: &HeaderMap) -> Result<Duration, Why> {
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Why::OtherProtocol);
    }
    let has_no_body = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let codings = headers.get_all(TRANSFER_ENCODING);
    let mut codings = codings.iter().map(|coding| coding.as_bytes().trim_ascii());
    let is_coded = match (codings.next(), codings.next()) {
        (None, _) => false,
        // We offered nothing but chunks (RFC 9112, section 7.4).
        (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => true,
        (Some(_), _) if has_no_body => true,
        (Some(_), _) => return Err(Why::OtherCoding),
    };
    let has_two_lengths = is_coded && headers.contains_key(CONTENT_LENGTH);
    // RFC 9112, section 6.3: the chunks count, and a server that sent both gets no further request on this connection.
    // HTTP/1.0 connections are not kept. A body where none is allowed would be read as the next answer.
    let states_a_body = has_no_body && (is_coded || states_length(headers));
    if version != Version::HTTP_11 || has_two_lengths || states_a_body {
        return Ok(Duration::ZERO);
    }
    Ok(offered(headers).map_or(LONGEST, |offered| offered.min(LONGEST)))
}

fn states_length(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_LENGTH).iter().any(|length| length.as_bytes() != b"0")
}

/// Returns the time for which the other side states that it keeps the connection, minus a second for latency; zero if
/// this was the last answer.
fn offered(headers: &HeaderMap) -> Option<Duration> {
    let lines = headers.get_all(KEEP_ALIVE);
    let parameters = lines.iter().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    let offered = parameters.filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value: u64 = value.trim().trim_matches('"').parse().ok()?;
        match name.trim().to_ascii_lowercase().as_str() {
            "timeout" => Some(Duration::from_secs(value.saturating_sub(1))),
            "max" if value == 0 => Some(Duration::ZERO),
            _ => None,
        }
    });
    // If there are several values, the smallest applies: a connection that is kept too long is found closed.
    offered.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(status: u16, version: Version, lines: &[(&'static str, &'static str)]) -> Result<u64, Why> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        keep_for(status, version, &headers).map(|keep_for| keep_for.as_secs())
    }

    #[test]
    fn a_connection_is_kept_only_where_the_next_answer_can_not_be_mistaken() {
        let both = [("transfer-encoding", "chunked"), ("content-length", "2")];
        for (status, version, lines, seconds) in [
            (200, Version::HTTP_11, &[("content-length", "2")][..], Ok(4)),
            (200, Version::HTTP_11, &[("transfer-encoding", "Chunked")][..], Ok(4)),
            (200, Version::HTTP_11, &both[..], Ok(0)),
            (200, Version::HTTP_10, &[("content-length", "2")][..], Ok(0)),
            (204, Version::HTTP_11, &[][..], Ok(4)),
            (204, Version::HTTP_11, &[("content-length", "0")][..], Ok(4)),
            (204, Version::HTTP_11, &[("content-length", "2")][..], Ok(0)),
            (304, Version::HTTP_11, &[("transfer-encoding", "chunked")][..], Ok(0)),
            (200, Version::HTTP_11, &[("transfer-encoding", "gzip, chunked")][..], Err(Why::OtherCoding)),
            (200, Version::HTTP_11, &[("transfer-encoding", "identity")][..], Err(Why::OtherCoding)),
            (101, Version::HTTP_11, &[("upgrade", "h2c")][..], Err(Why::OtherProtocol)),
        ] {
            assert_eq!(kept(status, version, lines), seconds, "{status} {version:?} {lines:?}");
        }
    }

    #[test]
    fn a_server_that_says_how_long_it_waits_is_believed() {
        for (line, seconds) in [
            ("timeout=2", 1),
            ("timeout=60, max=100", 4),
            ("max=0", 0),
            ("timeout=0", 0),
            ("timeout=1", 0),
            ("Timeout = \"3\"", 2),
            ("nonsense", 4),
            ("timeout=soon", 4),
        ] {
            assert_eq!(kept(200, Version::HTTP_11, &[("keep-alive", line)]), Ok(seconds), "{line}");
        }
    }
}
