//! The security code of a card.

use super::{Brand, CardError};
use crate::secret::Secret;
use crate::text::is_digits;

/// A security code of three digits, four at American Express. Never stored, never printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cvv(Secret<String>);

impl Cvv {
    /// Reads the code of a card of this brand.
    ///
    /// # Errors
    /// [`CardError::Character`] or [`CardError::Length`].
    pub fn parse(value: &str, brand: Brand) -> Result<Self, CardError> {
        if value.len() != brand.cvv_length() {
            return Err(CardError::Length);
        }
        if !is_digits(value) {
            return Err(CardError::Character);
        }
        Ok(Self(Secret::new(value.to_owned())))
    }

    /// Returns the digits themselves, for the acquirer's request and nothing else.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brand_decides_the_length() {
        assert!(Cvv::parse("1234", Brand::Amex).is_ok());
        assert_eq!(Cvv::parse("123", Brand::Amex), Err(CardError::Length));
        assert_eq!(Cvv::parse("1234", Brand::Visa), Err(CardError::Length));
        assert_eq!(Cvv::parse("12a", Brand::Elo), Err(CardError::Character));
        assert_eq!(Cvv::parse("", Brand::Elo), Err(CardError::Length));
    }
}
