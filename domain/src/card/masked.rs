//! What of a card may be kept.

use serde::{Deserialize, Serialize};

use super::Brand;

/// The truncated form of a card that PCI DSS lets anybody keep and see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaskedCard {
    /// Visa, Elo and so on.
    pub brand: Brand,
    /// The first six digits.
    pub first_digits: String,
    /// The last four digits.
    pub last_digits: String,
    /// The name embossed on the card.
    pub holder_name: String,
}
