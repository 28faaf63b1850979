//! Connections that are kept between webhooks, and how few they are.

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

use actix_tls::connect::{Connector as TcpConnector, Resolver};
use awc::http::Version;
use awc::{Client, Connector};
use rustls::crypto::{CryptoProvider, ring};
use url::Url;

use super::address_policy::{AddressPolicy, CheckingResolver};

/// Receivers whose connections one sender keeps open.
const MAX_RECEIVERS: usize = 16;

/// Exchanges of one sender at once; more wait for their turn inside their time-out.
const MAX_EXCHANGES: usize = 64;

/// Shorter than the five seconds after which many servers close, so that few requests meet a closing door.
const KEEP_ALIVE: Duration = Duration::from_secs(4);

/// A bounded set of connections.
///
/// The client lets go of an idle connection only when the same receiver is asked again, so with ever new
/// receivers it would keep them all; when it knows too many it is replaced, and what it held is closed.
pub(super) struct Connections {
    policy: AddressPolicy,
    time_out: Duration,
    current: RefCell<Current>,
}

struct Current {
    client: Client,
    receivers: HashSet<String>,
}

impl Connections {
    pub(super) fn new(policy: AddressPolicy, time_out: Duration) -> Self {
        let current = Current { client: client(policy, time_out), receivers: HashSet::new() };
        Self { policy, time_out, current: RefCell::new(current) }
    }

    /// The client for a request to this URL.
    pub(super) fn client_for(&self, url: &Url) -> Client {
        let mut current = self.current.borrow_mut();
        if !current.receivers.contains(url.authority()) {
            if current.receivers.len() >= MAX_RECEIVERS {
                *current = Current { client: client(self.policy, self.time_out), receivers: HashSet::new() };
            }
            current.receivers.insert(url.authority().to_owned());
        }
        current.client.clone()
    }
}

fn client(policy: AddressPolicy, time_out: Duration) -> Client {
    if CryptoProvider::get_default().is_none() {
        // The client panics without one. If this fails another thread was faster, and there is one.
        ring::default_provider().install_default().ok();
    }
    let tcp = TcpConnector::new(Resolver::custom(CheckingResolver(policy)));
    // The steps get the time of the whole, which is cut where it is known: around the exchange.
    let connector = Connector::new()
        .connector(tcp.service())
        .timeout(time_out)
        .handshake_timeout(time_out)
        .conn_keep_alive(KEEP_ALIVE)
        .limit(MAX_EXCHANGES);
    Client::builder()
        .connector(connector)
        .max_http_version(Version::HTTP_11)
        .no_default_headers()
        .disable_redirects()
        .disable_timeout()
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ever_new_receivers_do_not_add_up() {
        let connections = Connections::new(AddressPolicy::Any, Duration::from_secs(1));
        for number in 0..1000 {
            let url = Url::parse(&format!("http://receiver-{number}.example/")).unwrap();
            drop(connections.client_for(&url));
            assert!(connections.current.borrow().receivers.len() <= MAX_RECEIVERS);
        }
        let url = Url::parse("http://receiver-999.example/other").unwrap();
        drop(connections.client_for(&url));
        assert!(connections.current.borrow().receivers.contains("receiver-999.example"));
    }
}
