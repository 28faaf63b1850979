//! Valid values of `Host`: `host` or `host:port`, as defined in RFC 3986 (sections 3.2.2, 3.2.3).
//!
//! The HTTP library refuses HTTP/1.1 requests without `Host` and those with two, but does not validate the value.

use std::net::Ipv6Addr;

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HOST;

use super::errors::{ApiError, ErrorCode, wordings};

/// Characters of a name besides letters, digits and `%`: `unreserved` and `sub-delims` of RFC 3986.
const OF_NAMES: &[u8] = b"-._~!$&'()*+,;=";

/// Refuses a request with an invalid `Host`, or an invalid host in its address (RFC 9112, section 3.2).
pub(crate) fn check_host(request: &ServiceRequest) -> Result<(), ApiError> {
    let named = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    let sent = request.headers().get_all(HOST).map(|host| host.as_bytes());
    if sent.chain(named).all(is_host_and_port) {
        return Ok(());
    }
    Err(ApiError::new(ErrorCode::UnreadableRequest, wordings::bad_host()))
}

/// Returns true if this is a host, with or without a port. A client that has no host to name sends an empty one.
fn is_host_and_port(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    if let Some(literal) = text.strip_prefix('[') {
        let Some((address, rest)) = literal.split_once(']') else { return false };
        let is_port_or_nothing = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        return address.parse::<Ipv6Addr>().is_ok() && is_port_or_nothing;
    }
    let (name, port) = text.split_once(':').unwrap_or((text, ""));
    is_name(name.as_bytes()) && is_port(port)
}

/// Returns true if these are the digits of a port, or an empty text.
fn is_port(text: &str) -> bool {
    text.is_empty() || (text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok())
}

fn is_name(mut text: &[u8]) -> bool {
    loop {
        text = match text {
            [] => return true,
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            [byte, rest @ ..] if byte.is_ascii_alphanumeric() || OF_NAMES.contains(byte) => rest,
            [..] => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_ports_are_hosts() {
        for host in [
            "",
            "localhost",
            "api.example.com",
            "api.example.com.",
            "API.example.com:443",
            "api_1.example.com",
            "xn--caf-dma.example:8080",
            "127.0.0.1:8080",
            "a:",
            "a:65535",
            "%41.example",
            "[::1]",
            "[::1]:8080",
            "[2001:db8::7]:",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_host_and_port(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn nothing_else_is_one() {
        for host in [
            "x y/z@",
            "x y",
            "a/b",
            "user@a",
            "user:password@a",
            "a?b",
            "a#b",
            "a\\b",
            "a\tb",
            "a:b",
            "a:80:80",
            "a:65536",
            "a:-1",
            "a:+1",
            "http://a",
            "::1",
            "[::1",
            "[::1]8080",
            "[::1]:x",
            "[]",
            "[a]",
            "[127.0.0.1]",
            "[fe80::1%25eth0]",
            "%4",
            "%zz",
            "a<b>",
            "\"a\"",
            "caf\u{e9}.example",
        ] {
            assert!(!is_host_and_port(host.as_bytes()), "{host}");
        }
        assert!(!is_host_and_port(b"a\xff"));
    }
}
