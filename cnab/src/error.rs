//! Why a file was refused.

use std::io;

use crate::bank::BankCode;

/// A file was not read, and where it went wrong.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is not what a bank would send.
    #[error("line {line}: {problem}; {}", problem.remedy())]
    Refused {
        /// Where it shows, from 1.
        line: u64,
        /// What is wrong.
        problem: Problem,
    },
    /// It could not be read at all.
    #[error("it can't be read: {0}")]
    Io(#[from] io::Error),
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no record in it.
    #[error("the file is empty")]
    Empty,
    /// Two bytes a character.
    #[error("the file is in UTF-16")]
    Utf16,
    /// The first line has the length of no layout.
    #[error("it has {characters} characters, and a line has 400 (CNAB 400) or 240 (CNAB 240)")]
    NoLayout {
        /// How many it has.
        characters: usize,
    },
    /// A later line has another length than the first.
    #[error("it has {characters} characters instead of {expected}")]
    Length {
        /// How many it has.
        characters: usize,
        /// How many it should have.
        expected: usize,
    },
    /// Longer than any line of any layout.
    #[error("it goes on for more than {most} bytes")]
    TooLong {
        /// How many bytes were looked at.
        most: u64,
    },
    /// What a customer sends to the bank.
    #[error("this is a remittance, which goes to the bank")]
    Remittance,
    /// The first line is no header of a return file.
    #[error("this is no header of a return file")]
    NoReturn,
    /// CNAB 400 differs from bank to bank, and this one's is not known.
    #[error("CNAB 400 of bank {bank} is not known")]
    UnknownBank {
        /// The bank that the header names.
        bank: BankCode,
    },
    /// A record names another bank than the header.
    #[error("it is of bank {found}, and the file of bank {expected}")]
    OtherBank {
        /// The header's.
        expected: BankCode,
        /// The record's.
        found: BankCode,
    },
    /// A record that no layout has, or not there.
    #[error("{what}")]
    OutOfPlace {
        /// Which, and why not.
        what: &'static str,
    },
    /// A lot in which something else than boletos is returned.
    #[error("its lot is of service {service}, and only collection (01) is read")]
    OtherService {
        /// As the lot's header names it.
        service: String,
    },
    /// A field holds what it can't.
    #[error("the {name} at {from}-{to} is no {expected}: {text:?}")]
    Field {
        /// What the field is for.
        name: &'static str,
        /// Its first position, from 1.
        from: usize,
        /// Its last position.
        to: usize,
        /// What it should hold.
        expected: &'static str,
        /// What it holds.
        text: String,
    },
    /// A record's own number does not follow the one before.
    #[error("the record says that it is number {stated}, and it is number {counted}")]
    Number {
        /// What the record says.
        stated: u64,
        /// How many there are, with it.
        counted: u64,
    },
    /// The file states a total that differs from what is in it.
    #[error("the {name} at {from}-{to} is {stated}, and the file holds {counted}")]
    Total {
        /// What is added up.
        name: &'static str,
        /// The field's first position, from 1.
        from: usize,
        /// Its last position.
        to: usize,
        /// What the file says.
        stated: String,
        /// What is there.
        counted: String,
    },
    /// The file ends before its trailer.
    #[error("the file ends here, without a trailer")]
    NoTrailer,
    /// More comes after the end.
    #[error("there is more after the file's end")]
    AfterEnd,
}

impl Problem {
    /// What whoever has the file can do.
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
