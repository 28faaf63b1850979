//! Address of the client of a request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Once;

use actix_web::HttpRequest;

/// Header in which a proxy names the client's address. The proxy's own entry is the last one.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Returns the address of the client: the peer's, or the one that the proxy in front reports. A mismatch with
/// `behind-proxy` is logged once: an unexpected header, or a missing one.
pub(crate) fn address_of(request: &HttpRequest, is_behind_proxy: bool) -> IpAddr {
    static UNTOLD: Once = Once::new();
    static MISSING: Once = Once::new();
    let header = request.headers().get_all(FORWARDED_FOR).last();
    match (is_behind_proxy, header) {
        (false, Some(_)) => UNTOLD.call_once(|| {
            tracing::warn!(
                "requests carry X-Forwarded-For, which is not trusted: if a proxy adds it, set behind-proxy = true, or \
                 all clients share the proxy's address and limits"
            );
        }),
        (true, None) => MISSING.call_once(|| {
            tracing::warn!(
                "behind-proxy is true, but a request came without X-Forwarded-For: have the proxy add it, and let only \
                 the proxy reach this listener"
            );
        }),
        (false, None) | (true, Some(_)) => {}
    }
    // The last entry is the proxy's own. Everything before it was sent by the client, and may be forged.
    let forwarded = || parse(header?.to_str().ok()?.rsplit(',').next()?.trim());
    is_behind_proxy.then(forwarded).flatten().unwrap_or_else(|| peer_of(request))
}

/// Returns the address of the connected peer.
pub(crate) fn peer_of(request: &HttpRequest) -> IpAddr {
    request.peer_addr().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip())
}

/// Parses an address, perhaps with a port, as some proxies write it: `192.0.2.7:51234`, `[2001:db8::7]:51234`.
fn parse(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(entry);
    bare.parse().ok().or_else(|| entry.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_last_entry_is_read_with_and_without_a_port() {
        for (header, expected) in [
            ("203.0.113.66, 198.51.100.7", "198.51.100.7"),
            ("203.0.113.66,198.51.100.7:51234", "198.51.100.7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("[2001:db8::7]:51234", "2001:db8::7"),
            ("198.51.100.7, unknown", "192.0.2.1"),
            ("198.51.100.7,", "192.0.2.1"),
        ] {
            let request = TestRequest::default()
                .insert_header((FORWARDED_FOR, header))
                .peer_addr("192.0.2.1:80".parse().unwrap())
                .to_http_request();
            assert_eq!(address_of(&request, true).to_string(), expected, "{header}");
            assert_eq!(address_of(&request, false).to_string(), "192.0.2.1");
        }
    }
}
