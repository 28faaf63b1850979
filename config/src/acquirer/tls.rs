//! Identity towards a provider, and trust in it: files with certificates and keys.

use quita_acquirers::exchange::identity::{Authorities, ClientIdentity, IdentityError};

use super::table::AcquirerTable;

/// TLS settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsConfig {
    /// Our certificate with its key.
    pub identity: Option<ClientIdentity>,
    /// Authorities that are trusted instead of the built-in roots.
    pub authorities: Option<Authorities>,
}

impl TlsConfig {
    /// Reads `certificate-file`, `private-key-file` and `ca-file`.
    pub(super) fn read(table: &mut AcquirerTable<'_>) -> Self {
        let has_certificate = table.contains(CERTIFICATE);
        let has_key = table.contains(PRIVATE_KEY);
        let certificate = table.file(CERTIFICATE);
        let key = table.file(PRIVATE_KEY);
        if has_certificate != has_key {
            let missing = if has_key { CERTIFICATE } else { PRIVATE_KEY };
            table.refuse(missing, "it is missing; a certificate and its private key belong together");
        }
        let identity = certificate.zip(key).and_then(|(certificate, key)| {
            let identity = ClientIdentity::from_pem(certificate.expose(), key.expose());
            identity.map_err(|error| table.refuse(culprit(&error), &error.to_string())).ok()
        });
        Self { identity, authorities: authorities(table) }
    }

    /// Reads only `ca-file`.
    pub(super) fn read_authorities(table: &mut AcquirerTable<'_>) -> Self {
        Self { identity: None, authorities: authorities(table) }
    }
}

const CERTIFICATE: &str = "certificate-file";
const PRIVATE_KEY: &str = "private-key-file";

fn authorities(table: &mut AcquirerTable<'_>) -> Option<Authorities> {
    let pem = table.file("ca-file")?;
    Authorities::from_pem(pem.expose()).map_err(|why| table.refuse("ca-file", &why)).ok()
}

const fn culprit(error: &IdentityError) -> &'static str {
    match error {
        IdentityError::Certificate(_) => CERTIFICATE,
        IdentityError::Key(_) | IdentityError::KeyEncrypted | IdentityError::DoNotFit => PRIVATE_KEY,
    }
}
