//! Identity and trust in a handshake: certificates and keys, as their PEM files contain them.

use std::fmt;
use std::sync::Arc;

use quita_domain::time::Timestamp;
use rustls::crypto::ring;
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::Decode;

/// Our certificate with its chain, and its key, which prove our identity in a handshake (mutual TLS).
#[derive(Clone)]
pub struct ClientIdentity {
    key: Arc<CertifiedKey>,
    /// Key that is compared to tell identities apart.
    private: Arc<PrivateKeyDer<'static>>,
    until: Option<Timestamp>,
}

impl ClientIdentity {
    /// Reads a certificate, followed by its chain, and the certificate's key.
    ///
    /// # Errors
    /// Fails if one of the two can't be read, or they do not match. The error reveals nothing of their content.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let chain = read_certificates(certificates).map_err(IdentityError::Certificate)?;
        let private = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
            // A key with a password has another PEM label (RFC 7468, section 11), and the reader skips it as if it were
            // not there.
            let is_locked = matches!(error, pem::Error::NoItemsFound) && is_encrypted(key);
            if is_locked {
                IdentityError::KeyEncrypted
            } else {
                IdentityError::Key(pem_error(&error, "private key"))
            }
        })?;
        let until = chain.first().and_then(end_of);
        let certified = CertifiedKey::from_der(chain, private.clone_key(), &ring::default_provider());
        let certified = certified.map_err(|error| of_no_use(&error))?;
        Ok(Self { key: Arc::new(certified), private: Arc::new(private), until })
    }

    /// Returns the expiry of the certificate, if it can be read.
    pub const fn until(&self) -> Option<Timestamp> {
        self.until
    }

    pub(super) fn certified_key(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.key)
    }
}

impl PartialEq for ClientIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert && self.private == other.private
    }
}

impl Eq for ClientIdentity {}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIdentity").field("until", &self.until).finish_non_exhaustive()
    }
}

/// Reasons why a certificate and its key can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IdentityError {
    /// The file with the certificates can't be read.
    #[error("{0}")]
    Certificate(String),
    /// The file with the key can't be read.
    #[error("{0}")]
    Key(String),
    /// The key has a password.
    #[error("its key has a password; take that off with `openssl pkey -in FILE -out NEW`")]
    KeyEncrypted,
    /// The key does not belong to the certificate.
    #[error("it is not the key of the certificate")]
    DoNotFit,
}

fn of_no_use(error: &rustls::Error) -> IdentityError {
    if matches!(error, rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) {
        return IdentityError::DoNotFit;
    }
    // The key is compared with the first certificate only, so the error is about that one.
    if matches!(error, rustls::Error::InvalidCertificate(_)) {
        return IdentityError::Certificate("its first certificate can't be read".into());
    }
    IdentityError::Key("its key is of no kind that is known here (RSA, ECDSA, Ed25519)".into())
}

/// Authorities that are trusted instead of the built-in ones.
#[derive(Clone, PartialEq, Eq)]
pub struct Authorities(Vec<CertificateDer<'static>>);

impl Authorities {
    /// Reads the certificates of authorities.
    ///
    /// # Errors
    /// Fails if there is none, or if one can't be read.
    pub fn from_pem(certificates: &[u8]) -> Result<Self, String> {
        let certificates = read_certificates(certificates)?;
        let authorities = Self(certificates);
        // Built only as a check: a bad authority must be reported when its file is read, not during a handshake.
        authorities.roots().map(|_| authorities)
    }

    pub(super) fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        for certificate in &self.0 {
            let added = roots.add(certificate.clone());
            added.map_err(|_| "one of its certificates can't be read".to_owned())?;
        }
        Ok(roots)
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} certificates", self.0.len())
    }
}

fn read_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.map_err(|error| pem_error(&error, "certificate"))?;
    if certificates.is_empty() {
        Err(pem_error(&pem::Error::NoItemsFound, "certificate"))
    } else {
        Ok(certificates)
    }
}

/// Describes an error without quoting a line of the file.
fn pem_error(error: &pem::Error, what: &str) -> String {
    if matches!(error, pem::Error::NoItemsFound) {
        return format!("it holds no {what} in PEM (-----BEGIN …-----)");
    }
    format!("its {what} is no valid PEM")
}

fn is_encrypted(key: &[u8]) -> bool {
    String::from_utf8_lossy(key).contains("BEGIN ENCRYPTED PRIVATE KEY")
}

/// Reads the expiry of a certificate. Any other fault is left for the other side to find.
fn end_of(certificate: &CertificateDer<'static>) -> Option<Timestamp> {
    let certificate = CertificateInner::<Raw>::from_der(certificate).ok()?;
    let end = certificate.tbs_certificate().validity().not_after.to_unix_duration();
    i64::try_from(end.as_millis()).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate() -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["client.example".into()]).unwrap();
        params.not_after = date_time_ymd(2031, 2, 3);
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn a_certificate_and_its_key_tell_when_they_end_and_nothing_more() {
        let (certificate, key) = certificate();
        let identity = ClientIdentity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
        assert_eq!(identity.until(), Timestamp::parse("2031-02-03T00:00:00Z"));
        let shown = format!("{identity:?}");
        assert!(shown.starts_with("ClientIdentity { until: ") && shown.ends_with(", .. }"), "{shown}");
        assert_eq!(ClientIdentity::from_pem(certificate.as_bytes(), key.as_bytes()), Ok(identity));
    }

    #[test]
    fn a_key_of_another_certificate_does_not_fit() {
        let ((certificate, _), (_, foreign)) = (certificate(), certificate());
        let refused = ClientIdentity::from_pem(certificate.as_bytes(), foreign.as_bytes());
        assert_eq!(refused, Err(IdentityError::DoNotFit));
    }

    #[test]
    fn files_that_hold_something_else_are_refused_without_their_content() {
        let (certificate, key) = certificate();
        let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        let broken = "-----BEGIN CERTIFICATE-----\nMIIhunter2\n-----END CERTIFICATE-----\n";
        for (certificate, key, expected) in [
            ("", key.as_str(), "it holds no certificate in PEM (-----BEGIN …-----)"),
            (key.as_str(), key.as_str(), "it holds no certificate in PEM (-----BEGIN …-----)"),
            (broken, key.as_str(), "its first certificate can't be read"),
            (certificate.as_str(), "hunter2", "it holds no private key in PEM (-----BEGIN …-----)"),
            (
                certificate.as_str(),
                encrypted.as_str(),
                "its key has a password; take that off with `openssl pkey -in FILE -out NEW`",
            ),
        ] {
            let error = ClientIdentity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn authorities_are_certificates() {
        let (certificate, key) = certificate();
        let two = certificate.repeat(2);
        assert_eq!(format!("{:?}", Authorities::from_pem(two.as_bytes()).unwrap()), "2 certificates");
        assert!(Authorities::from_pem(key.as_bytes()).is_err());
    }
}
