//! Exceptions: what needs a person.

use serde::{Deserialize, Serialize};

use crate::identity::{AcquirerName, TransactionId};
use crate::time::Timestamp;

/// Something that the service can't settle by itself. Shown to operators until it is resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    /// The same for the same cause: reporting it again changes nothing.
    pub id: String,
    /// What kind: `amount_mismatch`, `unknown_payment`, …
    pub kind: String,
    /// The payment, which may be unknown here.
    pub transaction_id: TransactionId,
    /// The acquirer that is involved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquirer: Option<AcquirerName>,
    /// What was stated and what stood against it, without personal data.
    pub detail: String,
    /// What may be done next.
    pub advice: String,
    /// When it was reported first.
    pub reported_at: Timestamp,
    /// What a person did about it. Open while absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

/// How a person settled an exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// What was done, in that person's words.
    pub note: String,
}
