//! The number of a card.

use super::{Brand, CardError};
use crate::secret::Secret;
use crate::text::is_digits;

/// A card number that passes Luhn, belongs to a known brand and has a length of that brand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardNumber {
    digits: Secret<String>,
    brand: Brand,
}

impl CardNumber {
    /// Reads 13 to 19 digits without punctuation.
    ///
    /// # Errors
    /// A [`CardError`] that names the first broken rule; it never contains the number.
    pub fn parse(value: &str) -> Result<Self, CardError> {
        if !value.is_empty() && !is_digits(value) {
            return Err(CardError::Character);
        }
        if !(13..=19).contains(&value.len()) {
            return Err(CardError::Length);
        }
        if !passes_luhn(value) {
            return Err(CardError::CheckDigit);
        }
        let brand = Brand::of(value).ok_or(CardError::UnknownBrand)?;
        if !brand.lengths().contains(&value.len()) {
            return Err(CardError::BrandLength);
        }
        Ok(Self { digits: Secret::new(value.to_owned()), brand })
    }

    /// Returns the brand, as determined by the first digits.
    pub const fn brand(&self) -> Brand {
        self.brand
    }

    /// Returns the first six digits, which may be shown and kept.
    pub fn first6(&self) -> &str {
        self.digits.expose().get(..6).unwrap_or_default()
    }

    /// Returns the last four digits, which may be shown and kept.
    pub fn last4(&self) -> &str {
        let digits = self.digits.expose();
        digits.get(digits.len().saturating_sub(4)..).unwrap_or_default()
    }

    /// Returns the first six digits, stars, the last four: `411111******1111`.
    pub fn masked(&self) -> String {
        let hidden = self.digits.expose().len().saturating_sub(10);
        format!("{}{}{}", self.first6(), "*".repeat(hidden), self.last4())
    }

    /// Returns the whole number, for the acquirer's request and nothing else.
    pub fn expose(&self) -> &str {
        self.digits.expose()
    }
}

/// Returns true if a text of digits passes Luhn: from the right every second one doubled, the sum a multiple of ten.
pub fn passes_luhn(digits: &str) -> bool {
    let value = |(place, character): (usize, char)| {
        let digit = character.to_digit(10)?;
        let doubled = if place % 2 == 1 { digit * 2 } else { digit };
        Some(if doubled > 9 { doubled - 9 } else { doubled })
    };
    let sum: Option<u32> = digits.chars().rev().enumerate().map(value).sum();
    !digits.is_empty() && sum.is_some_and(|sum| sum % 10 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_reason() {
        for (value, error) in [
            ("4111-1111-1111-1111", CardError::Character),
            ("４111111111111111", CardError::Character),
            ("", CardError::Length),
            ("411111111111", CardError::Length),
            ("41111111111111111111", CardError::Length),
            ("4111111111111112", CardError::CheckDigit),
            ("0000000000000000", CardError::UnknownBrand),
            ("55555555555553", CardError::BrandLength),
        ] {
            assert_eq!(CardNumber::parse(value), Err(error), "{value}");
        }
    }

    #[test]
    fn every_single_wrong_digit_is_found() {
        let right = "4111111111111111";
        for place in 0..right.len() {
            for digit in '0'..='9' {
                let mut wrong: Vec<char> = right.chars().collect();
                wrong[place] = digit;
                let wrong: String = wrong.into_iter().collect();
                assert_eq!(passes_luhn(&wrong), wrong == right, "{wrong}");
            }
        }
    }
}
