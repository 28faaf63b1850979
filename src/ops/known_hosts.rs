//! Host names under which operators may open their pages.
//!
//! Another site could point its own name here (DNS rebinding), and a browser would then show it the operators' pages.
//! So the pages and everything below `/ops` respond only to names of this machine itself, and to configured ones.

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HOST;

use crate::http::{ApiError, ErrorCode, wordings};
use quita_config::ops_hosts::name_of;

/// Paths that respond under any name: programs request them by whatever address they know.
const FOR_ANYBODY: [&str; 3] = ["/health/live", "/health/ready", "/metrics"];

/// Names under which the pages are shown, besides those of this machine.
#[derive(Clone)]
pub(crate) struct KnownHosts(Arc<[String]>);

impl KnownHosts {
    /// Creates the list from the configured names, in lower case and without a port.
    pub(crate) fn new(hosts: &[String]) -> Self {
        Self(hosts.into())
    }

    /// Admits requests with a known name, and those for paths that allow any name. Refuses all others.
    pub(super) fn check(&self, request: &ServiceRequest) -> Result<(), ApiError> {
        let mut sent = request.headers().get_all(HOST);
        // Two Host headers name no host (RFC 9112, 3.2), so neither of them makes a request known.
        let host = sent.next().filter(|_| sent.next().is_none()).and_then(|host| host.to_str().ok());
        if host.is_some_and(|host| self.has(host)) || FOR_ANYBODY.contains(&request.path()) {
            return Ok(());
        }
        Err(ApiError::new(ErrorCode::MisdirectedRequest, wordings::foreign_host()))
    }

    fn has(&self, host: &str) -> bool {
        let name = name_of(host).to_ascii_lowercase();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        // An IPv4 address in IPv6 form (`::ffff:127.0.0.1`) is this machine as well.
        let is_loopback = bare.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
        name == "localhost" || is_loopback || self.0.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_and_configured_ones_are_known() {
        let hosts = KnownHosts::new(&["ops.example.com".into(), "10.0.0.1".into()]);
        for host in ["localhost", "Localhost:9090", "127.0.0.1:1", "127.1.2.3", "[::1]", "[::1]:9090", "::1"]
        {
            assert!(hosts.has(host), "{host}");
        }
        for host in ["ops.example.com", "OPS.example.com:9090", "10.0.0.1:9090"] {
            assert!(hosts.has(host), "{host}");
        }
    }

    #[test]
    fn no_other_name_is_known_however_it_looks() {
        let hosts = KnownHosts::new(&["ops.example.com".into()]);
        for host in [
            "",
            ":9090",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "127.0.0.1@evil",
            "ops.example.com.evil.example",
            "evil.ops.example.com",
            "localhost:x",
            "[::2]",
            "0.0.0.0",
            "localhost.",
        ] {
            assert!(!hosts.has(host), "{host}");
        }
    }
}
