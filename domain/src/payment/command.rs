//! Commands: everything that can happen to a payment.

use super::{Inquiring, Payment};
use crate::acquiring::{ChargeAnswer, Fact, OperationAnswer, Reference};
use crate::delivery::{DeliveryAttempt, Lease};
use crate::identity::{AcquirerName, OperationId, TransactionId};
use crate::numbering::{AttemptNumber, DeliveryIndex};
use crate::operation::{OperationRequest, Verdict};
use crate::time::Timestamp;

/// Input to a payment: an answer, a notice, a request or a timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// The acquirer answered a charge.
    ChargeAnswered {
        /// Number of the charge.
        attempt: AttemptNumber,
        /// The answer.
        answer: ChargeAnswer,
    },
    /// The acquirer answered an inquiry about a charge.
    Inquired {
        /// Number of the charge.
        attempt: AttemptNumber,
        /// [`Payment::inquired_at`](super::Payment::inquired_at) of the inquiry that this answers.
        asked_at: Option<Timestamp>,
        /// State of the call at the time of the inquiry. `None` if this was a check of a charge with a known outcome,
        /// which waits for its payer.
        inquiring: Option<Inquiring>,
        /// The answer.
        answer: ChargeAnswer,
    },
    /// An acquirer sent a notice.
    Notified {
        /// Its sender: the notice binds only the charge there.
        acquirer: AcquirerName,
        /// The fact that it states.
        fact: Fact,
    },
    /// An acquirer hinted that something changed.
    Hinted {
        /// Its sender.
        acquirer: AcquirerName,
        /// The acquirer's own reference of the charge, if it gave one.
        charge: Reference,
    },
    /// The merchant wants to cancel, capture or refund.
    Operate(OperationRequest),
    /// The acquirer answered an operation.
    OperationAnswered {
        /// Id of the operation.
        operation: OperationId,
        /// Number of the sending, from 1.
        sending: u32,
        /// The answer.
        answer: OperationAnswer,
    },
    /// The acquirer answered an inquiry about an operation.
    OperationInquired {
        /// Id of the operation.
        operation: OperationId,
        /// Number of the sending that was asked about.
        sending: u32,
        /// As in [`Command::Inquired`].
        inquiring: Option<Inquiring>,
        /// The answer.
        answer: OperationAnswer,
    },
    /// A person states the outcome of an operation that is stuck.
    OperationResolved {
        /// Id of the operation.
        operation: OperationId,
        /// Its outcome.
        verdict: Verdict,
    },
    /// A person states the outcome of the last charge, which no answer reveals.
    ChargeResolved {
        /// Number of the charge.
        attempt: AttemptNumber,
        /// Its outcome.
        verdict: Verdict,
    },
    /// A person ends a payment whose acquirer takes no more money but holds another amount than requested.
    MismatchEnded,
    /// A delivery attempt ended.
    DeliveryAnswered {
        /// Index in the outbox.
        delivery: DeliveryIndex,
        /// Result of the attempt.
        attempt: DeliveryAttempt,
    },
    /// Deliveries that are due can be sent now.
    Deliver {
        /// Leases that the caller holds, and that may still run.
        held: Vec<Lease>,
    },
    /// The merchant wants an event to be delivered again.
    Redeliver {
        /// Index in the outbox.
        delivery: DeliveryIndex,
    },
    /// Something may be due.
    Wake,
    /// An operator requests inquiries about everything whose outcome is open.
    InquireNow,
    /// The exceptions of the reports with these keys are stored.
    Reported(Vec<String>),
    /// A Pix that would have paid this payment, or been refunded for it, belongs to another payment.
    PixTaken {
        /// Its end-to-end id.
        pix: String,
        /// The other payment.
        other: TransactionId,
    },
    /// The first charge is stored but certainly never left: its creator did not learn of the successful write.
    ChargeNeverLeft,
}

/// Matches a command, and yields its name with a prefix as a string literal.
macro_rules! named {
    ($command:expr, $before:literal) => {
        match $command {
            Command::ChargeAnswered { .. } => &concat!($before, "charge_answered"),
            Command::Inquired { .. } => &concat!($before, "inquired"),
            Command::Notified { .. } => &concat!($before, "notified"),
            Command::Hinted { .. } => &concat!($before, "hinted"),
            Command::Operate(_) => &concat!($before, "operate"),
            Command::OperationAnswered { .. } => &concat!($before, "operation_answered"),
            Command::OperationInquired { .. } => &concat!($before, "operation_inquired"),
            Command::OperationResolved { .. } => &concat!($before, "operation_resolved"),
            Command::ChargeResolved { .. } => &concat!($before, "charge_resolved"),
            Command::MismatchEnded => &concat!($before, "mismatch_ended"),
            Command::DeliveryAnswered { .. } => &concat!($before, "delivery_answered"),
            Command::Redeliver { .. } => &concat!($before, "redeliver"),
            Command::Deliver { .. } => &concat!($before, "deliver"),
            Command::Wake => &concat!($before, "wake"),
            Command::InquireNow => &concat!($before, "inquire_now"),
            Command::Reported(_) => &concat!($before, "reported"),
            Command::PixTaken { .. } => &concat!($before, "pix_taken"),
            Command::ChargeNeverLeft => &concat!($before, "charge_never_left"),
        }
    };
}

impl Command {
    /// Returns the acquirer whose statement about a charge this command carries, whether or not it was asked.
    pub fn told_by<'a>(&'a self, payment: &'a Payment) -> Option<&'a AcquirerName> {
        if let Self::Notified { acquirer, .. } | Self::Hinted { acquirer, .. } = self {
            return Some(acquirer);
        }
        let (attempt, _) = self.answer_about_a_charge()?;
        payment.attempt(attempt).map(|attempt| &attempt.acquirer)
    }

    /// Returns the command's name: a word or two.
    pub const fn name(&self) -> &'static str {
        let name: &'static &'static str = named!(self, "");
        name
    }

    /// Returns the name of the message that executes this command.
    pub const fn message_name(&self) -> &'static &'static str {
        // A thin reference: callers keep many of them.
        named!(self, "execute ")
    }

    /// Returns the origin of the command, as in the ids of exceptions. An operator's early inquiry has the timer's
    /// origin.
    pub const fn source(&self) -> &'static str {
        match self {
            Self::ChargeAnswered { .. } => "charge",
            Self::Inquired { .. } => "inquiry",
            Self::Notified { .. } => "notice",
            Self::Hinted { .. } => "hint",
            Self::Operate(_) | Self::Redeliver { .. } => "merchant",
            Self::OperationAnswered { .. } => "operation",
            Self::OperationInquired { .. } => "operation inquiry",
            Self::OperationResolved { .. } | Self::ChargeResolved { .. } | Self::MismatchEnded => "operator",
            Self::DeliveryAnswered { .. } | Self::Deliver { .. } => "delivery",
            Self::Wake | Self::InquireNow => "timer",
            Self::Reported(_) => "report",
            Self::PixTaken { .. } => "inquiry",
            Self::ChargeNeverLeft => "creation",
        }
    }
}

impl Command {
    /// Returns the answer about a charge that it carries, and the charge's number.
    pub const fn answer_about_a_charge(&self) -> Option<(AttemptNumber, &ChargeAnswer)> {
        match self {
            Self::ChargeAnswered { attempt, answer } | Self::Inquired { attempt, answer, .. } => {
                Some((*attempt, answer))
            }
            Self::Notified { .. }
            | Self::Hinted { .. }
            | Self::Operate(_)
            | Self::OperationAnswered { .. }
            | Self::OperationInquired { .. }
            | Self::OperationResolved { .. }
            | Self::ChargeResolved { .. }
            | Self::MismatchEnded
            | Self::DeliveryAnswered { .. }
            | Self::Deliver { .. }
            | Self::Redeliver { .. }
            | Self::Wake
            | Self::InquireNow
            | Self::Reported(_)
            | Self::PixTaken { .. }
            | Self::ChargeNeverLeft => None,
        }
    }
}
