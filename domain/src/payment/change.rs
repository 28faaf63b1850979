//! Changes of a payment.

mod attempt;
mod check;
mod operation;

use super::{Chargeback, Report, SecondLook, WonDispute};
use crate::acquiring::{Approval, Decline, Issued, Reference, Settlement};
use crate::delivery::DeliveryAttempt;
use crate::event::Cause;
use crate::identity::{AcquirerName, OperationId};
use crate::money::Money;
use crate::numbering::{AttemptNumber, DeliveryIndex};
use crate::operation::Operation;
use crate::state::Refund;
use crate::status::Status;
use crate::time::Timestamp;

pub(super) use attempt::AttemptChange;
pub(super) use check::CheckChange;
pub(super) use operation::OperationChange;

/// One change, decided but not applied yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// A charge goes to this acquirer.
    AttemptStarted {
        /// The acquirer.
        acquirer: AcquirerName,
        /// Time of the first inquiry if no answer comes.
        inquire_at: Timestamp,
    },
    /// The last charge changes.
    Attempt(AttemptChange),
    /// The acquirer's reference of the charge with this number.
    ReferenceLearnt(AttemptNumber, Reference),
    /// The acquirer has another charge of the payment, with this reference.
    OtherCharge(Reference),
    /// This Pix belongs to the payment, and to no other.
    PixBound(String),
    /// This Pix belongs to another payment.
    PixTaken(String),
    /// The next look for everything that an acquirer has of the payment.
    SecondLook(Option<SecondLook>),
    /// The acquirer is asked about a charge now.
    Inquired,
    /// A hint came while the charge was under way.
    Hinted,
    /// The acquirer takes no more money for the charge.
    Concluded,
    /// The acquirer takes no more money for the charge from this time on, and shows none yet.
    MoneyAwaited(Timestamp),
    /// An answer was about another charge, or another amount.
    Mismatched,
    /// The next check of the charge changes.
    Check(CheckChange),
    /// A chargeback was learnt.
    ChargedBack(Chargeback),
    /// The dispute about the chargeback with this id was won.
    DisputeWon(String, WonDispute),
    /// The acquirer issued the code to pay with.
    Issued(Issued),
    /// The issuer approved.
    Approved(Approval),
    /// The money came in.
    Settled(Settlement),
    /// The acquirer kept this amount as its fee.
    Cost(Money),
    /// The issuer or the acquirer declined.
    Declined(Decline),
    /// Tries of the card no longer count.
    CardForgotten,
    /// The status changes: one event, and one delivery if the payment has a receiver.
    StatusChanged {
        /// The new status; an edge of the table.
        to: Status,
        /// The reason, if one is needed.
        reason: Option<String>,
        /// Cause of the change.
        cause: Cause,
    },
    /// A cancellation, capture or refund was requested.
    OperationRequested(Operation),
    /// An operation changes.
    Operation(OperationId, OperationChange),
    /// A capture of this amount was done.
    Captured(Money),
    /// A capture was refused, and the authorisation remains.
    CaptureRefused,
    /// A refund was added.
    RefundAdded(Refund),
    /// The refund with this id was paid back.
    RefundSucceeded(String),
    /// The refund with this id failed for this reason.
    RefundFailed(String, String),
    /// A refund ended without a change of status: one event, and one delivery if the payment has a receiver.
    RefundReported(String, Cause),
    /// The attempt of a delivery runs until this time at most.
    DeliveryClaimed(DeliveryIndex, Timestamp),
    /// A delivery attempt ended; the next one, if any, is at this time.
    DeliveryAttempted(DeliveryIndex, DeliveryAttempt, Option<Timestamp>),
    /// The receiver wants no more events: every waiting delivery is given up.
    ReceiverGone,
    /// A delivery is repeated on request.
    Redelivered(DeliveryIndex),
    /// A report for operators is added.
    Reporting(Report),
    /// Every waiting report is leased until this time at most.
    ReportsClaimed(Timestamp),
    /// The exceptions of the reports with these keys are stored.
    Reported(Vec<String>),
}

impl Change {
    /// Returns true if the merchant can see it in the record.
    pub(super) const fn shows(&self) -> bool {
        match self {
            Self::Attempt(change) => change.shows(),
            Self::AttemptStarted { .. }
            | Self::ReferenceLearnt(..)
            | Self::Issued(_)
            | Self::Approved(_)
            | Self::Settled(_)
            | Self::Cost(_)
            | Self::Declined(_)
            | Self::StatusChanged { .. }
            | Self::Captured(_)
            | Self::CaptureRefused
            | Self::RefundAdded(_)
            | Self::RefundSucceeded(_)
            | Self::RefundFailed(..)
            | Self::RefundReported(..) => true,
            Self::OtherCharge(_)
            | Self::PixBound(_)
            | Self::PixTaken(_)
            | Self::SecondLook(_)
            | Self::Inquired
            | Self::CardForgotten
            | Self::Hinted
            | Self::Concluded
            | Self::MoneyAwaited(_)
            | Self::Mismatched
            | Self::Check(_)
            | Self::ChargedBack(_)
            | Self::DisputeWon(..)
            | Self::OperationRequested(_)
            | Self::Operation(..)
            | Self::DeliveryClaimed(..)
            | Self::DeliveryAttempted(..)
            | Self::ReceiverGone
            | Self::Redelivered(_)
            | Self::Reporting(_)
            | Self::ReportsClaimed(_)
            | Self::Reported(_) => false,
        }
    }

    /// Returns true if it produces an event, which counts as a version of its own.
    pub(super) const fn makes_event(&self) -> bool {
        matches!(self, Self::StatusChanged { .. } | Self::RefundReported(..))
    }
}
