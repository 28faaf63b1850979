//! Policy for the addresses that may be dialled.

use std::net::IpAddr;

use quita_domain::webhook::address::is_public;

/// Addresses that a webhook may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPolicy {
    /// All addresses: for development.
    Any,
    /// Only addresses of the public internet.
    PublicOnly,
}

impl AddressPolicy {
    /// Checks an address that is about to be dialled.
    pub(super) fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::PublicOnly => is_public(address),
        }
    }
}
