//! Reasons why a request was not carried out.

use quita_domain::payment::Refusal;
use quita_domain::routing::NoRoute;
use quita_ports::StoreError;
use thiserror::Error;

/// Reason why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Denied {
    /// No such payment for this owner.
    #[error("transaction not found")]
    NotFound,
    /// The payment does not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The `Idempotency-Key` was used with another request.
    #[error("this Idempotency-Key was already used with another request")]
    KeyReused,
    /// Another payment has used the token of the card.
    #[error("the card token was already used by another payment")]
    TokenUsed,
    /// No acquirer takes this method in this mode.
    #[error("no acquirer is configured for this payment method in this mode")]
    MethodUnavailable,
    /// None of the acquirers available to it takes this amount.
    #[error("none of the acquirers for this payment accepts this amount")]
    AmountNotAccepted,
    /// None of the acquirers that take it keeps a PIX payable for so long.
    #[error("no acquirer keeps a payment payable for that long; send a shorter expiresIn")]
    ExpiryNotAccepted,
    /// The acquirers that take it are paused or busy.
    #[error("no acquirer accepts this payment at the moment; try again later")]
    NoRoute,
    /// Too much is waiting; nothing was done.
    #[error("the service is overloaded; try again")]
    Overloaded,
    /// The actor died while processing; the store has the outcome.
    #[error(
        "the work was interrupted, and may or may not be done; repeat the request with the same Idempotency-Key: \
         without one, a payment or refund may be made twice"
    )]
    Interrupted,
    /// The store failed to answer properly.
    #[error("{0}")]
    StoreUnavailable(#[from] StoreError),
    /// The service is starting or stopping.
    #[error("the service is stopping")]
    Stopping,
    /// A bug in this program.
    #[error("defect: {0}")]
    Defect(&'static str),
}

impl From<NoRoute> for Denied {
    fn from(no_route: NoRoute) -> Self {
        match no_route {
            NoRoute::MethodUnavailable => Self::MethodUnavailable,
            NoRoute::AmountNotAccepted => Self::AmountNotAccepted,
            NoRoute::ExpiryNotAccepted => Self::ExpiryNotAccepted,
            NoRoute::NoneEligible => Self::NoRoute,
        }
    }
}

impl Denied {
    /// Returns true if the store was out of reach, which `store/state.rs` logs once for everyone.
    pub(crate) const fn is_store_away(&self) -> bool {
        matches!(self, Self::StoreUnavailable(StoreError::Unavailable(_) | StoreError::Full(_)))
    }

    /// Returns true if the same request may succeed later with no change to it.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::NoRoute
            | Self::Overloaded
            | Self::Interrupted
            | Self::StoreUnavailable(_)
            | Self::Stopping => true,
            Self::NotFound
            | Self::Refused(_)
            | Self::KeyReused
            | Self::TokenUsed
            | Self::MethodUnavailable
            | Self::AmountNotAccepted
            | Self::ExpiryNotAccepted
            | Self::Defect(_) => false,
        }
    }
}

/// Logs a failure: as a warning, or at debug level if only the store is away. An outage is logged once, not again by
/// each payment that it delays.
macro_rules! warn_unless_away {
    ($denied:expr, $($told:tt)+) => {
        if $denied.is_store_away() {
            tracing::debug!($($told)+);
        } else {
            tracing::warn!($($told)+);
        }
    };
}

pub(crate) use warn_unless_away;
