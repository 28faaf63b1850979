//! TLS of clients: the trusted authorities, and our own certificate.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// Returns the authorities that browsers trust.
pub fn public_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

/// Returns a TLS configuration that trusts these authorities and presents this certificate, if any. It offers only
/// HTTP/1.1.
///
/// # Errors
/// Fails if the cryptography provider offers no safe version of TLS.
pub fn tls(
    roots: RootCertStore,
    identity: Option<Arc<dyn ResolvesClientCert>>,
) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut tls = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder.with_client_cert_resolver(identity),
    };
    // A server that negotiated HTTP/2 would answer in frames that this client does not read.
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}
