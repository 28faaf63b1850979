//! CPF and CNPJ.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Mask of each character of an erased document.
const MASK: &str = "*";

/// A CPF or CNPJ whose check digits were verified, without punctuation.
///
/// A CNPJ may contain capital letters at its first twelve positions since July 2026 (Instrução Normativa RFB
/// 2.229/2024). So a document is text and never a number. `Debug` is masked; there is no `Display`. Serialized as the
/// plain text and verified again when read.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Document {
    kind: DocumentType,
    value: String,
}

impl Document {
    /// Reads the bare characters of a document; punctuation is refused.
    ///
    /// # Errors
    /// A [`DocumentError`] that names the first broken rule; it never contains the value.
    pub fn parse(value: &str, kind: DocumentType) -> Result<Self, DocumentError> {
        if !value.chars().all(|character| kind.allows(character)) {
            return Err(DocumentError::Character);
        }
        if value.len() != kind.length() {
            return Err(DocumentError::Length);
        }
        let mut characters = value.bytes().map(|byte| u32::from(byte.saturating_sub(b'0')));
        let body: Vec<u32> = characters.by_ref().take(kind.length() - 2).collect();
        let given: Vec<u32> = characters.collect();
        if given.iter().any(|digit| *digit > 9) {
            return Err(DocumentError::Character);
        }
        if body.iter().chain(&given).all(|digit| body.first() == Some(digit)) {
            return Err(DocumentError::Repeated);
        }
        if check_digits(&body, kind.top_weight()) != given {
            return Err(DocumentError::CheckDigit);
        }
        Ok(Self { kind, value: value.to_owned() })
    }

    /// Reads a document with or without its usual mask (`111.444.777-35`, `11.222.333/0001-81`).
    ///
    /// # Errors
    /// As [`Document::parse`]; punctuation elsewhere than in the mask is a [`DocumentError::Character`].
    pub fn parse_formatted(value: &str, kind: DocumentType) -> Result<Self, DocumentError> {
        let mask = kind.mask();
        let fits = value.len() == mask.len()
            && value.bytes().zip(mask.bytes()).all(|(byte, place)| place == b'0' || place == byte);
        if !fits {
            return Self::parse(value, kind);
        }
        let bare: String = value
            .chars()
            .zip(mask.chars())
            .filter(|(_, place)| *place == '0')
            .map(|(kept, _)| kept)
            .collect();
        Self::parse(&bare, kind)
    }

    /// Returns the mask of an erased document: as many asterisks as it had characters. Accepted from the store, never
    /// from a request.
    pub fn erased(kind: DocumentType) -> Self {
        Self { kind, value: MASK.repeat(kind.length()) }
    }

    /// Returns the bare characters: 11 of a CPF, 14 of a CNPJ.
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// Returns CPF or CNPJ.
    pub const fn kind(&self) -> DocumentType {
        self.kind
    }

    /// Returns the document with the usual mask: `111.444.777-35` or `11.222.333/0001-81`.
    pub fn formatted(&self) -> String {
        let mut characters = self.value.chars();
        let fill = |place| if place == '0' { characters.next().unwrap_or(place) } else { place };
        self.kind.mask().chars().map(fill).collect()
    }

    /// Returns the form that may be logged: `***.444.777-**` or `**.222.333/0001-**`.
    pub fn masked(&self) -> String {
        let cover = |(shown, place)| if place == '*' { '*' } else { shown };
        self.formatted().chars().zip(self.kind.cover().chars()).map(cover).collect()
    }

    /// Returns true if this is a CNPJ with letters, which older systems of banks may not accept.
    pub fn is_alphanumeric(&self) -> bool {
        self.value.bytes().any(|byte| byte.is_ascii_uppercase())
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document({})", self.masked())
    }
}

impl TryFrom<String> for Document {
    type Error = DocumentError;

    /// Reads a document; its length distinguishes a CPF from a CNPJ.
    fn try_from(value: String) -> Result<Self, Self::Error> {
        let kind =
            if value.len() == DocumentType::Cpf.length() { DocumentType::Cpf } else { DocumentType::Cnpj };
        let erased = Self::erased(kind);
        if value == erased.value { Ok(erased) } else { Self::parse(&value, kind) }
    }
}

impl From<Document> for String {
    fn from(document: Document) -> Self {
        document.value
    }
}

/// Register of a document. Read in any letter case, written in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum DocumentType {
    /// Of a person: 11 digits.
    Cpf,
    /// Of a company: 14 characters.
    Cnpj,
}

impl DocumentType {
    /// Reads `CPF` or `CNPJ` in any letter case.
    ///
    /// # Errors
    /// [`UnknownDocumentType`] for anything else.
    pub fn parse(value: &str) -> Result<Self, UnknownDocumentType> {
        [Self::Cpf, Self::Cnpj]
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(value))
            .ok_or(UnknownDocumentType)
    }

    /// Returns `CPF` or `CNPJ`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cpf => "CPF",
            Self::Cnpj => "CNPJ",
        }
    }

    const fn allows(self, character: char) -> bool {
        match self {
            Self::Cpf => character.is_ascii_digit(),
            Self::Cnpj => character.is_ascii_digit() || character.is_ascii_uppercase(),
        }
    }

    const fn length(self) -> usize {
        match self {
            Self::Cpf => 11,
            Self::Cnpj => 14,
        }
    }

    const fn mask(self) -> &'static str {
        match self {
            Self::Cpf => "000.000.000-00",
            Self::Cnpj => "00.000.000/0000-00",
        }
    }

    const fn cover(self) -> &'static str {
        match self {
            Self::Cpf => "***.000.000-**",
            Self::Cnpj => "**.000.000/0000-**",
        }
    }

    /// Returns the highest weight before they start again at 2; a CPF is too short to start again.
    const fn top_weight(self) -> u32 {
        match self {
            Self::Cpf => 11,
            Self::Cnpj => 9,
        }
    }
}

impl FromStr for DocumentType {
    type Err = UnknownDocumentType;

    fn from_str(value: &str) -> Result<Self, Self::Err> {
        Self::parse(value)
    }
}

impl TryFrom<String> for DocumentType {
    type Error = UnknownDocumentType;

    fn try_from(value: String) -> Result<Self, Self::Error> {
        Self::parse(&value)
    }
}

impl From<DocumentType> for &'static str {
    fn from(kind: DocumentType) -> Self {
        kind.as_str()
    }
}

/// Reason why a document was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// A character that this kind of document can't have at its position.
    #[error("a CPF has only digits, a CNPJ digits and capital letters, both without punctuation")]
    Character,
    /// Too few or too many characters.
    #[error("a CPF has 11 digits, a CNPJ 14 characters")]
    Length,
    /// One character repeated throughout: the arithmetic may pass, the document does not exist.
    #[error("a CPF or CNPJ can't be one character repeated")]
    Repeated,
    /// The last two digits do not follow from the others.
    #[error("the check digits are wrong")]
    CheckDigit,
}

impl DocumentError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Length => "length",
            Self::Repeated => "repeated",
            Self::CheckDigit => "check_digit",
        }
    }
}

/// Error: neither `CPF` nor `CNPJ`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the document type is CPF or CNPJ")]
pub struct UnknownDocumentType;

/// Returns the two check digits: weights 2, 3, … from right to left, the second over the first as well.
fn check_digits(body: &[u32], top_weight: u32) -> Vec<u32> {
    let digit = |values: &[u32]| {
        let weights = (2..=top_weight).cycle();
        let sum: u32 = values.iter().rev().zip(weights).map(|(value, weight)| value * weight).sum();
        match sum % 11 {
            0 | 1 => 0,
            remainder => 11 - remainder,
        }
    };
    let first = digit(body);
    let mut longer = body.to_vec();
    longer.push(first);
    vec![first, digit(&longer)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_reason() {
        use DocumentError::{Character, CheckDigit, Length, Repeated};
        use DocumentType::{Cnpj, Cpf};
        for (value, kind, error) in [
            ("111.444.777-35", Cpf, Character),
            ("1114447773A", Cpf, Character),
            ("１１１44477735", Cpf, Character),
            ("12abc34501de35", Cnpj, Character),
            ("12ABC34501DEA5", Cnpj, Character),
            ("", Cpf, Length),
            ("1114447773", Cpf, Length),
            ("11222333000181", Cpf, Length),
            ("11144477735", Cnpj, Length),
            ("22222222222", Cpf, Repeated),
            ("00000000000000", Cnpj, Repeated),
            ("11144477736", Cpf, CheckDigit),
            ("12ABC34501DE45", Cnpj, CheckDigit),
        ] {
            assert_eq!(Document::parse(value, kind), Err(error), "{value}");
        }
    }

    #[test]
    fn fourteen_characters_that_only_begin_alike_are_a_document() {
        assert!(Document::parse("11111111111180", DocumentType::Cnpj).is_ok());
    }

    #[test]
    fn a_mask_is_taken_only_whole_and_only_when_asked_for() {
        let masked = |value| Document::parse_formatted(value, DocumentType::Cpf);
        assert_eq!(masked("111.444.777-35").unwrap().as_str(), "11144477735");
        assert_eq!(masked("11144477735").unwrap().formatted(), "111.444.777-35");
        assert_eq!(masked("111.444.77735"), Err(DocumentError::Character));
        assert_eq!(masked("ééé.ééé-"), Err(DocumentError::Character));
    }

    #[test]
    fn a_document_is_masked_when_shown() {
        let cpf = Document::parse("11144477735", DocumentType::Cpf).unwrap();
        assert_eq!(format!("{cpf:?}"), "Document(***.444.777-**)");
        let cnpj = Document::parse("11222333000181", DocumentType::Cnpj).unwrap();
        assert_eq!(cnpj.masked(), "**.222.333/0001-**");
    }

    #[test]
    fn a_document_is_verified_again_when_read() {
        let read = |text| serde_json::from_str::<Document>(text);
        assert_eq!(read("\"12ABC34501DE35\"").unwrap().kind(), DocumentType::Cnpj);
        let cpf = read("\"11144477735\"").unwrap();
        assert_eq!(serde_json::to_string(&cpf).unwrap(), "\"11144477735\"");
        assert!(read("\"11144477736\"").is_err());
    }

    #[test]
    fn an_erased_document_reads_back_and_is_never_taken_from_a_request() {
        for (kind, masked) in
            [(DocumentType::Cpf, "***.***.***-**"), (DocumentType::Cnpj, "**.***.***/****-**")]
        {
            let erased = Document::erased(kind);
            let stored = serde_json::to_string(&erased).unwrap();
            assert_eq!(serde_json::from_str::<Document>(&stored).unwrap(), erased);
            assert_eq!((erased.formatted(), erased.masked()), (masked.into(), masked.into()));
            assert_eq!(Document::parse(erased.as_str(), kind), Err(DocumentError::Character));
        }
        assert!(serde_json::from_str::<Document>("\"*\"").is_err());
    }

    #[test]
    fn the_type_is_read_in_any_letter_case() {
        assert_eq!(DocumentType::parse("cPf"), Ok(DocumentType::Cpf));
        assert_eq!("CNPJ".parse(), Ok(DocumentType::Cnpj));
        assert_eq!(DocumentType::parse("RG"), Err(UnknownDocumentType));
        assert_eq!(serde_json::to_string(&DocumentType::Cnpj).unwrap(), "\"CNPJ\"");
    }
}
