//! Brazilian phone numbers.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::text::is_digits;

/// Mask of an erased phone: as many asterisks as a mobile has digits.
const ERASED: &str = "***********";

/// A Brazilian phone with its area code, kept as it was sent.
///
/// Digits only: 10 or 11 (area code and subscriber), or 12 or 13 with the country prefix `55` before them.
/// Ten or eleven digits that begin with 55 are area code 55, Rio Grande do Sul. `Debug` is masked.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Phone(String);

impl Phone {
    /// Reads the digits and checks area code and subscriber.
    ///
    /// # Errors
    /// A [`PhoneError`] that names the first broken rule; it never contains the number.
    pub fn parse(value: &str) -> Result<Self, PhoneError> {
        if !value.is_empty() && !is_digits(value) {
            return Err(PhoneError::Character);
        }
        if !(10..=13).contains(&value.len()) {
            return Err(PhoneError::Length);
        }
        let national = national(value).ok_or(PhoneError::Country)?;
        let (area_code, subscriber) = national.split_at_checked(2).unwrap_or_default();
        if !is_area_code(area_code) {
            return Err(PhoneError::AreaCode);
        }
        kind_of(subscriber).ok_or(PhoneError::Subscriber)?;
        Ok(Self(value.to_owned()))
    }

    /// Returns the mask of an erased phone. Accepted from the store, never from a request.
    pub fn erased() -> Self {
        Self(ERASED.to_owned())
    }

    /// Returns the digits as they were sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns area code and subscriber: 10 digits of a landline, 11 of a mobile.
    pub fn national(&self) -> &str {
        national(&self.0).unwrap_or_default()
    }

    /// Returns the international form: `+5511987654321`.
    pub fn e164(&self) -> String {
        format!("+55{}", self.national())
    }

    /// Returns mobile or landline.
    pub fn kind(&self) -> PhoneKind {
        if self.national().len() == 11 { PhoneKind::Mobile } else { PhoneKind::Landline }
    }

    /// Returns the form that may be logged: area code and the last four digits, `(11) *****-4321`.
    pub fn masked(&self) -> String {
        let national = self.national();
        let area_code = national.get(..2).unwrap_or_default();
        let stars = "*".repeat(national.len().saturating_sub(6));
        let last4 = national.get(national.len().saturating_sub(4)..).unwrap_or_default();
        format!("({area_code}) {stars}-{last4}")
    }
}

impl fmt::Debug for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Phone({})", self.masked())
    }
}

impl TryFrom<String> for Phone {
    type Error = PhoneError;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        if value == ERASED { Ok(Self::erased()) } else { Self::parse(&value) }
    }
}

impl From<Phone> for String {
    fn from(phone: Phone) -> Self {
        phone.0
    }
}

/// Kind of line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneKind {
    /// Nine digits after the area code, the first of them 9.
    Mobile,
    /// Eight digits after the area code, the first of them 2 to 5.
    Landline,
}

impl PhoneKind {
    /// Returns `mobile` or `landline`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mobile => "mobile",
            Self::Landline => "landline",
        }
    }
}

/// Reason why a phone number was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PhoneError {
    /// Something other than the digits 0 to 9.
    #[error("a phone number has only digits")]
    Character,
    /// Not 10 to 13 digits.
    #[error("a phone number has 10 to 13 digits, with its area code")]
    Length,
    /// 12 or 13 digits that do not begin with 55.
    #[error("a phone number of 12 or 13 digits begins with 55")]
    Country,
    /// Not one of the 67 area codes.
    #[error("the area code does not exist")]
    AreaCode,
    /// Neither nine digits from 9 nor eight digits from 2 to 5.
    #[error("a mobile has 9 digits and begins with 9, a landline has 8 and begins with 2 to 5")]
    Subscriber,
}

impl PhoneError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Length => "length",
            Self::Country => "country",
            Self::AreaCode => "area_code",
            Self::Subscriber => "subscriber",
        }
    }
}

fn national(digits: &str) -> Option<&str> {
    if digits.len() >= 12 { digits.strip_prefix("55") } else { Some(digits) }
}

fn kind_of(subscriber: &str) -> Option<PhoneKind> {
    match (subscriber.len(), subscriber.bytes().next()?) {
        (9, b'9') => Some(PhoneKind::Mobile),
        (8, b'2'..=b'5') => Some(PhoneKind::Landline),
        _ => None,
    }
}

/// Returns true for the 67 area codes in use.
fn is_area_code(code: &str) -> bool {
    // All codes without a zero but these are in use.
    let holes = ["23", "25", "26", "29", "36", "39", "52", "56", "57", "58", "59", "72", "76", "78"];
    code.len() == 2 && code.bytes().all(|digit| (b'1'..=b'9').contains(&digit)) && !holes.contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_67_area_codes() {
        let count = (0..100).filter(|code| is_area_code(&format!("{code:02}"))).count();
        assert_eq!(count, 67);
    }

    #[test]
    fn ten_or_eleven_digits_from_55_are_an_area_code() {
        assert_eq!(Phone::parse("55987654321").unwrap().e164(), "+5555987654321");
        assert_eq!(Phone::parse("5532654321").unwrap().e164(), "+555532654321");
    }

    #[test]
    fn a_phone_is_kept_as_sent_and_masked_when_shown() {
        let phone = Phone::parse("5511987654321").unwrap();
        assert_eq!(phone.as_str(), "5511987654321");
        assert_eq!(format!("{phone:?}"), "Phone((11) *****-4321)");
    }

    #[test]
    fn each_refusal_has_its_reason() {
        for (value, error) in [
            ("(11) 98765-4321", PhoneError::Character),
            ("１１987654321", PhoneError::Character),
            ("", PhoneError::Length),
            ("119876543", PhoneError::Length),
            ("119876543210", PhoneError::Country),
            ("20987654321", PhoneError::AreaCode),
            ("1198765432", PhoneError::Subscriber),
            ("11887654321", PhoneError::Subscriber),
        ] {
            assert_eq!(Phone::parse(value), Err(error), "{value}");
        }
    }
}
