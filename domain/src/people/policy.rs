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
    /// Whoever refunds more than this at once proves once more who asks. Without it nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_refunds_above: Option<Money>,
}

impl MerchantPolicy {
    /// Whether a refund of this amount asks once more who does it.
    pub fn asks_for_refund(&self, amount: Money) -> bool {
        self.confirm_refunds_above.is_some_and(|most| amount > most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_is_asked_about_above_the_limit_and_not_at_it() {
        let cents = Money::from_cents;
        let policy = MerchantPolicy { confirm_refunds_above: Some(cents(100)), ..MerchantPolicy::default() };
        assert!(!policy.asks_for_refund(cents(100)) && policy.asks_for_refund(cents(101)));
        assert!(!MerchantPolicy::default().asks_for_refund(cents(101)));
    }
}
