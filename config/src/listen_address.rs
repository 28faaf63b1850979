//! Addresses to listen on, in human notation.

use std::net::{Ipv4Addr, SocketAddr};

/// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, or a port alone, `8080` or `:8080`, which means loopback.
pub fn parse_listen_address(text: &str) -> Option<SocketAddr> {
    let port = text.strip_prefix("localhost").unwrap_or(text);
    let has_name = port.len() < text.len();
    match port.strip_prefix(':') {
        Some(port) => on_loopback(port),
        None if has_name => None,
        None => on_loopback(text).or_else(|| text.parse().ok()),
    }
}

/// Reads a port on loopback. A listener that others can reach must be written in full: a port alone never makes one.
fn on_loopback(port: &str) -> Option<SocketAddr> {
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|_| is_number)?;
    Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_loopback() {
        for text in ["8080", ":8080", "localhost:8080", "127.0.0.1:8080"] {
            assert_eq!(parse_listen_address(text), Some("127.0.0.1:8080".parse().unwrap()), "{text}");
        }
        assert_eq!(parse_listen_address("0.0.0.0:80"), Some("0.0.0.0:80".parse().unwrap()));
        assert_eq!(parse_listen_address("[::1]:0"), Some("[::1]:0".parse().unwrap()));
    }

    #[test]
    fn what_names_no_port_or_another_host_is_refused() {
        for text in [
            "",
            ":",
            "localhost",
            "localhost:",
            "localhost8080",
            "99999",
            ":-1",
            "+80",
            "::1",
            "example.com:80",
            "127.0.0.1",
        ] {
            assert_eq!(parse_listen_address(text), None, "{text}");
        }
    }
}
