//! Exceptions: discrepancies that need a person.

use serde::{Deserialize, Serialize};

use crate::identity::{AcquirerName, TransactionId};
use crate::payment::DiscrepancyKind;
use crate::reconciliation::ReconciliationKind;
use crate::time::Timestamp;

/// Kind of an exception for a notice whose payment is not stored here.
pub const UNKNOWN_PAYMENT: &str = "unknown_payment";

/// Kind of an exception for a payment that this version can't read.
pub const UNREADABLE: &str = "unreadable";

/// Kind of an exception for a range of slip numbers of which nine tenths are used.
pub const NUMBERS_LOW: &str = "numbers_low";

/// Kind of an exception for a payment link at which many cards were declined.
pub const CARD_TESTING: &str = "card_testing";

/// A discrepancy that the service can't settle by itself. Shown to operators until it is resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    /// Id, the same for the same cause: a repeated report changes nothing.
    pub id: String,
    /// Its kind: `amount_mismatch`, `unknown_payment`, …
    pub kind: String,
    /// The payment, which may be unknown here; absent if it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<TransactionId>,
    /// The acquirer involved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquirer: Option<AcquirerName>,
    /// Statement and contradicting state of the payment, without personal data.
    pub detail: String,
    /// Advice on what may be done next.
    pub advice: String,
    /// Time of the first report.
    pub reported_at: Timestamp,
    /// Resolution by a person. Open while absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

/// Resolution of an exception by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// Time of the resolution.
    pub at: Timestamp,
    /// The person.
    pub by: String,
    /// Description of what was done, in that person's words.
    pub note: String,
}

/// Action on an exception that this service offers. Everything else is done at the acquirer or with the merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceptionAction {
    /// Ask the acquirer.
    AskAcquirer,
    /// Close it.
    Resolve,
}

impl ExceptionAction {
    /// Every action.
    pub const ALL: [Self; 2] = [Self::AskAcquirer, Self::Resolve];

    /// Returns the spelling of forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AskAcquirer => "ask_acquirer",
            Self::Resolve => "resolve",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// Returns the actions that make sense for an exception of this kind, the best first.
pub fn possible_actions(kind: &str) -> &'static [ExceptionAction] {
    use ExceptionAction::{AskAcquirer, Resolve};
    match DiscrepancyKind::parse(kind) {
        // Something is open, and an answer may settle it.
        Some(
            DiscrepancyKind::UnknownOutcome
            | DiscrepancyKind::TooEarly
            | DiscrepancyKind::ForeignCharge
            | DiscrepancyKind::Contradiction
            | DiscrepancyKind::LateAuthorization
            | DiscrepancyKind::AmountUnknown,
        ) => &[AskAcquirer, Resolve],
        // The acquirer has stated what happened.
        Some(
            DiscrepancyKind::AmountMismatch
            | DiscrepancyKind::Overpaid
            | DiscrepancyKind::PaidTwice
            | DiscrepancyKind::SecondCharge
            | DiscrepancyKind::PaidAfterDecline
            | DiscrepancyKind::RefundExceedsPaid
            | DiscrepancyKind::RefundedAndChargedBack
            | DiscrepancyKind::NumberTaken
            | DiscrepancyKind::PixCodeMissing,
        ) => &[Resolve],
        // It may have money of its own.
        Some(DiscrepancyKind::PixTaken) => &[AskAcquirer, Resolve],
        None => after_reconciliation(kind),
    }
}

fn after_reconciliation(kind: &str) -> &'static [ExceptionAction] {
    use ExceptionAction::{AskAcquirer, Resolve};
    match ReconciliationKind::parse(kind) {
        // One side may be behind.
        Some(ReconciliationKind::StatusDiffers | ReconciliationKind::MissingThere) => &[AskAcquirer, Resolve],
        Some(
            ReconciliationKind::AmountDiffers
            | ReconciliationKind::MovementDiffers
            | ReconciliationKind::UnknownHere
            | ReconciliationKind::ListNotCompared,
        ) => &[Resolve],
        // There is no payment to inquire about: it is unknown or unreadable here, or the kind is from another version.
        None => &[Resolve],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconciliation::RECONCILIATION_KINDS;

    #[test]
    fn every_exception_can_be_resolved_and_what_is_open_can_be_asked_for() {
        let asks = |kind: &str| possible_actions(kind).contains(&ExceptionAction::AskAcquirer);
        let kinds = DiscrepancyKind::ALL.map(DiscrepancyKind::as_str).into_iter();
        let kinds = kinds.chain(RECONCILIATION_KINDS.map(ReconciliationKind::as_str));
        for kind in kinds.chain([UNKNOWN_PAYMENT, UNREADABLE, NUMBERS_LOW, CARD_TESTING, "?"]) {
            assert!(possible_actions(kind).contains(&ExceptionAction::Resolve), "{kind}");
        }
        assert!(asks("unknown_outcome") && asks("too_early") && asks("contradiction"));
        assert!(asks("status_differs") && asks("missing_there") && !asks("unknown_here"));
        assert!(!asks("paid_twice") && !asks(UNKNOWN_PAYMENT) && !asks("?"));
    }

    #[test]
    fn an_action_is_read_as_it_is_spelt() {
        for action in ExceptionAction::ALL {
            assert_eq!(ExceptionAction::parse(action.as_str()), Some(action));
        }
        assert_eq!(ExceptionAction::parse("refund"), None);
    }
}
