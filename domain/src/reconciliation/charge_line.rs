//! Movements of charges at a provider that lists the gains and losses of each recipient.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::line::LineKind;
use crate::acquiring::Reference;
use crate::identity::TransactionId;

/// A movement in the balance of one recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChargeLine {
    /// Payment of the charge, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<TransactionId>,
    /// The provider's name of the charge, under the name that references of payments have for it. Empty if the movement
    /// belongs to no charge.
    #[serde(default, skip_serializing_if = "Reference::is_empty")]
    pub charge: Reference,
    /// The movement.
    pub movement: Movement,
    /// True if the amount is taken from the recipient.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_taken: bool,
    /// True if the recipient is the account itself, which pays the fees.
    pub is_own: bool,
    /// Number of the instalment, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instalment: Option<u32>,
    /// Day in Brasília on which it was paid out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_out_on: Option<NaiveDate>,
    /// Day in Brasília on which it will be paid out, until it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_on: Option<NaiveDate>,
}

impl ChargeLine {
    /// Returns the provider's name of the charge.
    pub fn name(&self) -> Option<&str> {
        self.charge.iter().next().map(|(_, name)| name)
    }
}

/// Reason of a movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Movement {
    /// The payer paid.
    Credit,
    /// Money was given back.
    Refund,
    /// A refund failed, and its money came back.
    RefundReversal,
    /// The holder took money back.
    Chargeback,
    /// A dispute was won, and its money came back.
    DisputeWon,
    /// A movement that belongs to no charge.
    Account,
}

impl Movement {
    /// Returns the spelling in ids of lines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::Refund => "refund",
            Self::RefundReversal => "refund_reversal",
            Self::Chargeback => "chargeback",
            Self::DisputeWon => "dispute_won",
            Self::Account => "account",
        }
    }

    /// Returns the kind of its lines.
    pub const fn kind(self) -> LineKind {
        match self {
            Self::Credit | Self::RefundReversal | Self::DisputeWon => LineKind::Receivable,
            Self::Refund => LineKind::Refund,
            Self::Chargeback => LineKind::Chargeback,
            Self::Account => LineKind::Other,
        }
    }

    /// Returns true if all lines of a charge with this movement are added up before comparison. A provider may split an
    /// amount into instalments in any way.
    pub const fn is_added_up(self) -> bool {
        matches!(self, Self::Credit | Self::Refund | Self::Chargeback)
    }
}
