//! Reasons why a BR Code was refused.

use thiserror::Error;

/// Reason why a BR Code could not be read or written. No message contains any part of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BrCodeError {
    /// More than 512 characters.
    #[error("a BR Code has at most 512 characters")]
    TooLong,
    /// An object without ID or length, of length zero, or beyond the end of its container.
    #[error("an object is malformed or overruns what holds it")]
    Malformed,
    /// The same object twice on one level, or two Pix templates.
    #[error("an object is there twice")]
    Repeated,
    /// Object 00 is not the first or not `01`.
    #[error("the payload does not begin with format 01")]
    Format,
    /// Object 63 is not the last, or is not the checksum of everything before it.
    #[error("the checksum is missing or wrong")]
    Checksum,
    /// Object 01 is neither `11` nor `12`.
    #[error("the point of initiation is neither 11 nor 12")]
    PointOfInitiation,
    /// A mandatory object is missing; its ID.
    #[error("the mandatory object {0} is missing")]
    Missing(&'static str),
    /// Object 53 is not `986`.
    #[error("the currency is not the real")]
    Currency,
    /// Object 58 is not `BR`.
    #[error("the country is not Brazil")]
    Country,
    /// None of the templates 26 to 51 belongs to Pix.
    #[error("there is no Pix template")]
    NotPix,
    /// Both key and location, or neither.
    #[error("there must be either a key or a location")]
    KeyOrLocation,
    /// The key is not a Pix key.
    #[error("the Pix key is not valid")]
    Key,
    /// The location has a scheme, a blank, or more than 77 characters.
    #[error("the location is not a host and path without scheme")]
    Location,
    /// The amount is zero, too large or not written as `123.45`.
    #[error("the amount is not valid")]
    Amount,
    /// Object 62-05 is neither `***` nor 1 to 25 letters and digits.
    #[error("the txid is not valid")]
    Txid,
    /// The merchant's name is empty in ASCII.
    #[error("the merchant's name is empty")]
    MerchantName,
    /// The merchant's city is empty in ASCII.
    #[error("the merchant's city is empty")]
    MerchantCity,
}

impl BrCodeError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed => "malformed",
            Self::Repeated => "repeated",
            Self::Format => "format",
            Self::Checksum => "checksum",
            Self::PointOfInitiation => "point_of_initiation",
            Self::Missing(_) => "missing",
            Self::Currency => "currency",
            Self::Country => "country",
            Self::NotPix => "not_pix",
            Self::KeyOrLocation => "key_or_location",
            Self::Key => "key",
            Self::Location => "location",
            Self::Amount => "amount",
            Self::Txid => "txid",
            Self::MerchantName => "merchant_name",
            Self::MerchantCity => "merchant_city",
        }
    }
}
