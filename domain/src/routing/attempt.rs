//! Charges sent to acquirers, and their outcomes.

use serde::{Deserialize, Serialize};

use crate::acquiring::{Decline, Reference};
use crate::identity::AcquirerName;
use crate::time::Timestamp;

/// One charge sent to one acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Its acquirer.
    pub acquirer: AcquirerName,
    /// Its outcome.
    pub outcome: AttemptOutcome,
    /// Time of the decision, which is before it was sent.
    pub at: Timestamp,
    /// Number of inquiries about it.
    #[serde(default)]
    pub inquiries: u32,
    /// Time of the next inquiry, while the outcome is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inquire_at: Option<Timestamp>,
    /// True if the call is known to be over, because its caller reported a failure. If only its lease is over, a
    /// process with another clock may still be making the call.
    #[serde(default, skip_serializing_if = "is_false")]
    pub call_is_over: bool,
    /// Number of "not found" answers since its outcome became unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_found: u32,
    /// Acquirer's reason for refusing a charge that may have been sent before: an inquiry decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Issuer's decline, if another acquirer was tried after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
    /// True if the acquirer took the charge but said that it has no code to pay with: it is asked once more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub without_code: bool,
    /// True if the acquirer examines the charge for fraud: its outcome may take days.
    #[serde(default, skip_serializing_if = "is_false")]
    pub under_review: bool,
    /// The acquirer's ids of the charge.
    #[serde(default, skip_serializing_if = "Reference::is_empty")]
    pub reference: Reference,
    /// Number of the slip, if the acquirer leaves it to us (nosso número). It is stored before anything is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub our_number: Option<u32>,
}

impl Attempt {
    /// Makes a charge that is sent now. The first inquiry is at `inquire_at` if no answer comes.
    pub(crate) const fn sent(
        acquirer: AcquirerName,
        at: Timestamp,
        inquire_at: Timestamp,
        our_number: Option<u32>,
    ) -> Self {
        Self {
            acquirer,
            outcome: AttemptOutcome::Sent,
            at,
            inquiries: 0,
            inquire_at: Some(inquire_at),
            call_is_over: false,
            not_found: 0,
            refusal: None,
            decline: None,
            without_code: false,
            under_review: false,
            reference: Reference::none(),
            our_number,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Outcome of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// Sent, or about to be; no answer yet.
    Sent,
    /// No usable answer: the acquirer is being asked.
    Unknown,
    /// The acquirer took it and has not said yet what becomes of it: it is being asked.
    Registering,
    /// The acquirer has it: it waits for its payer, or the card was approved.
    Accepted,
    /// The acquirer or issuer refused it.
    Declined,
    /// It certainly had no effect.
    NotDelivered,
}

impl AttemptOutcome {
    /// Returns true if an answer is still missing.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Sent | Self::Unknown | Self::Registering => true,
            Self::Accepted | Self::Declined | Self::NotDelivered => false,
        }
    }

    /// Returns the API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Unknown => "unknown",
            Self::Registering => "registering",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::NotDelivered => "not_delivered",
        }
    }
}
