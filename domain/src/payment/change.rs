//! What may change in a payment.

use crate::acquiring::{Approval, Issued, Settlement};
use crate::delivery::DeliveryAttempt;
use crate::event::Cause;
use crate::identity::AcquirerName;
use crate::money::Money;
use crate::operation::Operation;
use crate::routing::AttemptOutcome;
use crate::state::{Refund, RefundStatus};
use crate::status::Status;
use crate::time::Timestamp;
use uuid::Uuid;

/// One change, decided and not yet made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A charge goes to this acquirer.
    AttemptStarted {
        /// To whom.
        acquirer: AcquirerName,
        /// When it is asked for if no answer comes.
        ask_at: Timestamp,
    },
    /// The outcome of the last charge is unknown from now on: no earlier `NotFound` tells anything of it.
    AttemptUnknown {
        /// Whether the call is known to be over.
        call_is_over: bool,
        /// When it is asked for.
        ask_at: Timestamp,
    },
    /// The acquirer does not know the last charge, which need not mean that it never will: it is asked again.
    NotFoundCounted {
        /// When at the latest.
        ask_at: Timestamp,
    },
    /// A chargeback or a won dispute with this id was learnt.
    DisputeLearnt(String),
    /// The last charge has this outcome.
    AttemptEnded(AttemptOutcome),
    /// The acquirer is asked what became of the last charge, and again at this time.
    AskScheduled(Timestamp),
    /// The last question was not sent, and does not count. It is asked again at this time.
    AskWithheld(Timestamp),
    /// A waiting charge is looked at next at this time; never when absent.
    CheckScheduled(Option<Timestamp>),
    /// The last look was not sent: that it brought no answer tells nothing.
    LookWithheld,
    /// The acquirer issued the code to pay with.
    Issued(Issued),
    /// The issuer approved.
    Approved(Approval),
    /// The money came in.
    Settled(Settlement),
    /// The issuer or the acquirer refused.
    Refused(String),
    /// The status changes: one event, and one delivery if there is somebody to tell.
    StatusChanged {
        /// To what; an edge of the table.
        to: Status,
        /// Why, where that needs saying.
        reason: Option<String>,
        /// Who caused it.
        cause: Cause,
    },
    /// A cancellation, capture or refund was asked for.
    OperationRequested(Operation),
    /// An operation is sent now.
    OperationSent(Uuid),
    /// An operation is sent again at this time.
    OperationScheduled(Uuid, Timestamp),
    /// An operation was not sent, which does not count. It is sent again at this time.
    OperationWithheld(Uuid, Timestamp),
    /// An operation was done, or refused for this reason.
    OperationEnded(Uuid, Option<String>),
    /// A capture was done for this much.
    Captured(Money),
    /// A refund came to be.
    RefundAdded(Refund),
    /// A refund has this outcome.
    RefundEnded(String, RefundStatus),
    /// An attempt to deliver runs until this time at most.
    DeliveryClaimed(u32, Timestamp),
    /// An attempt to deliver ended; the next one, if any, is at this time.
    DeliveryAttempted(u32, DeliveryAttempt, Option<Timestamp>),
    /// The receiver wants nothing more: every delivery that waits is given up.
    ReceiverGone,
    /// A delivery is repeated on demand.
    Redelivered(u32),
}
