//! Pix keys in the form that the directory stores.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::document::{Document, DocumentType};
use crate::phone::{Phone, PhoneKind};
use crate::text::is_digits;

/// Longest key, in characters.
pub const MAX_LENGTH: usize = 77;

/// A Pix key in its stored form: no punctuation in documents, `+` before a phone, lower case elsewhere.
///
/// `Debug` shows only its kind, because most keys are personal data.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PixKey {
    kind: PixKeyKind,
    value: String,
}

impl PixKey {
    /// Reads a key and determines its kind; eleven digits without `+` are a CPF, never a phone.
    ///
    /// # Errors
    /// A [`PixKeyError`] that never contains the key.
    pub fn parse(value: &str) -> Result<Self, PixKeyError> {
        if value.len() > MAX_LENGTH {
            return Err(PixKeyError::Length);
        }
        let kind = detect(value).ok_or(PixKeyError::UnknownKind)?;
        let valid = match kind {
            PixKeyKind::Cpf => Document::parse(value, DocumentType::Cpf).is_ok(),
            PixKeyKind::Cnpj => Document::parse(value, DocumentType::Cnpj).is_ok(),
            PixKeyKind::Phone => is_phone(value),
            PixKeyKind::Email => is_email(value),
            PixKeyKind::Evp => is_lower_case_uuid(value),
        };
        if valid { Ok(Self { kind, value: value.to_owned() }) } else { Err(PixKeyError::Invalid(kind)) }
    }

    /// Returns the stored form.
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// Returns the kind of the key.
    pub const fn kind(&self) -> PixKeyKind {
        self.kind
    }
}

impl fmt::Debug for PixKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PixKey({})", self.kind.as_str())
    }
}

impl TryFrom<String> for PixKey {
    type Error = PixKeyError;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        Self::parse(&value)
    }
}

impl From<PixKey> for String {
    fn from(key: PixKey) -> Self {
        key.value
    }
}

/// Kind of a Pix key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PixKeyKind {
    /// The document of a person.
    Cpf,
    /// The document of a company, with or without letters.
    Cnpj,
    /// A phone in international form.
    Phone,
    /// An e-mail address in lower case.
    Email,
    /// A random UUID issued by the directory.
    Evp,
}

impl PixKeyKind {
    /// Returns `CPF`, `CNPJ`, `PHONE`, `EMAIL` or `EVP`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cpf => "CPF",
            Self::Cnpj => "CNPJ",
            Self::Phone => "PHONE",
            Self::Email => "EMAIL",
            Self::Evp => "EVP",
        }
    }
}

/// Reason why a Pix key was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PixKeyError {
    /// More than 77 characters.
    #[error("a Pix key has at most 77 characters")]
    Length,
    /// It looks like none of the five kinds.
    #[error("a Pix key is a CPF, a CNPJ, a phone with +, an e-mail or a UUID with hyphens")]
    UnknownKind,
    /// It looks like one kind, but breaks its rules.
    #[error("the Pix key is not a valid {}", .0.as_str())]
    Invalid(PixKeyKind),
}

impl PixKeyError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::UnknownKind => "unknown_kind",
            Self::Invalid(_) => "invalid",
        }
    }
}

fn detect(value: &str) -> Option<PixKeyKind> {
    if value.starts_with('+') {
        return Some(PixKeyKind::Phone);
    }
    if value.contains('@') {
        return Some(PixKeyKind::Email);
    }
    match value.len() {
        11 => Some(PixKeyKind::Cpf),
        14 => Some(PixKeyKind::Cnpj),
        36 => Some(PixKeyKind::Evp),
        _ => None,
    }
}

/// Matches `\+[1-9][0-9]\d{1,14}`; after `+55` a mobile, because no other phone of Brazil can be a key.
fn is_phone(value: &str) -> bool {
    let digits = value.trim_start_matches('+');
    if value.len() != digits.len() + 1 || !is_digits(digits) || digits.starts_with('0') {
        return false;
    }
    if digits.starts_with("55") {
        digits.len() >= 12 && Phone::parse(digits).is_ok_and(|phone| phone.kind() == PhoneKind::Mobile)
    } else {
        (3..=16).contains(&digits.len())
    }
}

/// Matches the pattern of the key directory: a local part, `@`, labels of at most 63 characters between dots.
fn is_email(value: &str) -> bool {
    let Some((local, domain)) = value.split_once('@') else { return false };
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| is_plain(byte) || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    !local.is_empty()
        && local.bytes().all(|byte| is_plain(byte) || b".!#$&'*+/=?^_`{|}~-".contains(&byte))
        && domain.split('.').all(is_label)
}

fn is_lower_case_uuid(value: &str) -> bool {
    let groups = value.split('-').map(str::len);
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    groups.eq([8, 4, 4, 4, 12]) && value.bytes().all(|byte| byte == b'-' || is_hex(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_nearly_right_is_refused() {
        for key in [
            "111.444.777-35",
            "12abc34501de35",
            "5511987654321",
            "+551132654321",
            "+5520987654321",
            "++5511987654321",
            "+055119876543",
            "+1",
            "+１４１５５５５２６７１",
            "Fulano@example.com",
            "fulano@example..com",
            "fulano@-example.com",
            "fulano@example.com.",
            "@example.com",
            "a@b@c.com",
            "123E4567-E12B-12D1-A456-426655440000",
            "123e4567-e12b-12d1-a456_426655440000",
            "ééééééé",
        ] {
            assert!(PixKey::parse(key).is_err(), "{key}");
        }
    }

    #[test]
    fn a_key_has_at_most_77_characters() {
        let key = format!("{}@example.com", "a".repeat(65));
        assert_eq!(PixKey::parse(&key).unwrap().kind(), PixKeyKind::Email);
        assert_eq!(PixKey::parse(&format!("a{key}")), Err(PixKeyError::Length));
    }

    #[test]
    fn a_key_is_not_printed() {
        let key = PixKey::parse("fulano@example.com").unwrap();
        assert_eq!(format!("{key:?}"), "PixKey(EMAIL)");
    }
}
