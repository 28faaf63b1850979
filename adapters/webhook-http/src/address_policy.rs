//! Which addresses may be dialled.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};

use actix_tls::connect::Resolve;
use futures_util::future::LocalBoxFuture;
use quita_domain::webhook::address::is_public;
use thiserror::Error;
use url::{Host, Url};

use super::failure::Failure;

/// Which addresses a webhook may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPolicy {
    /// All of them: for development.
    Any,
    /// Only those of the public internet.
    PublicOnly,
}

impl AddressPolicy {
    /// Checks a URL whose host is an address: such a one is dialled without asking the resolver.
    pub(super) fn check_literal(self, url: &Url) -> Result<(), Failure> {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(_)) | None => return Ok(()),
        };
        if self.allows(address) { Ok(()) } else { Err(Failure::AddressNotAllowed) }
    }

    fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::PublicOnly => is_public(address),
        }
    }
}

/// A name that leads only to addresses that may not be dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no address of this name may be dialled")]
pub(super) struct NotAllowed;

/// Resolves names when a connection is made, and hands out only what may be dialled.
pub(super) struct CheckingResolver(pub(super) AddressPolicy);

impl Resolve for CheckingResolver {
    fn lookup<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> LocalBoxFuture<'a, Result<Vec<SocketAddr>, Box<dyn Error>>> {
        Box::pin(async move {
            // An IPv6 literal comes with its brackets, and comes here because of them.
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.iter().copied().filter(|address| self.0.allows(address.ip())).collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(NotAllowed.into());
            }
            Ok(allowed)
        })
    }
}
