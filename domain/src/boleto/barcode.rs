//! The 44 digits of the bar code.

use std::fmt;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::check_digit::general;
use super::{BoletoError, FreeField, Line, due_factor};
use crate::text::is_digits;

/// Number of digits of a bar code.
pub const LENGTH: usize = 44;

/// Largest amount in ten digits: R$ 99.999.999,99, in cents.
pub const MAX_AMOUNT_CENTS: u64 = 9_999_999_999;

/// A bar code whose general check digit was verified.
///
/// Bank (3), currency 9, general digit, due-date factor (4), amount in cents (10), free field (25). Serialized
/// as the plain digits and verified again when read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Barcode(String);

impl Barcode {
    /// Composes the bar code of a slip; no due date and an amount of zero mean that both are open.
    ///
    /// # Errors
    /// [`BoletoError::Amount`] above [`MAX_AMOUNT_CENTS`], [`BoletoError::DueDate`] before 2000-07-03.
    pub fn compose(
        due: Option<NaiveDate>,
        amount_cents: u64,
        free_field: &FreeField,
    ) -> Result<Self, BoletoError> {
        if amount_cents > MAX_AMOUNT_CENTS {
            return Err(BoletoError::Amount);
        }
        let factor = match due {
            Some(due) => due_factor::factor(due).ok_or(BoletoError::DueDate)?,
            None => 0,
        };
        let front = format!("{}9", free_field.bank().code());
        let back = format!("{factor:04}{amount_cents:010}{}", free_field.as_str());
        let digit = general(&format!("{front}{back}"));
        Ok(Self(format!("{front}{digit}{back}")))
    }

    /// Reads 44 digits without punctuation.
    ///
    /// # Errors
    /// A [`BoletoError`] that names the first broken rule.
    pub fn parse(digits: &str) -> Result<Self, BoletoError> {
        if !digits.is_empty() && !is_digits(digits) {
            return Err(BoletoError::Character);
        }
        if digits.len() != LENGTH {
            return Err(BoletoError::Length);
        }
        if digits.starts_with('8') {
            return Err(BoletoError::UtilitySlip);
        }
        let barcode = Self(digits.to_owned());
        if barcode.part(3, 4) != "9" {
            return Err(BoletoError::Currency);
        }
        let others = format!("{}{}", barcode.part(0, 4), barcode.part(5, LENGTH));
        if barcode.general_digit() != general(&others).to_string() {
            return Err(BoletoError::GeneralDigit);
        }
        Ok(barcode)
    }

    /// Returns the 44 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the linha digitável of the same slip.
    pub fn line(&self) -> Line {
        Line::of(self.clone())
    }

    /// Returns the three digits of the bank.
    pub fn bank(&self) -> &str {
        self.part(0, 3)
    }

    /// Returns the amount in cents; zero means that it is open.
    pub fn amount_cents(&self) -> u64 {
        self.part(9, 19).parse().unwrap_or_default()
    }

    /// Returns the due-date factor; zero means no due date.
    pub fn factor(&self) -> u16 {
        self.part(5, 9).parse().unwrap_or_default()
    }

    /// Returns the due date as seen from `reference`: see [`due_factor::due_date`].
    pub fn due_date(&self, reference: NaiveDate) -> Option<NaiveDate> {
        due_factor::due_date(self.factor(), reference)
    }

    /// Returns the 25 digits that belong to the bank.
    pub fn free_field(&self) -> &str {
        self.part(19, LENGTH)
    }

    pub(super) fn general_digit(&self) -> &str {
        self.part(4, 5)
    }

    /// Returns the digits from `start` up to `end`, counted from 0; positions in manuals count from 1.
    pub(super) fn part(&self, start: usize, end: usize) -> &str {
        self.0.get(start..end).unwrap_or_default()
    }
}

impl fmt::Display for Barcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Barcode {
    type Error = BoletoError;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        Self::parse(&value)
    }
}

impl From<Barcode> for String {
    fn from(barcode: Barcode) -> Self {
        barcode.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boleto::CollectionAccount;

    fn free_field() -> FreeField {
        CollectionAccount::itau("0057", "12345", "109").unwrap().free_field(1).unwrap()
    }

    #[test]
    fn an_open_slip_has_zeros_for_factor_and_amount() {
        let barcode = Barcode::compose(None, 0, &free_field()).unwrap();
        assert_eq!(barcode.part(5, 19), "00000000000000");
        assert_eq!(barcode.due_date("2026-11-21".parse().unwrap()), None);
        assert_eq!(Barcode::parse(barcode.as_str()), Ok(barcode));
    }

    #[test]
    fn an_amount_that_spills_over_the_factor_is_refused() {
        let compose = |cents| Barcode::compose(None, cents, &free_field());
        assert!(compose(MAX_AMOUNT_CENTS).is_ok());
        assert_eq!(compose(MAX_AMOUNT_CENTS + 1), Err(BoletoError::Amount));
        let early = "2000-07-02".parse().unwrap();
        assert_eq!(Barcode::compose(Some(early), 1, &free_field()), Err(BoletoError::DueDate));
    }

    #[test]
    fn each_refusal_has_its_reason() {
        let right = "34193164700000100001090000000160057123457000";
        assert!(Barcode::parse(right).is_ok());
        for (digits, error) in [
            (right.replacen("3419", "3418", 1), BoletoError::Currency),
            (right.replacen("3", "8", 1), BoletoError::UtilitySlip),
            (right.replacen("34193", "34194", 1), BoletoError::GeneralDigit),
            (right.replacen('0', "O", 1), BoletoError::Character),
            (format!("{right}0"), BoletoError::Length),
            (String::new(), BoletoError::Length),
            ("0".repeat(44), BoletoError::Currency),
        ] {
            assert_eq!(Barcode::parse(&digits), Err(error), "{digits}");
        }
    }

    #[test]
    fn a_barcode_is_verified_again_when_read() {
        let right = "\"34193164700000100001090000000160057123457000\"";
        assert!(serde_json::from_str::<Barcode>(right).is_ok());
        assert!(serde_json::from_str::<Barcode>(&right.replace("34193", "34194")).is_err());
    }
}
