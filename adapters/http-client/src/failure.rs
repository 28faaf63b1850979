//! Failures: the reason for a missing answer, and whether any part of the request may have left.

use std::io;

use rustls::AlertDescription;
use thiserror::Error;

use super::handshake::HandshakeCause;

/// A missing answer. Its text contains neither the address nor a header.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct Failure {
    /// The reason.
    pub why: Why,
    /// True if the other side may have read any byte of the request. If not, the request certainly had no effect.
    pub may_have_left: bool,
}

/// Reasons for a missing answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Why {
    /// The address or a header can't be written.
    #[error("the request can't be sent: its address or a header is not valid")]
    Invalid,
    /// Every address of the name is one that may not be dialled.
    #[error("no address of its name may be dialled")]
    NotAllowed,
    /// The name has no address.
    #[error("its host name could not be resolved")]
    NoName,
    /// The other side could not be connected to.
    #[error("no connection: {0}")]
    NoConnection(io::ErrorKind),
    /// Connecting, or the handshake, took too long.
    #[error("could not connect in time")]
    NoConnectionInTime,
    /// TLS could not be negotiated.
    #[error("{}", of_handshake(*.cause, .text))]
    Handshake {
        /// Part of it that failed.
        cause: HandshakeCause,
        /// Text of the library.
        text: String,
    },
    /// The other side does not accept our certificate.
    #[error("our certificate was refused: {0:?}")]
    CertificateRefused(AlertDescription),
    /// The connection ended before any byte of an answer.
    #[error("the connection was closed without an answer")]
    Closed,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// Something other than an HTTP answer arrived.
    #[error("the answer is not HTTP/1.1")]
    NoHttp,
    /// The connection ended in the middle of an answer.
    #[error("the answer was cut short")]
    CutShort,
    /// Interim answers came without end.
    #[error("too many interim answers came before the answer")]
    TooManyInterim,
    /// The answer was 101, which was never requested.
    #[error("the server switched to another protocol, which was not requested")]
    OtherProtocol,
    /// The answer has a transfer coding that was not requested.
    #[error("the answer has a transfer coding that was not requested")]
    OtherCoding,
    /// The deadline came first.
    #[error("no answer in time")]
    TimeOut,
}

/// Returns the words for a failed handshake, with the library's own in them.
fn of_handshake(cause: HandshakeCause, text: &str) -> String {
    match cause {
        HandshakeCause::NoTls => {
            format!("the server there does not speak TLS: check address and port ({text})")
        }
        HandshakeCause::UnknownIssuer
        | HandshakeCause::Expired
        | HandshakeCause::NotYetValid
        | HandshakeCause::OtherName
        | HandshakeCause::BadCertificate
        | HandshakeCause::Closed
        | HandshakeCause::Disagreed => format!("the handshake failed: {text}"),
    }
}

impl Failure {
    /// A failure before any byte left.
    pub(crate) const fn unsent(why: Why) -> Self {
        Self { why, may_have_left: false }
    }
}

impl Why {
    /// Returns the reason for a broken connection.
    pub(crate) fn broken(error: &io::Error) -> Self {
        match rustls_error(error) {
            Some(error) => Self::Broken(error.to_string()),
            None => Self::Broken(error.kind().to_string()),
        }
    }
}

/// Returns the TLS error inside a socket error.
pub(crate) fn rustls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Returns true for an alert with which a server refuses our certificate.
///
/// In TLS 1.3 the server sends it only after the client has finished its handshake. By then the request may have been
/// written (RFC 8446, sections 4.4.2.4 and 6.2; `decrypt_error` only concerns the handshake's signatures). Nevertheless
/// it is certain that the server read nothing of the request. It checks the certificate before it accepts data
/// encrypted with the keys of the finished handshake. We offer neither early data (section 4.2.10) nor a certificate
/// afterwards (4.2.6). Any other end, including a reset, may come from a server that read the request.
pub(crate) const fn refuses_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateRequired
            | AlertDescription::DecryptError
    )
}
