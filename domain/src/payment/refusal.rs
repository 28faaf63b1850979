//! Refused requests and facts.

use thiserror::Error;

use crate::money::Money;
use crate::status::Status;
use crate::time::Timestamp;

/// Reason why a merchant's request is refused. The payment stays as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The status does not allow it.
    #[error("{}a payment that is {status} cannot {verb}; allowed for: {allowed}", already(.status, .verb))]
    NotAllowed {
        /// The payment's status.
        status: Status,
        /// `be cancelled`, …
        verb: &'static str,
        /// The statuses that would allow it.
        allowed: &'static str,
    },
    /// Only a card created with `"capture": false` can be captured, or one whose immediate capture was refused.
    #[error(
        "a payment that is {0} cannot be captured; allowed for: a credit card created with \"capture\": false, while it is \
         approved"
    )]
    NotCapturable(Status),
    /// A capture of more than was authorised, or of nothing.
    #[error("the capture must be from 1 to {} cents: {} was authorised", .0.cents(), .0)]
    CaptureOutOfBounds(Money),
    /// A refund of more than is left, or of nothing.
    #[error("the refund must be from 1 to {} cents: {} is left to refund", .0.cents(), .0)]
    RefundExceedsPaid(Money),
    /// The acquirer gives nothing of this method back.
    #[error("the acquirer does not refund this payment; return the money by other means, such as a transfer")]
    RefundUnsupported,
    /// The key was used for another request.
    #[error("this Idempotency-Key was already used on this payment with another request")]
    KeyReused,
    /// Another cancellation or capture is on its way.
    #[error("the acquirer is still processing a {0} of this payment; try again shortly")]
    Busy(&'static str),
    /// It is unknown whether there is a charge to withdraw.
    #[error("the acquirer has not reported the outcome of the charge yet; try again shortly")]
    OutcomeUnknown,
    /// There is no such delivery.
    #[error("delivery not found")]
    NoSuchDelivery,
    /// The payment holds the maximum number of operations.
    #[error("the payment already has the maximum number of operations ({0})")]
    TooManyOperations(usize),
    /// The acquirer refused too many, so that the next one has to wait.
    #[error(
        "the acquirer refused {count} operations of this kind ({verb}); the next one is accepted after {until}"
    )]
    RefusedTooOften {
        /// `refund`, …
        verb: &'static str,
        /// Number of refused operations.
        count: usize,
        /// Time from which the next one may be requested.
        until: Timestamp,
    },
    /// A person wants to end an operation or payment that has ended, may still be under way, or could not have ended
    /// that way.
    #[error("it is not stuck: it has ended, or its outcome may still arrive on its own")]
    NotStuck,
}

/// Returns the beginning of the message for a request that was already fulfilled.
fn already(status: &Status, verb: &str) -> &'static str {
    match verb {
        "be refunded" if *status == Status::Refund => "already refunded in full: ",
        "be cancelled" if *status == Status::Cancelled => "already cancelled: ",
        _ => "",
    }
}
