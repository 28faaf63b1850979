//! What was sent to which acquirer, and what came of it.

use serde::{Deserialize, Serialize};

use crate::acquiring::{Decline, Reference};
use crate::identity::AcquirerName;
use crate::time::Timestamp;

/// One charge sent to one acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// To whom.
    pub acquirer: AcquirerName,
    /// What came of it.
    pub outcome: AttemptOutcome,
    /// When it was decided, which is before it was sent.
    pub at: Timestamp,
    /// How often the acquirer was asked what became of it.
    #[serde(default)]
    pub inquiries: u32,
    /// When it is asked next, while the outcome is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inquire_at: Option<Timestamp>,
    /// Whether the call is known to be over, because its caller reported its failure. If its lease is all that is over,
    /// a process whose clock differs may still be at it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub call_is_over: bool,
    /// How often the acquirer answered since its outcome became unknown that it does not know the charge.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_found: u32,
    /// What the acquirer said when it refused a charge that may have been sent before: an inquiry decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Why the issuer declined it, if another acquirer was tried after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
    /// Whether the acquirer said that it took the charge and has no code to pay with: it is asked once more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub without_code: bool,
    /// What the acquirer calls the charge.
    #[serde(default, skip_serializing_if = "Reference::is_empty")]
    pub reference: Reference,
}

impl Attempt {
    /// A charge that is sent now, and asked for at this time if no answer comes.
    pub(crate) const fn sent(acquirer: AcquirerName, at: Timestamp, inquire_at: Timestamp) -> Self {
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
            reference: Reference::none(),
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

/// What came of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// Sent, or about to be; no answer yet.
    Sent,
    /// No usable answer: the acquirer is being asked.
    Unknown,
    /// The acquirer took it and does not say yet what becomes of it: it is being asked.
    Registering,
    /// The acquirer has it: it waits for its payer, or the card was approved.
    Accepted,
    /// The acquirer or issuer refused it.
    Declined,
    /// It certainly had no effect.
    NotDelivered,
}

impl AttemptOutcome {
    /// Whether an answer is still missing.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Sent | Self::Unknown | Self::Registering => true,
            Self::Accepted | Self::Declined | Self::NotDelivered => false,
        }
    }

    /// As the API spells it.
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
