//! Failures: the reason for a missing answer, and whether any part of the request may have left.

use std::io;

use rustls::AlertDescription;
use thiserror::Error;

use super::handshake::HandshakeCause;

/// No answer. Names neither the address nor a header.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct Failure {
    /// The reason.
    pub why: Why,
    /// Says whether any byte of the request may have been read by the other side. If not, it certainly did nothing.
    pub may_have_left: bool,
}

/// Reasons for there being no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Why {
    /// The address or a header can't be written.
    #[error("the request can't be sent: its address or a header is not valid")]
    Invalid,
    /// Every address of the name is one that may not be dialled.
    #[error("no address of its name may be dialled")]
    NotAllowed,
    /// The name has no address.
    #[error("its name leads nowhere")]
    NoName,
    /// The other side could not be connected to.
    #[error("no connection: {0}")]
    NoConnection(io::ErrorKind),
    /// Connecting, or the handshake, took too long.
    #[error("no connection in time")]
    NoConnectionInTime,
    /// TLS was not agreed upon.
    #[error("the handshake failed: {text}")]
    Handshake {
        /// Part of it that failed.
        cause: HandshakeCause,
        /// Words of the library.
        text: String,
    },
    /// The other side does not take our certificate.
    #[error("our certificate was refused: {0:?}")]
    CertificateRefused(AlertDescription),
    /// The connection ended before any byte of an answer.
    #[error("the connection was closed without an answer")]
    Closed,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// Something else than an answer came.
    #[error("what was answered is no HTTP/1.1")]
    NoHttp,
    /// The connection ended in mid-answer.
    #[error("the answer was cut short")]
    CutShort,
    /// Interim answers without end.
    #[error("too many interim answers came before the answer")]
    TooManyInterim,
    /// 101, which was never asked for.
    #[error("another protocol was answered, which nobody asked for")]
    OtherProtocol,
    /// A transfer coding that nobody asked for.
    #[error("the answer has a transfer coding that nobody asked for")]
    OtherCoding,
    /// The deadline came first.
    #[error("no answer in time")]
    TimeOut,
}

impl Failure {
    /// A failure before any byte left.
    pub(crate) const fn unsent(why: Why) -> Self {
        Self { why, may_have_left: false }
    }
}

impl Why {
    /// The reason that a broken connection gives.
    pub(crate) fn broken(error: &io::Error) -> Self {
        match rustls_error(error) {
            Some(error) => Self::Broken(error.to_string()),
            None => Self::Broken(error.kind().to_string()),
        }
    }
}

/// The error of TLS in an error of a socket.
pub(crate) fn rustls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Says whether this says that a server does not take our certificate.
///
/// In TLS 1.3 it says so only after the client has ended its handshake, and so after the request may have been written
/// (RFC 8446, sections 4.4.2.4 and 6.2; `decrypt_error` is about the handshake's signatures alone). It is certain all the
/// same that nothing was read of it: a server judges the certificate before it takes what is encrypted with the keys of
/// the finished handshake, and we offer neither early data (section 4.2.10) nor a certificate afterwards (4.2.6). Any
/// other end, a reset too, may come from a server that read the request.
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
