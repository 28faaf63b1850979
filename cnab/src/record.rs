//! One record: a line's characters, and the fields at their positions.

use chrono::NaiveDate;
use quita_domain::money::Money;

use crate::bank::BankCode;
use crate::error::{Problem, ReadError};

/// Position of a field, as in the banks' manuals: from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Makes a field with this name at these positions.
pub(crate) const fn field(name: &'static str, from: usize, to: usize) -> Field {
    Field { name, from, to }
}

impl Field {
    /// Returns the largest number that fits.
    pub(crate) fn most(self) -> u64 {
        let digits = self.to.saturating_sub(self.from).saturating_add(1);
        u32::try_from(digits)
            .ok()
            .and_then(|digits| 10_u64.checked_pow(digits))
            .map_or(u64::MAX, |beyond| beyond.saturating_sub(1))
    }
}

/// A line with exactly as many characters as its layout requires.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) line: u64,
    characters: Vec<char>,
}

impl Record {
    pub(crate) fn new(line: u64, characters: Vec<char>) -> Self {
        Self { line, characters }
    }

    /// Makes the error for this record.
    pub(crate) fn refused(&self, problem: Problem) -> ReadError {
        ReadError::Refused { line: self.line, problem }
    }

    /// Returns the character at a position, from 1.
    pub(crate) fn at(&self, position: usize) -> char {
        position.checked_sub(1).and_then(|index| self.characters.get(index)).copied().unwrap_or(' ')
    }

    fn characters(&self, Field { from, to, .. }: Field) -> &[char] {
        from.checked_sub(1).and_then(|from| self.characters.get(from..to)).unwrap_or(&[])
    }

    /// Returns a field unchanged.
    pub(crate) fn raw(&self, field: Field) -> String {
        self.characters(field).iter().collect()
    }

    /// Returns a field's text, trimmed; `None` if it is blank.
    pub(crate) fn text(&self, field: Field) -> Option<String> {
        let raw = self.raw(field);
        let text = raw.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Reads a field's digits as a number; blank is zero.
    pub(crate) fn number(&self, field: Field) -> Result<u64, ReadError> {
        let characters = self.characters(field);
        if characters.iter().all(|character| *character == ' ') {
            return Ok(0);
        }
        let add = |number: u64, character: &char| {
            number.checked_mul(10)?.checked_add(u64::from(character.to_digit(10)?))
        };
        characters.iter().try_fold(0, add).ok_or_else(|| self.no(field, "number"))
    }

    /// Reads a field's digits as cents; blank is zero.
    pub(crate) fn money(&self, field: Field) -> Result<Money, ReadError> {
        self.number(field).map(Money::from_cents)
    }

    /// Reads a date as `DDMMYY` or `DDMMYYYY`; blank or zeros is none.
    pub(crate) fn date(&self, field: Field) -> Result<Option<NaiveDate>, ReadError> {
        let number = self.number(field).map_err(|_| self.no(field, "date"))?;
        if number == 0 {
            return Ok(None);
        }
        let (day_and_month, year) = match field.to.saturating_sub(field.from) {
            // Two-digit years are in this century: return files report recent days.
            5 => (number / 100, (number % 100).saturating_add(2000)),
            _ => (number / 10_000, number % 10_000),
        };
        let part = |number: u64| u32::try_from(number).ok();
        let date = || {
            let year = i32::try_from(year).ok()?;
            NaiveDate::from_ymd_opt(year, part(day_and_month % 100)?, part(day_and_month / 100)?)
        };
        date().map(Some).ok_or_else(|| self.no(field, "date"))
    }

    /// Reads the two characters of an occurrence.
    pub(crate) fn occurrence(&self, field: Field) -> Result<String, ReadError> {
        let code = self.raw(field);
        let is_code = code.chars().all(|character| character.is_ascii_alphanumeric());
        if is_code { Ok(code) } else { Err(self.no(field, "occurrence")) }
    }

    /// Reads the bank's three digits.
    pub(crate) fn bank(&self, field: Field) -> Result<BankCode, ReadError> {
        // Blanks would read as bank 000.
        let has_digits = self.characters(field).iter().all(char::is_ascii_digit);
        let number = if has_digits { self.number(field)? } else { u64::MAX };
        BankCode::from_number(number).ok_or_else(|| self.no(field, "bank's number"))
    }

    /// Compares the value of a field with the counted one. A zero or blank field states nothing, and neither does a
    /// field without room for the value.
    pub(crate) fn holds(
        &self,
        field: Field,
        counted: &[u64],
        show: fn(u64) -> String,
    ) -> Result<(), ReadError> {
        let stated = self.number(field)?;
        let Some(first) = counted.first() else { return Ok(()) };
        if stated == 0 || counted.contains(&stated) || *first > field.most() {
            return Ok(());
        }
        let Field { name, from, to } = field;
        Err(self.refused(Problem::Total { name, from, to, stated: show(stated), counted: show(*first) }))
    }

    fn no(&self, field: Field, expected: &'static str) -> ReadError {
        let Field { name, from, to } = field;
        self.refused(Problem::Field { name, from, to, expected, text: self.raw(field) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> Record {
        Record::new(7, text.chars().collect())
    }

    fn whole(text: &str) -> Field {
        field("field", 1, text.chars().count())
    }

    #[test]
    fn dates_have_two_or_four_digits_for_the_year_and_are_in_the_calendar() {
        for (text, expected) in [
            ("290224", Some((2024, 2, 29))),
            ("31122099", Some((2099, 12, 31))),
            ("000000", None),
            ("        ", None),
        ] {
            let date = expected.map(|(year, month, day)| NaiveDate::from_ymd_opt(year, month, day).unwrap());
            assert_eq!(record(text).date(whole(text)).unwrap(), date, "{text}");
        }
        for text in ["290223", "310413", "001301", "2 0224", "00000001", "aabbcc", "-10224"] {
            let refused = record(text).date(whole(text)).unwrap_err().to_string();
            assert!(
                refused.starts_with("line 7: the field at 1-") && refused.contains("no date"),
                "{refused}"
            );
        }
    }

    #[test]
    fn amounts_are_digits_alone_and_blank_is_nothing() {
        for (text, cents) in
            [("0000000000019", 19), ("             ", 0), ("9999999999999", 9_999_999_999_999)]
        {
            assert_eq!(record(text).money(whole(text)).unwrap().cents(), cents, "{text}");
        }
        for text in ["00000000000-1", "0000000001,00", "000000000 100", "٠٠٠", "99999999999999999999"] {
            assert!(record(text).money(whole(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_position_outside_of_the_record_is_blank() {
        let short = record("ab");
        assert_eq!((short.at(0), short.at(2), short.at(3)), (' ', 'b', ' '));
        assert_eq!(short.text(field("field", 2, 3)), None);
        assert_eq!(short.text(field("field", 0, 1)), None);
    }
}
