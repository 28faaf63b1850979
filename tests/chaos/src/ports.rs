//! Ports below those that the system assigns to outgoing connections, so that a released one can be bound again.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;

thread_local! {
    static NEXT: Cell<u16> = Cell::new(11_000 + u16::try_from(std::process::id() % 20_000).unwrap_or(0));
}

/// Listens on a free port with five digits.
pub(crate) async fn listen() -> std::io::Result<TcpListener> {
    loop {
        if let Ok(listener) = TcpListener::bind(next()).await {
            return Ok(listener);
        }
    }
}

/// Returns an address that was free a moment ago.
pub(crate) async fn free() -> std::io::Result<SocketAddr> {
    listen().await?.local_addr()
}

fn next() -> SocketAddr {
    let port = NEXT.get();
    NEXT.set(if port >= 32_000 { 11_000 } else { port + 1 });
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}
