//! Where a request comes from.

use std::net::IpAddr;

use actix_web::HttpRequest;

/// The header in which a proxy names the client's address; its own entry is the last.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client: the peer, or what the proxy in front says.
pub(crate) fn address_of(request: &HttpRequest, is_behind_proxy: bool) -> IpAddr {
    let forwarded = || {
        let header = request.headers().get_all(FORWARDED_FOR).last()?.to_str().ok()?;
        header.rsplit(',').next()?.trim().parse().ok()
    };
    is_behind_proxy.then(forwarded).flatten().unwrap_or_else(|| peer_of(request))
}

/// Who is connected.
pub(crate) fn peer_of(request: &HttpRequest) -> IpAddr {
    request.peer_addr().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip())
}
