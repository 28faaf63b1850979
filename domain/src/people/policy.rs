//! What the owners of a merchant ask of its people.

use serde::{Deserialize, Serialize};

use crate::money::Money;

/// What holds for everybody of a merchant. Nothing of it, until an owner says otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MerchantPolicy {
    /// Whether nobody gets in without a second factor: who has none sets it up first.
    #[serde(default)]
    pub second_factor_required: bool,
    /// Whoever has refunded more than this since the last proof proves once more who asks. Without it nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_refunds_above: Option<Money>,
}
