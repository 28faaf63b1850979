//! Cards: number, brand, expiry, and the parts of them that may be kept.
//!
//! PCI DSS 4.0.1, requirement 3: the security code is never kept, the number only truncated to its first six
//! and last four digits. [`CardData`] therefore has no serialized form; [`MaskedCard`] is what may be stored.

pub mod brand;
pub mod cvv;
pub mod error;
pub mod expiry;
pub mod fingerprint;
pub mod free_text;
pub mod masked;
pub mod number;
pub mod token;

use std::fmt;

pub use brand::Brand;
pub use cvv::Cvv;
pub use error::CardError;
pub use expiry::Expiry;
pub use fingerprint::CardFingerprint;
pub use free_text::holds_card_number;
pub use masked::MaskedCard;
pub use number::CardNumber;

/// Everything an acquirer needs to charge a card. `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct CardData {
    /// The full number.
    pub number: CardNumber,
    /// The name embossed on the card.
    pub holder_name: String,
    /// The last month in which the card may be used.
    pub expiry: Expiry,
    /// The security code.
    pub cvv: Cvv,
}

impl CardData {
    /// Returns the data of this card that may be kept and shown.
    pub fn masked(&self) -> MaskedCard {
        MaskedCard {
            brand: self.number.brand(),
            first_digits: self.number.first6().to_owned(),
            last_digits: self.number.last4().to_owned(),
            holder_name: self.holder_name.clone(),
        }
    }
}

impl fmt::Debug for CardData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CardData(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> CardData {
        let number = CardNumber::parse("4111111111111111").unwrap();
        let cvv = Cvv::parse("737", number.brand()).unwrap();
        CardData { number, holder_name: "FULANO DE TAL".into(), expiry: Expiry::new(12, 2030).unwrap(), cvv }
    }

    #[test]
    fn nothing_of_a_card_is_printed() {
        assert_eq!(format!("{:?}", card()), "CardData(***)");
        for part in [format!("{:?}", card().number), format!("{:?}", card().cvv)] {
            assert!(!part.contains(|character: char| character.is_ascii_digit()), "{part}");
        }
    }

    #[test]
    fn a_masked_card_keeps_six_and_four_digits() {
        let json = serde_json::to_value(card().masked()).unwrap();
        let expected = serde_json::json!({
            "brand": "visa", "firstDigits": "411111", "lastDigits": "1111", "holderName": "FULANO DE TAL",
        });
        assert_eq!(json, expected);
    }
}
