//! Reasons why a file was refused.

use std::io;

use crate::bank::BankCode;

/// Error that ended the reading of a file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is not one that a bank would send.
    #[error("line {line}: {problem}; {}", problem.remedy())]
    Refused {
        /// Line of the error, from 1.
        line: u64,
        /// The problem.
        problem: Problem,
    },
    /// The file could not be read.
    #[error("it can't be read: {0}")]
    Io(#[from] io::Error),
}

/// Problem of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It has no record.
    #[error("the file is empty")]
    Empty,
    /// It has two bytes for each character (UTF-16).
    #[error("the file is in UTF-16")]
    Utf16,
    /// The first line has the length of no layout.
    #[error("it has {characters} characters, and a line has 400 (CNAB 400) or 240 (CNAB 240)")]
    NoLayout {
        /// Number of its characters.
        characters: usize,
    },
    /// A later line has another length than the first.
    #[error("it has {characters} characters instead of {expected}")]
    Length {
        /// Number of its characters.
        characters: usize,
        /// Expected number.
        expected: usize,
    },
    /// Longer than any line of any layout.
    #[error("it goes on for more than {most} bytes")]
    TooLong {
        /// Number of bytes that were read.
        most: u64,
    },
    /// It is a file that a customer sends to the bank.
    #[error("this is a remittance, which goes to the bank")]
    Remittance,
    /// The first line is not the header of a return file.
    #[error("this is no header of a return file")]
    NoReturn,
    /// CNAB 400 differs from bank to bank, and this bank's positions are unknown.
    #[error("CNAB 400 of bank {bank} is not known")]
    UnknownBank {
        /// Bank in the header.
        bank: BankCode,
    },
    /// A record names another bank than the header.
    #[error("it is of bank {found}, and the file of bank {expected}")]
    OtherBank {
        /// Bank in the header.
        expected: BankCode,
        /// Bank in the record.
        found: BankCode,
    },
    /// The record exists in no layout, or not at this position.
    #[error("{what}")]
    OutOfPlace {
        /// The record, and the reason why it is out of place.
        what: &'static str,
    },
    /// A lot that is not about boletos.
    #[error("its lot is of service {service}, and only collection (01) is read")]
    OtherService {
        /// Service, as in the lot's header.
        service: String,
    },
    /// Invalid content of a field.
    #[error("the {name} at {from}-{to} is no {expected}: {text:?}")]
    Field {
        /// Name of the field.
        name: &'static str,
        /// Its first position, from 1.
        from: usize,
        /// Its last position.
        to: usize,
        /// Expected content.
        expected: &'static str,
        /// Actual content.
        text: String,
    },
    /// A record's own number is not the next one.
    #[error("the record says that it is number {stated}, and it is number {counted}")]
    Number {
        /// Number in the record.
        stated: u64,
        /// Number of records so far, with this one.
        counted: u64,
    },
    /// A total in the file is wrong.
    #[error("the {name} at {from}-{to} is {stated}, and the file holds {counted}")]
    Total {
        /// Quantity that is added up.
        name: &'static str,
        /// The field's first position, from 1.
        from: usize,
        /// Its last position.
        to: usize,
        /// Total in the file.
        stated: String,
        /// Counted total.
        counted: String,
    },
    /// The file ends before its trailer.
    #[error("the file ends here, without a trailer")]
    NoTrailer,
    /// More data follows the end.
    #[error("there is more after the file's end")]
    AfterEnd,
}

impl Problem {
    /// Returns advice for the owner of the file.
    fn remedy(&self) -> &'static str {
        match self {
            Self::NoLayout { .. } | Self::NoReturn | Self::OtherService { .. } => {
                "give the return file of the bank's collection (arquivo retorno de cobrança) as the bank made it"
            }
            Self::Utf16 => "give it as the bank made it, or saved as ISO-8859-1 or UTF-8",
            Self::Remittance => "give the file that the bank returned (arquivo retorno)",
            Self::UnknownBank { .. } => "ask the bank for CNAB 240, which is read of every bank",
            Self::OtherBank { .. } | Self::AfterEnd => "give each file by itself, as the bank made it",
            Self::Empty
            | Self::Length { .. }
            | Self::TooLong { .. }
            | Self::OutOfPlace { .. }
            | Self::Field { .. }
            | Self::Number { .. }
            | Self::Total { .. }
            | Self::NoTrailer => "it is cut or was changed: get it from the bank again",
        }
    }
}
