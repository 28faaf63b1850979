//! HTTP client of the commands that call a server.

use std::time::Duration;

use awc::error::SendRequestError;
use awc::{Client, Connector};
use rustls::crypto::{CryptoProvider, ring};
use url::Url;

/// Time limit for a whole exchange: longer than the service takes for its slowest call.
const TIME_OUT: Duration = Duration::from_secs(30);

/// Returns a client that follows no redirects, so that a key is sent nowhere else.
pub(super) fn client() -> Client {
    install_cryptography();
    Client::builder().timeout(TIME_OUT).disable_redirects().finish()
}

/// Returns the same client with at most `connections` per host. Requests beyond that wait.
pub(super) fn client_with_connections(connections: usize) -> Client {
    install_cryptography();
    let connector = Connector::new().limit(connections);
    Client::builder().connector(connector).timeout(TIME_OUT).disable_redirects().finish()
}

fn install_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // The client panics without a provider. A failure means that another thread has installed one meanwhile.
        ring::default_provider().install_default().ok();
    }
}

/// Returns the message about a server that can't be reached.
pub(super) fn unreachable(url: &Url, error: &SendRequestError) -> String {
    let why = error.to_string();
    // A plaintext server's answer to TLS is not a TLS message.
    let is_plain = url.scheme() == "https" && why.contains("InvalidContentType");
    let hint = if is_plain { ". It uses http, not https" } else { "" };
    format!("{url} can't be reached: {why}{hint}")
}

/// Reads the URL of a server, for the command line.
pub(super) fn server_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| "must be an http or https URL, such as http://127.0.0.1:8080".into())
}
