//! Reasons for a missing answer, in the words of the delivery's record, and as exactly as they are known.

use quita_http_client::{HandshakeCause, Why};
use quita_ports::{DetailKind, FailureDetail};

/// Reasons for a missing answer.
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
    /// Returns the spelling in the record of the attempt.
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

    /// Returns the reason for a failure of the client.
    pub(super) const fn of(why: &Why) -> Self {
        match why {
            Why::TimeOut | Why::NoConnectionInTime => Self::Timeout,
            Why::NoConnection(_) => Self::Connect,
            Why::NoName => Self::Dns,
            Why::Handshake { .. } => Self::Tls,
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

/// An exchange without an answer.
pub(super) struct Unanswered {
    pub(super) failure: Failure,
    pub(super) detail: Option<FailureDetail>,
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self { failure, detail: None }
    }
}

impl Unanswered {
    /// Returns the client's failure, with its reason.
    pub(super) fn of(why: &Why) -> Self {
        let detail = FailureDetail { kind: kind_of(why), text: why.to_string() };
        Self { failure: Failure::of(why), detail: Some(detail) }
    }
}

const fn kind_of(why: &Why) -> Option<DetailKind> {
    match why {
        Why::Handshake { cause, .. } => kind_of_handshake(*cause),
        Why::Closed => Some(DetailKind::ClosedUnanswered),
        Why::NoHttp | Why::OtherProtocol => Some(DetailKind::NoHttp),
        Why::CutShort => Some(DetailKind::CutShort),
        // The record's word is enough, or only the text says more.
        Why::TimeOut
        | Why::NoConnectionInTime
        | Why::NoConnection(_)
        | Why::NoName
        | Why::NotAllowed
        | Why::Invalid
        | Why::CertificateRefused(_)
        | Why::Broken(_)
        | Why::TooManyInterim
        | Why::OtherCoding => None,
    }
}

const fn kind_of_handshake(cause: HandshakeCause) -> Option<DetailKind> {
    match cause {
        HandshakeCause::UnknownIssuer => Some(DetailKind::UnknownIssuer),
        HandshakeCause::Expired => Some(DetailKind::CertificateExpired),
        HandshakeCause::NotYetValid => Some(DetailKind::CertificateNotYetValid),
        HandshakeCause::OtherName => Some(DetailKind::CertificateOfOtherName),
        HandshakeCause::NoTls => Some(DetailKind::NoTls),
        HandshakeCause::Closed => Some(DetailKind::ClosedInHandshake),
        HandshakeCause::BadCertificate | HandshakeCause::Disagreed => None,
    }
}
