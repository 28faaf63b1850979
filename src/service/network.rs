//! Which addresses one person has.

use std::net::IpAddr;

/// The network that counts as one address: who has one IPv6 address has the other 2^64 of its network too.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        IpAddr::V4(address) => IpAddr::V4(address),
    }
}
