//! Why there was no answer, in the words of the delivery's record.

use std::io;

use awc::error::{ConnectError, SendRequestError};

use super::address_policy::NotAllowed;

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Timeout,
    Connect,
    Dns,
    Tls,
    AddressNotAllowed,
    InvalidUrl,
    Protocol,
}

impl Failure {
    /// As the record of the attempt spells it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connect => "connect",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::AddressNotAllowed => "address_not_allowed",
            Self::InvalidUrl => "invalid_url",
            Self::Protocol => "protocol",
        }
    }

    /// The reason behind the client's error.
    pub(super) fn of(error: &SendRequestError) -> Self {
        if let SendRequestError::Connect(error) = error {
            return Self::of_connecting(error);
        }
        if matches!(error, SendRequestError::Timeout) {
            return Self::Timeout;
        }
        if matches!(error, SendRequestError::Url(_)) { Self::InvalidUrl } else { Self::Protocol }
    }

    fn of_connecting(error: &ConnectError) -> Self {
        if let ConnectError::Resolver(error) = error {
            return if error.is::<NotAllowed>() { Self::AddressNotAllowed } else { Self::Dns };
        }
        if let ConnectError::Io(error) = error {
            return if is_of_tls(error) { Self::Tls } else { Self::Connect };
        }
        if matches!(error, ConnectError::NoRecords | ConnectError::Unresolved) {
            return Self::Dns;
        }
        // `Disconnected` is a connection that was closed before the head of an answer.
        if matches!(error, ConnectError::Timeout) { Self::Timeout } else { Self::Protocol }
    }
}

/// Whether the handshake failed: it errs with what connecting a socket never does.
fn is_of_tls(error: &io::Error) -> bool {
    let is_from_rustls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
    let kind = error.kind();
    is_from_rustls || matches!(kind, io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput)
}
