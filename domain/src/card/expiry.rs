//! Expiry of a card.

use std::fmt;

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::CardError;
use crate::text::is_digits;

/// The last month in which a card may be used. Serialized as `MM/YYYY`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expiry {
    year: i32,
    month: u32,
}

impl Expiry {
    /// Creates an expiry from a month from 1 to 12 and a year of four digits.
    ///
    /// # Errors
    /// [`CardError::Month`] or [`CardError::Year`]. A past month is no error here: see [`Expiry::is_valid_on`].
    pub fn new(month: u32, year: i32) -> Result<Self, CardError> {
        if !(1..=12).contains(&month) {
            return Err(CardError::Month);
        }
        if !(1000..=9999).contains(&year) {
            return Err(CardError::Year);
        }
        Ok(Self { year, month })
    }

    /// Reads `MM/YYYY`.
    ///
    /// # Errors
    /// [`CardError::ExpiryForm`], or as [`Expiry::new`].
    pub fn parse(value: &str) -> Result<Self, CardError> {
        let (month, year) = value.split_once('/').ok_or(CardError::ExpiryForm)?;
        if month.len() != 2 || year.len() != 4 || !is_digits(month) || !is_digits(year) {
            return Err(CardError::ExpiryForm);
        }
        let month = month.parse().map_err(|_| CardError::Month)?;
        let year = year.parse().map_err(|_| CardError::Year)?;
        Self::new(month, year)
    }

    /// Returns true if the card may still be used on that date in Brazil: through the last day of its month.
    pub fn is_valid_on(self, today: NaiveDate) -> bool {
        (self.year, self.month) >= (today.year(), today.month())
    }

    /// Returns the month, 1 to 12.
    pub const fn month(self) -> u32 {
        self.month
    }

    /// Returns the year, four digits.
    pub const fn year(self) -> i32 {
        self.year
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}/{:04}", self.month, self.year)
    }
}

impl TryFrom<String> for Expiry {
    type Error = CardError;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        Self::parse(&value)
    }
}

impl From<Expiry> for String {
    fn from(expiry: Expiry) -> Self {
        expiry.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_written_as_it_is_read() {
        assert_eq!(Expiry::parse("01/2031").unwrap().to_string(), "01/2031");
        assert_eq!(Expiry::parse("01/2031"), Expiry::new(1, 2031));
    }

    #[test]
    fn each_refusal_has_its_reason() {
        for (value, error) in [
            ("13/2030", CardError::Month),
            ("00/2030", CardError::Month),
            ("12/0030", CardError::Year),
            ("12/30", CardError::ExpiryForm),
            ("1/2030", CardError::ExpiryForm),
            ("+1/2030", CardError::ExpiryForm),
            ("122030", CardError::ExpiryForm),
        ] {
            assert_eq!(Expiry::parse(value), Err(error), "{value}");
        }
    }
}
