//! Postal codes and federative units: CEP and UF.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::text::is_digits;

/// Masks of an erased postal code and an erased unit.
const ERASED_CEP: &str = "********";
const ERASED_UF: &str = "**";

/// A Brazilian postal code: eight digits.
///
/// Only the form is checked, because there is no table of assigned codes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cep(String);

impl Cep {
    /// Reads eight digits without punctuation.
    ///
    /// # Errors
    /// [`PostalError::Cep`] for anything else.
    pub fn parse(value: &str) -> Result<Self, PostalError> {
        if value.len() == 8 && is_digits(value) { Ok(Self(value.to_owned())) } else { Err(PostalError::Cep) }
    }

    /// Returns the mask of an erased code. Accepted from the store, never from a request.
    pub fn erased() -> Self {
        Self(ERASED_CEP.to_owned())
    }

    /// Returns the eight digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if the postal service assigned this code to that state (Correios, Faixas de CEP por UF). Unassigned
    /// codes count as right, since ranges are added over time.
    pub fn may_be_in(&self, state: Uf) -> bool {
        let of = self.0.get(..5).and_then(|region| region.parse::<u32>().ok());
        let ranges =
            || STATES_BY_CEP.iter().filter(|(from, to, _)| of.is_some_and(|of| (*from..=*to).contains(&of)));
        ranges().next().is_none() || ranges().any(|(_, _, uf)| *uf == state.as_str())
    }

    /// Returns the form printed on a letter: `01310-100`.
    pub fn formatted(&self) -> String {
        let (region, rest) = self.0.split_at_checked(5).unwrap_or_default();
        format!("{region}-{rest}")
    }
}

impl TryFrom<String> for Cep {
    type Error = PostalError;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        if value == ERASED_CEP { Ok(Self::erased()) } else { Self::parse(&value) }
    }
}

impl From<Cep> for String {
    fn from(cep: Cep) -> Self {
        cep.0
    }
}

/// A federative unit: one of the 26 states or the federal district, two capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub struct Uf(&'static str);

// Written by hand: the derive would require borrowed input for the `'static` text.
impl<'de> Deserialize<'de> for Uf {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

const UFS: [&str; 27] = [
    "AC", "AL", "AP", "AM", "BA", "CE", "DF", "ES", "GO", "MA", "MT", "MS", "MG", "PA", "PB", "PR", "PE",
    "PI", "RJ", "RN", "RS", "RO", "RR", "SC", "SP", "SE", "TO",
];

/// First five digits of postal codes by state.
const STATES_BY_CEP: [(u32, u32, &str); 32] = [
    (1_000, 19_999, "SP"),
    (20_000, 28_999, "RJ"),
    (29_000, 29_999, "ES"),
    (30_000, 39_999, "MG"),
    (40_000, 48_999, "BA"),
    (49_000, 49_999, "SE"),
    (50_000, 56_999, "PE"),
    (57_000, 57_999, "AL"),
    (58_000, 58_999, "PB"),
    (59_000, 59_999, "RN"),
    (60_000, 63_999, "CE"),
    (64_000, 64_999, "PI"),
    (65_000, 65_999, "MA"),
    (66_000, 68_899, "PA"),
    (68_900, 68_999, "AP"),
    (69_000, 69_299, "AM"),
    (69_300, 69_399, "RR"),
    (69_400, 69_899, "AM"),
    (69_900, 69_999, "AC"),
    (70_000, 72_799, "DF"),
    (72_800, 72_999, "GO"),
    (73_000, 73_699, "DF"),
    (73_700, 76_799, "GO"),
    (76_800, 76_999, "RO"),
    (77_000, 77_999, "TO"),
    (78_000, 78_899, "MT"),
    (78_900, 78_999, "RO"),
    (79_000, 79_999, "MS"),
    (80_000, 87_999, "PR"),
    (88_000, 89_999, "SC"),
    (90_000, 94_999, "RS"),
    (95_000, 99_999, "RS"),
];

impl Uf {
    /// Mask of an erased unit. Accepted from the store, never from a request.
    pub const ERASED: Self = Self(ERASED_UF);

    /// Reads a two-letter code in capitals.
    ///
    /// # Errors
    /// [`PostalError::Uf`] when there is no such unit.
    pub fn parse(value: &str) -> Result<Self, PostalError> {
        UFS.iter().find(|uf| **uf == value).map(|uf| Self(uf)).ok_or(PostalError::Uf)
    }

    /// Returns the two letters.
    pub const fn as_str(&self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Uf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl TryFrom<String> for Uf {
    type Error = PostalError;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        if value == ERASED_UF { Ok(Self::ERASED) } else { Self::parse(&value) }
    }
}

impl From<Uf> for String {
    fn from(uf: Uf) -> Self {
        uf.0.to_owned()
    }
}

/// Reason why a CEP or a UF was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PostalError {
    /// Not eight digits.
    #[error("a CEP has exactly 8 digits")]
    Cep,
    /// Not one of the 27 codes.
    #[error("not one of the 27 two-letter UF codes, in capitals")]
    Uf,
}

impl PostalError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Cep => "format",
            Self::Uf => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_postal_code_is_of_its_state() {
        for (cep, uf, expected) in [
            ("01304000", "SP", true),
            ("01304000", "RJ", false),
            ("69301000", "RR", true),
            ("69301000", "AM", false),
            ("72800000", "GO", true),
            ("72799999", "DF", true),
            ("00000000", "SP", true),
        ] {
            assert_eq!(Cep::parse(cep).unwrap().may_be_in(Uf::parse(uf).unwrap()), expected, "{cep} {uf}");
        }
    }

    #[test]
    fn a_cep_is_printed_with_its_hyphen() {
        assert_eq!(Cep::parse("01310100").unwrap().formatted(), "01310-100");
    }

    #[test]
    fn places_are_validated_again_when_read() {
        assert_eq!(serde_json::to_string(&Uf::parse("SP").unwrap()).unwrap(), "\"SP\"");
        assert!(serde_json::from_str::<Uf>("\"XX\"").is_err());
        assert_eq!(serde_json::from_str::<Cep>("\"01310100\"").unwrap().as_str(), "01310100");
        assert!(serde_json::from_str::<Cep>("\"0131010\"").is_err());
    }

    #[test]
    fn digits_of_other_scripts_are_no_cep() {
        assert_eq!(Cep::parse("٠١٢٣"), Err(PostalError::Cep));
    }
}
