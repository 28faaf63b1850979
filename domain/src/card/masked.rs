//! Card data that may be kept.

use serde::{Deserialize, Serialize};

use super::Brand;

/// Truncated form of a card, which PCI DSS allows everybody to store and see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaskedCard {
    /// Its brand.
    pub brand: Brand,
    /// The first six digits.
    pub first_digits: String,
    /// The last four digits.
    pub last_digits: String,
    /// The name embossed on the card.
    pub holder_name: String,
}
