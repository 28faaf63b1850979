//! TLS of clients: whom they believe, and who they are.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// The authorities that browsers believe.
pub fn public_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

/// TLS that believes these authorities and shows this certificate, if any. Offers HTTP/1.1 alone.
///
/// # Errors
/// If the cryptography offers no version of TLS that is safe.
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
