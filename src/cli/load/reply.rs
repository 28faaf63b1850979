//! Outcome of one call: the status of its answer, or the reason why there was none.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind};

use awc::error::{ConnectError, PayloadError, SendRequestError};

/// Outcome of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reply {
    /// An answer with this status.
    Status(u16),
    /// No answer that a merchant can use.
    Missing(NoAnswer),
}

/// Reason why a call has no usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoAnswer {
    /// No answer arrived in time.
    TimeOut,
    /// No connection was established in time, so nothing was sent.
    ConnectionTimeOut,
    /// Nobody is listening at the address.
    ConnectionRefused,
    /// The connection ended before the answer was complete.
    ConnectionClosed,
    /// The answer does not match the contract.
    Unreadable,
    /// A proxy answered 502 by itself: it reached no service.
    BadGateway,
    /// A proxy answered 503 by itself: it has no service to forward to.
    ProxyUnavailable,
    /// A proxy answered 504 by itself: the service did not respond to it in time.
    GatewayTimeOut,
    /// A proxy answered 404 by itself: it knows no service at this address.
    ProxyNotFound,
    /// A proxy answered 429 by itself: its own limit was reached, and the service was not called.
    ProxyLimit,
    /// The load tester's machine had no open file or port left for a connection.
    NoSocket,
    /// No answer had arrived when the run was stopped.
    StillWaiting,
    /// Anything else.
    Other,
}

impl Reply {
    /// Returns the status of the answer.
    pub(super) const fn status(self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status),
            Self::Missing(_) => None,
        }
    }

    /// Returns true if the connection broke before the answer: a repeat shows whether the request was accepted.
    pub(super) const fn is_cut(self) -> bool {
        matches!(self, Self::Missing(NoAnswer::ConnectionClosed))
    }

    /// Returns true if the reply reveals nothing about the requested payment: there was no answer, or only a temporary
    /// refusal.
    pub(super) const fn says_nothing(self) -> bool {
        match self {
            Self::Status(status) => matches!(status, 429 | 503),
            Self::Missing(reason) => !matches!(reason, NoAnswer::Unreadable),
        }
    }

    /// Returns the reason why there is no answer.
    pub(super) const fn error(self) -> Option<&'static str> {
        match self {
            Self::Status(_) => None,
            Self::Missing(reason) => Some(reason.as_str()),
        }
    }
}

impl Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "{status}"),
            Self::Missing(reason) => f.write_str(reason.as_str()),
        }
    }
}

impl NoAnswer {
    /// Reasons for which a call reached no service, so that the service accepted and promised nothing.
    pub(super) const UNREACHED: [Self; 7] = [
        Self::ConnectionTimeOut,
        Self::ConnectionRefused,
        Self::BadGateway,
        Self::ProxyUnavailable,
        Self::ProxyNotFound,
        Self::ProxyLimit,
        Self::NoSocket,
    ];

    /// Returns the reason behind an answer that is not Quita's. `None` for a status that proxies are not known to send.
    pub(super) const fn of_proxy(status: u16) -> Option<Self> {
        match status {
            502 => Some(Self::BadGateway),
            503 => Some(Self::ProxyUnavailable),
            504 => Some(Self::GatewayTimeOut),
            404 => Some(Self::ProxyNotFound),
            429 => Some(Self::ProxyLimit),
            _ => None,
        }
    }

    /// Returns true if a proxy answered for the service.
    pub(super) const fn is_of_proxy(self) -> bool {
        matches!(
            self,
            Self::BadGateway
                | Self::ProxyUnavailable
                | Self::GatewayTimeOut
                | Self::ProxyNotFound
                | Self::ProxyLimit
        )
    }

    /// Returns true if the call had no answer since its start, rather than only since its end.
    pub(super) const fn is_time_out(self) -> bool {
        matches!(self, Self::TimeOut | Self::ConnectionTimeOut | Self::GatewayTimeOut)
    }

    /// Returns true if the reason alone proves that no service is there: nobody is listening at its address.
    pub(super) const fn is_certain(self) -> bool {
        matches!(self, Self::ConnectionRefused | Self::BadGateway | Self::ProxyUnavailable)
    }

    /// Returns the words for the report.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::TimeOut => "time-out",
            Self::ConnectionTimeOut => "no connection",
            Self::ConnectionRefused => "connection refused",
            Self::ConnectionClosed => "connection closed",
            Self::Unreadable => "unreadable answer",
            Self::BadGateway => "502 of a proxy",
            Self::ProxyUnavailable => "503 of a proxy",
            Self::GatewayTimeOut => "504 of a proxy",
            Self::ProxyNotFound => "404 of a proxy",
            Self::ProxyLimit => "429 of a proxy",
            Self::NoSocket => "no socket left",
            Self::StillWaiting => "no answer yet",
            Self::Other => "other error",
        }
    }
}

impl From<SendRequestError> for NoAnswer {
    fn from(error: SendRequestError) -> Self {
        use actix_web::error::ParseError;
        // The client may add errors, so errors not listed here are `Other`.
        if let SendRequestError::Timeout = error {
            Self::TimeOut
        } else if let SendRequestError::Connect(ConnectError::Timeout) = error {
            Self::ConnectionTimeOut
        } else if let SendRequestError::Connect(ConnectError::Io(error)) | SendRequestError::Send(error) =
            &error
        {
            Self::from(error)
        } else if let SendRequestError::Response(ParseError::Io(error)) = &error {
            Self::from(error)
        } else if let SendRequestError::Response(ParseError::Incomplete)
        | SendRequestError::Connect(ConnectError::Disconnected) = error
        {
            Self::ConnectionClosed
        } else if let SendRequestError::Response(_) = error {
            Self::Unreadable
        } else {
            Self::Other
        }
    }
}

impl From<PayloadError> for NoAnswer {
    fn from(error: PayloadError) -> Self {
        if let PayloadError::Io(error) = &error {
            Self::from(error)
        } else if let PayloadError::Incomplete(_) = error {
            Self::ConnectionClosed
        } else {
            Self::Unreadable
        }
    }
}

impl From<&io::Error> for NoAnswer {
    fn from(error: &io::Error) -> Self {
        /// Error codes for no open file left, in this process and on the machine.
        const NO_FILES: [i32; 2] = [24, 23];
        if error.raw_os_error().is_some_and(|code| NO_FILES.contains(&code)) {
            return Self::NoSocket;
        }
        let kind = error.kind();
        if kind == ErrorKind::ConnectionRefused {
            Self::ConnectionRefused
        } else if kind == ErrorKind::TimedOut {
            Self::TimeOut
        } else if kind == ErrorKind::AddrNotAvailable {
            Self::NoSocket
        } else if [
            ErrorKind::ConnectionReset,
            ErrorKind::ConnectionAborted,
            ErrorKind::BrokenPipe,
            ErrorKind::UnexpectedEof,
        ]
        .contains(&kind)
        {
            Self::ConnectionClosed
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_of_the_client_has_its_kind() {
        let io = |kind: ErrorKind| io::Error::from(kind);
        for (error, expected) in [
            (SendRequestError::Timeout, NoAnswer::TimeOut),
            (SendRequestError::Connect(ConnectError::Timeout), NoAnswer::ConnectionTimeOut),
            (
                SendRequestError::Connect(ConnectError::Io(io(ErrorKind::ConnectionRefused))),
                NoAnswer::ConnectionRefused,
            ),
            (
                SendRequestError::Connect(ConnectError::Io(io::Error::from_raw_os_error(24))),
                NoAnswer::NoSocket,
            ),
            (SendRequestError::Connect(ConnectError::Disconnected), NoAnswer::ConnectionClosed),
            (SendRequestError::Connect(ConnectError::NoRecords), NoAnswer::Other),
            (SendRequestError::Send(io(ErrorKind::BrokenPipe)), NoAnswer::ConnectionClosed),
            (
                SendRequestError::Response(actix_web::error::ParseError::Io(io(ErrorKind::ConnectionReset))),
                NoAnswer::ConnectionClosed,
            ),
            (
                SendRequestError::Response(actix_web::error::ParseError::Incomplete),
                NoAnswer::ConnectionClosed,
            ),
            (SendRequestError::Response(actix_web::error::ParseError::Version), NoAnswer::Unreadable),
        ] {
            let shown = format!("{error:?}");
            assert_eq!(NoAnswer::from(error), expected, "{shown}");
        }
    }
}
