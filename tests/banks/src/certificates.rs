//! Certificates of a test's own authority, as PEM files.

use std::io;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Date until which certificates are valid by default.
const UNTIL: ExpiryDate = ExpiryDate { year: 2099, month: 12, day: 31 };

/// An authority, and the certificates that it signed: `ca.pem`; `server`, `client` and `other-client` as `NAME.pem`,
/// `NAME.key` and `NAME-with-key.pem`. Another authority signed `foreign`.
pub struct Certificates {
    directory: PathBuf,
    authority: CertifiedIssuer<'static, KeyPair>,
}

/// Date until which a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpiryDate {
    /// Year.
    pub year: i32,
    /// Month, from 1.
    pub month: u8,
    /// Day of the month.
    pub day: u8,
}

/// A certificate and its private key, as files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Both in one file, as some clients require.
    pub both: PathBuf,
}

impl Certificates {
    /// Creates all of them in this directory.
    pub fn make(directory: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        let made = Self { directory: directory.to_owned(), authority: authority("The bank's authority")? };
        std::fs::write(made.ca(), made.authority.pem())?;
        for name in ["server", "client", "other-client"] {
            made.issue(name, UNTIL)?;
        }
        let another = authority("Another authority")?;
        made.sign("foreign", UNTIL, &another)?;
        Ok(made)
    }

    /// Creates another one with this name, valid until this date. An existing one is replaced.
    pub fn issue(&self, name: &str, until: ExpiryDate) -> io::Result<Pair> {
        self.sign(name, until, &self.authority)
    }

    /// Returns the authority's certificate.
    pub fn ca(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// Returns the client that the bank knows.
    pub fn client(&self) -> Pair {
        self.pair("client")
    }

    /// Returns another client that the bank knows, for a change of certificate.
    pub fn other_client(&self) -> Pair {
        self.pair("other-client")
    }

    /// Returns a client that the bank does not know.
    pub fn foreign(&self) -> Pair {
        self.pair("foreign")
    }

    /// Returns the directory of the certificates.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn server(&self) -> Pair {
        self.pair("server")
    }

    /// Returns the authority as the only trusted one.
    pub(crate) fn roots(&self) -> io::Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).map_err(io::Error::other)?;
        Ok(roots)
    }

    fn sign(
        &self,
        name: &str,
        until: ExpiryDate,
        by: &CertifiedIssuer<'static, KeyPair>,
    ) -> io::Result<Pair> {
        let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), format!("{name}.bank.example")];
        let mut params = CertificateParams::new(hosts).map_err(io::Error::other)?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(until.year, until.month, until.day);
        // Python's ssl refuses a chain without it since 3.13.
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, by).map_err(io::Error::other)?;
        let pair = self.pair(name);
        std::fs::write(&pair.certificate, certificate.pem())?;
        std::fs::write(&pair.key, key.serialize_pem())?;
        std::fs::write(&pair.both, certificate.pem() + &key.serialize_pem())?;
        Ok(pair)
    }

    fn pair(&self, name: &str) -> Pair {
        Pair {
            certificate: self.directory.join(format!("{name}.pem")),
            key: self.directory.join(format!("{name}.key")),
            both: self.directory.join(format!("{name}-with-key.pem")),
        }
    }
}

impl Pair {
    /// Reads the certificate and the key from their files.
    pub(crate) fn read(&self) -> io::Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let certificate = CertificateDer::from_pem_file(&self.certificate).map_err(io::Error::other)?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(io::Error::other)?;
        Ok((vec![certificate], key))
    }
}

fn authority(name: &str) -> io::Result<CertifiedIssuer<'static, KeyPair>> {
    let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(UNTIL.year, UNTIL.month, UNTIL.day);
    let key = KeyPair::generate().map_err(io::Error::other)?;
    CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)
}
