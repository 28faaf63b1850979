//! A listener that cannot be bound.

use std::io;
use std::net::SocketAddr;

/// Says what is wrong with an address, and which option names it.
pub(crate) fn cannot_listen(option: &str, address: SocketAddr, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot listen on {address}: {error}; choose another address with {option}")
}
