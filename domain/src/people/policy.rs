//! Rules of a merchant's owners for its users.

use serde::{Deserialize, Serialize};

use crate::money::Money;

/// Rules for all users of a merchant. Empty until an owner sets some.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MerchantPolicy {
    /// True if the second factor is required: a person without one must set it up first.
    #[serde(default)]
    pub second_factor_required: bool,
    /// Sum of refunds since the last proof of identity above which a user must prove it again. If absent, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_refunds_above: Option<Money>,
}
