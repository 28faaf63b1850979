//! Reasons why card data was refused.

use thiserror::Error;

/// Reason why a part of a card was refused. Neither variant nor message contains the refused value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CardError {
    /// Something other than the digits 0 to 9.
    #[error("only digits are accepted")]
    Character,
    /// Too few or too many digits.
    #[error("the number of digits is wrong")]
    Length,
    /// The Luhn digit does not follow from the others.
    #[error("the check digit is wrong")]
    CheckDigit,
    /// The first digits belong to no known brand.
    #[error("the card's brand is unknown")]
    UnknownBrand,
    /// The brand has no cards of that length.
    #[error("the card's brand has no numbers of this length")]
    BrandLength,
    /// Not a month from 1 to 12.
    #[error("the expiry month must be from 1 to 12")]
    Month,
    /// Not a year of four digits.
    #[error("the expiry year must have four digits")]
    Year,
    /// Not of the form `MM/YYYY`.
    #[error("the expiry must be written as MM/YYYY")]
    ExpiryForm,
}

impl CardError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Length => "length",
            Self::CheckDigit => "check_digit",
            Self::UnknownBrand => "unknown_brand",
            Self::BrandLength => "brand_length",
            Self::Month => "month",
            Self::Year => "year",
            Self::ExpiryForm => "format",
        }
    }
}
