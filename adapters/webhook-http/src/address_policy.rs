//! Policy of the addresses that may be dialled.

use std::net::IpAddr;

use quita_domain::webhook::address::is_public;

/// Addresses that a webhook may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPolicy {
    /// All of them: for development.
    Any,
    /// Only those of the public internet.
    PublicOnly,
}

impl AddressPolicy {
    /// Judges an address that is about to be dialled.
    pub(super) fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::PublicOnly => is_public(address),
        }
    }
}
