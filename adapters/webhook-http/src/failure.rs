//! Reason for having no answer, in the words of the delivery's record.

use quita_http_client::Why;

/// Reasons for having no answer.
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

    /// The reason behind the client's.
    pub(super) const fn of(why: &Why) -> Self {
        match why {
            Why::TimeOut | Why::NoConnectionInTime => Self::Timeout,
            Why::NoConnection(_) => Self::Connect,
            Why::NoName => Self::Dns,
            Why::Handshake(_) => Self::Tls,
            Why::NotAllowed => Self::AddressNotAllowed,
            Why::Invalid => Self::InvalidUrl,
            Why::CertificateRefused(_)
            | Why::Closed
            | Why::Broken(_)
            | Why::NoHttp
            | Why::CutShort
            | Why::TooManyInterim
            | Why::OtherProtocol
            | Why::OtherCoding => Self::Protocol,
        }
    }
}
