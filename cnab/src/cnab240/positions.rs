//! Positions of segments T and U, by FEBRABAN's CNAB 240 v10.6, and those of two banks that differ from it.
//!
//! Santander moves the fields of T; Itaú puts its portfolio before its number of the boleto, and has a shorter document
//! number (CNAB 240 manual of January 2017). U is the same everywhere.

use quita_domain::money::Money;

use crate::bank::BankCode;
use crate::error::ReadError;
use crate::line::Line;
use crate::occurrence::Occurrences;
use crate::record::{Field, Record, field};

const OCCURRENCE: Field = field("movement", 16, 17);

/// Fields of segment T.
#[derive(Debug)]
pub(super) struct SegmentT {
    our_number: Field,
    document_number: Field,
    due_on: Field,
    amount: Field,
    fee: Field,
}

const FEBRABAN: SegmentT = SegmentT {
    our_number: field("bank's number", 38, 57),
    document_number: field("document number", 59, 73),
    due_on: field("due date", 74, 81),
    amount: field("amount", 82, 96),
    fee: field("fee", 199, 213),
};

static ANY_BANK: SegmentT = FEBRABAN;

static SANTANDER: SegmentT = SegmentT {
    our_number: field("bank's number", 41, 53),
    document_number: field("document number", 55, 69),
    due_on: field("due date", 70, 77),
    amount: field("amount", 78, 92),
    fee: field("fee", 194, 208),
};

static ITAU: SegmentT = SegmentT {
    our_number: field("bank's number", 41, 49),
    document_number: field("document number", 59, 68),
    ..FEBRABAN
};

impl SegmentT {
    pub(super) fn of(bank: BankCode) -> &'static Self {
        match bank {
            BankCode::SANTANDER => &SANTANDER,
            BankCode::ITAU => &ITAU,
            _ => &ANY_BANK,
        }
    }

    /// Reads the part of an event in segment T; U has the rest.
    pub(super) fn read(&self, record: &Record, occurrences: &Occurrences) -> Result<Line, ReadError> {
        let occurrence = record.occurrence(OCCURRENCE)?;
        Ok(Line {
            number: record.line,
            our_number: record.text(self.our_number),
            document_number: record.text(self.document_number),
            kind: occurrences.kind(&occurrence),
            occurrence,
            occurred_on: None,
            due_on: record.date(self.due_on)?,
            credited_on: None,
            amount: record.money(self.amount)?,
            received: Money::ZERO,
            fee: record.money(self.fee)?,
            interest: Money::ZERO,
            discount: Money::ZERO,
        })
    }
}

/// Completes the line of a segment T with the U after it.
pub(super) fn complete(half: Line, record: &Record) -> Result<Line, ReadError> {
    Ok(Line {
        interest: record.money(field("interest, fine and charges", 18, 32))?,
        discount: record.money(field("discount", 33, 47))?,
        received: record.money(field("amount received", 78, 92))?,
        occurred_on: record.date(field("date of the occurrence", 138, 145))?,
        credited_on: record.date(field("date of the credit", 146, 153))?,
        ..half
    })
}
