//! An authority of the test's own, and whom it vouches for.

use quita_acquirers::exchange::identity::{Authorities, ClientIdentity};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Validity of a certificate.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Validity {
    Now,
    Over,
}

/// Certificate of a server, with its private key.
pub(crate) struct ServerIdentity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

pub(crate) struct Authority {
    pem: String,
    der: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Each has a name of its own, as authorities have.
    pub(crate) fn named(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let pem = certificate.pem();
        let der = certificate.der().clone();
        Self { pem, der, issuer: Issuer::new(params, key) }
    }

    /// As one that is believed.
    pub(crate) fn trusted(&self) -> Authorities {
        Authorities::from_pem(self.pem.as_bytes()).unwrap()
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.der.clone()
    }

    /// Somebody who calls.
    pub(crate) fn client(&self, name: &str) -> ClientIdentity {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        ClientIdentity::from_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap()
    }

    /// Somebody who is called under the name `localhost`.
    pub(crate) fn server(&self, validity: Validity) -> ServerIdentity {
        let mut params = CertificateParams::new(vec!["localhost".into()]).unwrap();
        if matches!(validity, Validity::Over) {
            (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        ServerIdentity { certificate: certificate.der().clone(), key }
    }
}
