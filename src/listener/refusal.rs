//! Responses to malformed requests: no `Host`, two lengths, a length that is not a number, bytes that are not HTTP.
//!
//! The HTTP library refuses these itself, with a bare status and before any of our handlers. Those responses are
//! replaced on their way out, so that every response has our error body and an id.
//!
//! A chunk whose size is not a hexadecimal number (`+2`) gets no response. The library treats it as a client that hung
//! up, and closes the connection in both directions. The request with that body is not processed.

use actix_web::http::StatusCode;

use crate::http::{ApiError, ErrorCode, SAFE_HEADERS, in_fresh_request, wordings};

/// Maximum length of the library's responses, in bytes: a status and three short headers.
const LONGEST: usize = 256;

/// Headers that the library writes by itself. Our own responses have other headers too, at least the request id.
const OWN_HEADERS: [&str; 3] = ["content-length", "connection", "date"];

/// Statuses with which the library refuses requests.
const STATUSES: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::REQUEST_TIMEOUT, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE];

/// Refusal by the library, at the end of its output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LibraryRefusal {
    /// Number of bytes before it: responses to earlier requests on the connection.
    pub(super) starts_at: usize,
    status: StatusCode,
    date: Option<String>,
}

impl LibraryRefusal {
    /// Finds a refusal at the end of these bytes. It is always the last thing sent on a connection.
    pub(super) fn at_end_of(bytes: &[u8]) -> Option<Self> {
        let tail_at = bytes.len().saturating_sub(LONGEST);
        let tail = bytes.get(tail_at..)?;
        tail.strip_suffix(b"\r\n\r\n")?;
        let head_at = tail.windows(7).rposition(|window| window == b"HTTP/1.")?;
        let head = std::str::from_utf8(tail.get(head_at..)?).ok()?;
        let mut lines = head.trim_end().split("\r\n");
        let code: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let status = STATUSES.into_iter().find(|status| status.as_u16() == code)?;
        let headers: Vec<_> = lines.map(|line| line.split_once(": ")).collect::<Option<_>>()?;
        let value = |name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let is_bare = headers.iter().all(|(name, _)| OWN_HEADERS.contains(name));
        // Our responses always have a request id, so a bare head can only be the library's own.
        (is_bare && value("content-length") == Some("0")).then(|| Self {
            starts_at: tail_at.saturating_add(head_at),
            status,
            date: value("date").map(str::to_owned),
        })
    }

    /// Returns the bytes to send in place of the refusal. Logs it at `info` if it `is_told`, otherwise at `debug`.
    pub(super) fn in_our_shape(&self, is_told: bool) -> Vec<u8> {
        in_fresh_request(|id| {
            let error = self.error();
            let body = error.to_json();
            let code = error.code();
            let why = error.message().english();
            if is_told || tracing::enabled!(tracing::Level::DEBUG) {
                let status = self.status.as_u16();
                tracing::info!(request.id = id, status, code, why, "a request was refused");
            }
            let status = self.status;
            let mut head =
                format!("HTTP/1.1 {} {}\r\n", status.as_u16(), status.canonical_reason().unwrap_or("Error"));
            let length = body.len().to_string();
            let headers = [
                ("content-length", length.as_str()),
                ("content-type", "application/json"),
                ("connection", "close"),
                ("x-request-id", id),
                ("cache-control", "no-store"),
            ];
            let date = self.date.as_deref().map(|date| ("date", date));
            for (name, value) in headers.into_iter().chain(date) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            for (name, value) in SAFE_HEADERS {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            format!("{head}\r\n{body}").into_bytes()
        })
    }

    fn error(&self) -> ApiError {
        match self.status {
            StatusCode::REQUEST_TIMEOUT => ApiError::new(ErrorCode::RequestTimeout, wordings::late_head()),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
                ApiError::new(ErrorCode::HeadersTooLarge, wordings::large_head())
            }
            _ => ApiError::new(ErrorCode::UnreadableRequest, wordings::no_http()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "date: Wed, 25 Nov 2026 22:07:11 GMT\r\n";

    fn refusal(status: &str) -> String {
        format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n{DATE}\r\n")
    }

    #[test]
    fn a_bare_refusal_is_found_behind_whatever_stands_before_it() {
        for before in ["", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", &"x".repeat(10_000)] {
            for (status, code) in [
                ("400 Bad Request", 400),
                ("408 Request Timeout", 408),
                ("431 Request Header Fields Too Large", 431),
            ] {
                let bytes = format!("{before}{}", refusal(status));
                let found = LibraryRefusal::at_end_of(bytes.as_bytes()).unwrap();
                assert_eq!((found.starts_at, found.status.as_u16()), (before.len(), code));
            }
        }
    }

    #[test]
    fn no_answer_of_ours_is_taken_for_one() {
        let bare = refusal("400 Bad Request");
        for bytes in [
            bare.replace("\r\n\r\n", "\r\nx-request-id: 7\r\n\r\n"),
            bare.replace("length: 0", "length: 2"),
            bare.replace("400 Bad Request", "200 OK"),
            bare.replace("content-length: 0\r\n", ""),
            format!("{bare}{{}}"),
            bare.trim_end().to_owned(),
            "HTTP/1.1 \r\n\r\n".to_owned(),
            "\r\n\r\n".to_owned(),
            String::new(),
        ] {
            assert_eq!(LibraryRefusal::at_end_of(bytes.as_bytes()), None, "{bytes}");
        }
    }

    #[test]
    fn what_is_sent_in_its_place_has_the_shape_of_errors_and_an_id() {
        let bare = refusal("400 Bad Request");
        let sent = LibraryRefusal::at_end_of(bare.as_bytes()).unwrap().in_our_shape(false);
        let sent = String::from_utf8(sent).unwrap();
        let (head, body) = sent.split_once("\r\n\r\n").unwrap();
        let error: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!((&error["statusCode"], &error["code"]), (&400.into(), &"unreadable_request".into()));
        let id = error["requestId"].as_str().unwrap();
        assert!(!id.is_empty() && head.contains(&format!("\r\nx-request-id: {id}\r\n")), "{head}");
        assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{head}");
        assert!(head.contains(DATE.trim_end()) && head.contains("nosniff"), "{head}");
    }
}
