//! The HTTP client of the commands that call a server.

use std::time::Duration;

use awc::{Client, Connector};
use rustls::crypto::{CryptoProvider, ring};
use url::Url;

/// Time for a whole exchange: longer than the service takes to answer the slowest call.
const TIME_OUT: Duration = Duration::from_secs(30);

/// A client that follows no redirects, so that a key goes nowhere else.
pub(super) fn client() -> Client {
    install_cryptography();
    Client::builder().timeout(TIME_OUT).disable_redirects().finish()
}

/// The same with at most N connections to a host. A request that needs one more waits.
pub(super) fn client_with_connections(connections: usize) -> Client {
    install_cryptography();
    let connector = Connector::new().limit(connections);
    Client::builder().connector(connector).timeout(TIME_OUT).disable_redirects().finish()
}

fn install_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // The client panics without one. If this fails another thread was faster, and there is one.
        ring::default_provider().install_default().ok();
    }
}

/// Reads the URL of a server, for the command line.
pub(super) fn server_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| "an http or https URL is allowed, such as http://127.0.0.1:8080".into())
}
