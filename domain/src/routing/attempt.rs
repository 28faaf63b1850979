//! Charges sent to acquirers, and their outcomes.

use serde::{Deserialize, Serialize};

use crate::acquiring::{Decline, Reference};
use crate::identity::AcquirerName;
use crate::outbound_call::{OutboundCall, Progress};
use crate::time::Timestamp;

/// One charge sent to one acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Its acquirer.
    pub acquirer: AcquirerName,
    /// Time of the decision, which is before it was sent.
    pub at: Timestamp,
    /// Its call, and the inquiries about it.
    pub call: OutboundCall<ChargeEnd>,
    /// Issuer's decline, if another acquirer was tried after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
    /// True if the acquirer accepted the charge but stated that it has no code to pay with: it is asked once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_code: bool,
    /// True if the acquirer examines the charge for fraud: its outcome may take days.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_review: bool,
    /// The acquirer's ids of the charge.
    #[serde(default, skip_serializing_if = "Reference::is_empty")]
    pub reference: Reference,
    /// Number of the slip, if the acquirer leaves it to us (nosso número). It is stored before anything is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub our_number: Option<u32>,
}

impl Attempt {
    /// Creates a charge that is sent now. The first inquiry is at `inquire_at` if no answer comes.
    pub(crate) const fn sent(
        acquirer: AcquirerName,
        at: Timestamp,
        inquire_at: Timestamp,
        our_number: Option<u32>,
    ) -> Self {
        Self {
            acquirer,
            at,
            call: OutboundCall::sent(inquire_at),
            decline: None,
            without_code: false,
            under_review: false,
            reference: Reference::none(),
            our_number,
        }
    }
}

/// Ways in which the call of a charge ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChargeEnd {
    /// The acquirer stated the outcome: the charge waits for its payer, or the card was approved.
    Known,
    /// The acquirer or issuer refused it.
    Declined,
    /// It certainly had no effect.
    NotDelivered,
}

impl Progress<ChargeEnd> {
    /// Returns the API's spelling, which calls an accepted charge "registering" and a known one "accepted".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready | Self::Sent => "sent",
            Self::Unknown => "unknown",
            Self::Taken => "registering",
            Self::Ended(ChargeEnd::Known) => "accepted",
            Self::Ended(ChargeEnd::Declined) => "declined",
            Self::Ended(ChargeEnd::NotDelivered) => "not_delivered",
        }
    }
}
