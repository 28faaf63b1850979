//! The parts of a payment that change and are visible to the merchant.

use std::sync::Arc;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::acquiring::{Decline, Issued};
use crate::money::Money;
use crate::routing::Attempt;
use crate::status::Status;
use crate::time::Timestamp;

/// State of a payment at one moment. Every event but the last keeps its own.
///
/// Fields that are set from the beginning come first. A store may keep only the differences, and repeats everything
/// after the first new field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Number of changes that the merchant can see.
    pub version: u32,
    /// The status; changed only along the table's edges.
    pub status: Status,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Charges sent to acquirers, oldest first.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// The code to pay with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<Arc<Issued>>,
    /// Reason of the status, if it needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// Time of the first payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_at: Option<Timestamp>,
    /// Time at which all of it had been given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refunded_at: Option<Timestamp>,
    /// Time of the first chargeback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chargeback_at: Option<Timestamp>,
    /// Time of the cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Timestamp>,
    /// Time of the expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<Timestamp>,
    /// Amount that came in, without fine and interest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_amount: Option<Money>,
    /// Boleto: amount that the payer paid, with fine and interest if it was late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_amount: Option<Money>,
    /// The settlement that paid it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settlement_id: Option<String>,
    /// PIX: the transfer's end-to-end id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_to_end_id: Option<String>,
    /// Card: the issuer's authorisation code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_code: Option<String>,
    /// Card: reason of the decline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
    /// Refunds, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Refund>,
    /// Day of the payment in Brasília, as the acquirer states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_on: Option<NaiveDate>,
    /// Fees that the acquirer took, as far as it has stated them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
}

impl State {
    /// Returns the state of a payment that was just opened.
    pub const fn opened(at: Timestamp) -> Self {
        Self {
            version: 0,
            status: Status::Initial,
            status_reason: None,
            updated_at: at,
            paid_at: None,
            refunded_at: None,
            chargeback_at: None,
            cancelled_at: None,
            expired_at: None,
            issued: None,
            captured_amount: None,
            paid_amount: None,
            settlement_id: None,
            end_to_end_id: None,
            authorization_code: None,
            decline: None,
            refunds: Vec::new(),
            paid_on: None,
            cost: None,
            attempts: Vec::new(),
        }
    }

    /// Returns the sum that was certainly given back.
    pub fn refunded_amount(&self) -> Money {
        self.sum_of_refunds(|status| status == RefundStatus::Succeeded)
    }

    /// Returns the amount that may still be refunded: what came in, less every refund that succeeded or may yet
    /// succeed.
    pub fn refundable_amount(&self) -> Money {
        let taken = self.sum_of_refunds(|status| status != RefundStatus::Failed);
        self.captured_amount.unwrap_or_default().minus(taken)
    }

    fn sum_of_refunds(&self, counts: impl Fn(RefundStatus) -> bool) -> Money {
        self.refunds.iter().filter(|refund| counts(refund.status)).map(|refund| refund.amount).sum()
    }
}

/// Money given back, or about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refund {
    /// Our id, or the acquirer's for a refund that was begun there.
    pub id: String,
    /// Amount.
    pub amount: Money,
    /// Its progress.
    pub status: RefundStatus,
    /// Time at which it was requested, or learnt.
    pub created_at: Timestamp,
    /// Reason of a failure, in the acquirer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
}

/// Progress of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundStatus {
    /// On its way.
    Processing,
    /// The payer has the money.
    Succeeded,
    /// Refused by the acquirer.
    Failed,
}

impl RefundStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Processing, Self::Succeeded, Self::Failed];

    /// Reads the API's spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Returns the API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }
}
