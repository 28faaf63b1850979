//! Causes of failed TLS handshakes.

use std::io;

use rustls::{CertificateError, InvalidMessage};

use super::failure::{Why, rustls_error};

/// Part of a handshake that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeCause {
    /// The certificate is self-signed, or from an authority that is not trusted.
    UnknownIssuer,
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate is for another name.
    OtherName,
    /// The certificate is invalid for another reason.
    BadCertificate,
    /// The other side does not speak TLS.
    NoTls,
    /// The other side closed the connection.
    Closed,
    /// The other side refused, or there was no agreement.
    Disagreed,
}

impl HandshakeCause {
    fn of(error: &rustls::Error) -> Self {
        if let rustls::Error::InvalidCertificate(error) = error {
            return Self::of_certificate(error);
        }
        let is_no_tls = matches!(error, rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType));
        if is_no_tls { Self::NoTls } else { Self::Disagreed }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        if matches!(error, CertificateError::UnknownIssuer) || is_authority_as_server(error) {
            Self::UnknownIssuer
        } else if matches!(error, CertificateError::Expired | CertificateError::ExpiredContext { .. }) {
            Self::Expired
        } else if matches!(error, CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. })
        {
            Self::NotYetValid
        } else if matches!(
            error,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        ) {
            Self::OtherName
        } else {
            Self::BadCertificate
        }
    }
}

/// Returns true for a certificate that may sign others, which is checked before its issuer is looked up. It is usually
/// self-signed, and its error has no variant of its own.
fn is_authority_as_server(error: &CertificateError) -> bool {
    matches!(error, CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity"))
}

/// Returns the reason for a failed handshake.
pub(crate) fn handshake_failed(error: &io::Error) -> Why {
    match rustls_error(error) {
        Some(error) => Why::Handshake { cause: HandshakeCause::of(error), text: error.to_string() },
        None => Why::Handshake { cause: HandshakeCause::Closed, text: error.kind().to_string() },
    }
}

#[cfg(test)]
mod tests {
    use rustls::{AlertDescription, Error};

    use super::*;

    #[test]
    fn a_failed_handshake_names_its_cause_and_keeps_the_text() {
        let bad = Error::InvalidCertificate;
        for (error, expected) in [
            (bad(CertificateError::UnknownIssuer), HandshakeCause::UnknownIssuer),
            (bad(CertificateError::Expired), HandshakeCause::Expired),
            (bad(CertificateError::NotValidYet), HandshakeCause::NotYetValid),
            (bad(CertificateError::NotValidForName), HandshakeCause::OtherName),
            (bad(CertificateError::BadSignature), HandshakeCause::BadCertificate),
            (Error::InvalidMessage(InvalidMessage::InvalidContentType), HandshakeCause::NoTls),
            (Error::InvalidMessage(InvalidMessage::InvalidCcs), HandshakeCause::Disagreed),
            (Error::AlertReceived(AlertDescription::ProtocolVersion), HandshakeCause::Disagreed),
        ] {
            let text = error.to_string();
            let why = handshake_failed(&io::Error::new(io::ErrorKind::InvalidData, error));
            assert_eq!(why, Why::Handshake { cause: expected, text: text.clone() });
            let told = if expected == HandshakeCause::NoTls {
                format!("the server there does not speak TLS: check address and port ({text})")
            } else {
                format!("the handshake failed: {text}")
            };
            assert_eq!(why.to_string(), told);
        }
        let closed = handshake_failed(&io::ErrorKind::UnexpectedEof.into());
        assert!(matches!(closed, Why::Handshake { cause: HandshakeCause::Closed, .. }), "{closed:?}");
    }
}
