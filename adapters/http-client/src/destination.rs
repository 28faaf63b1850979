//! Destinations: the target of a connection, and the request in the form in which it is written there.

use http_body_util::Full;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Uri, Version};

use super::Request;
use super::connection::Outgoing;

/// Key of kept connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    pub(crate) is_secured: bool,
    /// A name, or an address without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port for the `Host` header.
    named: HeaderValue,
}

impl Destination {
    /// Reads an address; `None` if it can't be reached by HTTP.
    pub(crate) fn of(uri: &Uri) -> Option<Self> {
        let is_secured = match uri.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let usual_port = if is_secured { 443 } else { 80 };
        let authority = uri.authority()?;
        let name = authority.host();
        let port = authority.port_u16().unwrap_or(usual_port);
        let host = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        if host.is_empty() {
            return None;
        }
        let named = if port == usual_port { name.to_owned() } else { format!("{name}:{port}") };
        let named = HeaderValue::try_from(named).ok()?;
        // Host names are case-insensitive (RFC 9110, section 4.2.3), so one host keeps one set of connections.
        Some(Self { is_secured, host: host.to_ascii_lowercase(), port, named })
    }

    /// Returns the request in the form in which it is written.
    pub(crate) fn prepare(&self, request: &Request) -> Option<Prepared> {
        let path = request.uri.path_and_query()?.as_str();
        let mut written = hyper::Request::new(());
        *written.version_mut() = Version::HTTP_11;
        *written.method_mut() = request.method.clone();
        *written.uri_mut() = path.parse().ok()?;
        written.headers_mut().insert(HOST, self.named.clone());
        written.headers_mut().extend(request.headers.clone());
        // Servers refuse a `PUT` without a length.
        let takes_body = matches!(request.method, Method::POST | Method::PUT | Method::PATCH);
        if takes_body && request.body.is_empty() {
            written.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let (head, ()) = written.into_parts();
        Some(Prepared { head, body: request.body.clone() })
    }
}

/// A request that can be written more than once.
#[derive(Clone)]
pub(crate) struct Prepared {
    head: Parts,
    body: bytes::Bytes,
}

impl Prepared {
    pub(crate) fn into_outgoing(self) -> Outgoing {
        hyper::Request::from_parts(self.head, Full::new(self.body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(uri: &str) -> Option<(bool, String, u16, String)> {
        let destination = Destination::of(&uri.parse().ok()?)?;
        let named = destination.named.to_str().unwrap().to_owned();
        Some((destination.is_secured, destination.host, destination.port, named))
    }

    #[test]
    fn an_address_tells_where_to_dial_and_what_to_call_it() {
        for (uri, secured, host, port, named) in [
            ("http://a.example/x", false, "a.example", 80, "a.example"),
            ("https://A.example:443/x?y=1", true, "a.example", 443, "A.example"),
            ("https://a.example:8443", true, "a.example", 8443, "a.example:8443"),
            ("http://[::1]:80/", false, "::1", 80, "[::1]"),
            ("http://127.0.0.1:8080/", false, "127.0.0.1", 8080, "127.0.0.1:8080"),
            ("https://user:secret@a.example/", true, "a.example", 443, "a.example"),
        ] {
            assert_eq!(read(uri), Some((secured, host.into(), port, named.into())), "{uri}");
        }
        for uri in ["/x", "a.example", "ftp://a.example/", "http://:80/"] {
            assert_eq!(read(uri), None, "{uri}");
        }
    }
}
