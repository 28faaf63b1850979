//! The linha digitável: the bar code as 47 digits to type.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::check_digit::{collection_11, modulo_10};
use super::{Barcode, BoletoError};
use crate::text::is_digits;

/// Number of digits of a line.
pub const LENGTH: usize = 47;

/// Number of digits of the line of a utility's slip (conta de consumo, arrecadação).
pub const UTILITY_LENGTH: usize = 48;

/// Returns true for the 48 digits of a utility's slip: four fields of eleven digits, each with its check digit. The
/// third digit selects modulo 10 or modulo 11 (FEBRABAN, "Layout padrão de arrecadação", version 7).
pub(crate) fn is_utility_line(digits: &str) -> bool {
    let by_modulo_10 = matches!(digits.get(2..3), Some("6" | "7"));
    let by_modulo_11 = matches!(digits.get(2..3), Some("8" | "9"));
    let is_right = |start: usize| {
        let (Some(field), Some(given)) = (digits.get(start..start + 11), digits.get(start + 11..start + 12))
        else {
            return false;
        };
        let digit = if by_modulo_10 { modulo_10(field) } else { collection_11(field) };
        given == digit.to_string()
    };
    digits.len() == UTILITY_LENGTH
        && digits.starts_with('8')
        && (by_modulo_10 || by_modulo_11)
        && [0, 12, 24, 36].into_iter().all(is_right)
}

/// A line whose field digits and general digit were verified. Serialized as 47 digits.
///
/// Three fields of the bar code with a check digit each, the general digit, then factor and amount.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Line {
    digits: String,
    barcode: Barcode,
}

impl Line {
    /// Reads 47 digits, with or without dots and blanks.
    ///
    /// # Errors
    /// A [`BoletoError`] that names the first broken rule; a wrong field digit comes before a wrong general one.
    pub fn parse(text: &str) -> Result<Self, BoletoError> {
        let digits: String = text.chars().filter(|character| !matches!(character, '.' | ' ')).collect();
        if !digits.is_empty() && !is_digits(&digits) {
            return Err(BoletoError::Character);
        }
        if digits.starts_with('8') && digits.len() == 48 {
            return Err(BoletoError::UtilitySlip);
        }
        if digits.len() != LENGTH {
            return Err(BoletoError::Length);
        }
        let part = |start: usize, end: usize| digits.get(start..end).unwrap_or_default();
        for (number, start, end) in [(1, 0, 9), (2, 10, 20), (3, 21, 31)] {
            if part(end, end + 1) != modulo_10(part(start, end)).to_string() {
                return Err(BoletoError::FieldDigit(number));
            }
        }
        let free_field = [part(4, 9), part(10, 20), part(21, 31)].concat();
        let barcode = format!("{}{}{}{free_field}", part(0, 4), part(32, 33), part(33, LENGTH));
        Ok(Self { barcode: Barcode::parse(&barcode)?, digits })
    }

    /// Creates the line of a bar code.
    pub(super) fn of(barcode: Barcode) -> Self {
        let first = [barcode.part(0, 4), barcode.part(19, 24)].concat();
        let second = barcode.part(24, 34);
        let third = barcode.part(34, 44);
        let digits = format!(
            "{first}{}{second}{}{third}{}{}{}",
            modulo_10(&first),
            modulo_10(second),
            modulo_10(third),
            barcode.general_digit(),
            barcode.part(5, 19),
        );
        Self { digits, barcode }
    }

    /// Returns the 47 digits.
    pub fn as_str(&self) -> &str {
        &self.digits
    }

    /// Returns the printed form: `34191.10121 34567.880058 71234.570001 6 16670000012345`.
    pub fn formatted(&self) -> String {
        let part = |start: usize, end: usize| self.digits.get(start..end).unwrap_or_default();
        format!(
            "{}.{} {}.{} {}.{} {} {}",
            part(0, 5),
            part(5, 10),
            part(10, 15),
            part(15, 21),
            part(21, 26),
            part(26, 32),
            part(32, 33),
            part(33, LENGTH),
        )
    }

    /// Returns the bar code of the same slip.
    pub const fn barcode(&self) -> &Barcode {
        &self.barcode
    }

    /// Returns the bar code of the same slip, without a copy.
    pub fn into_barcode(self) -> Barcode {
        self.barcode
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.formatted())
    }
}

impl TryFrom<String> for Line {
    type Error = BoletoError;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        Self::parse(&value)
    }
}

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "34191.10121 34567.880058 71234.570001 6 16670000012345";

    #[test]
    fn a_line_is_printed_as_it_was_read() {
        let line = Line::parse(RIGHT).unwrap();
        assert_eq!(line.formatted(), RIGHT);
        assert_eq!(line.barcode().as_str(), "34196166700000123451101234567880057123457000");
        assert_eq!(line.barcode().line(), line);
    }

    #[test]
    fn each_refusal_has_its_reason() {
        for (text, error) in [
            (RIGHT.replacen("10121", "10122", 1), BoletoError::FieldDigit(1)),
            (RIGHT.replacen("880058", "880059", 1), BoletoError::FieldDigit(2)),
            (RIGHT.replacen("570001", "570002", 1), BoletoError::FieldDigit(3)),
            (RIGHT.replacen(" 6 ", " 7 ", 1), BoletoError::GeneralDigit),
            (RIGHT.replacen(" 6 ", "-6-", 1), BoletoError::Character),
            (format!("{RIGHT}0"), BoletoError::Length),
            (format!("8{}", "0".repeat(47)), BoletoError::UtilitySlip),
            (" . ".to_owned(), BoletoError::Length),
        ] {
            assert_eq!(Line::parse(&text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_swap_that_modulo_10_misses_is_found_by_the_general_digit() {
        // 0 and 9 side by side have the same weight in either order.
        let line = Line::parse("34191090080000016005171234570001316470000010000").unwrap();
        let swapped = line.as_str().replacen("09", "90", 1);
        assert_eq!(Line::parse(&swapped), Err(BoletoError::GeneralDigit));
    }
}
