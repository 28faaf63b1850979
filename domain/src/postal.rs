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
/// Only the form is checked: no table of assigned codes is kept.
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
