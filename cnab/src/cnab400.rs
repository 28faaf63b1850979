//! CNAB 400: a header, a record for each event, a trailer. Every bank has positions and codes of its own.

mod positions;

use quita_domain::money::Money;

use crate::bank::BankCode;
use crate::error::{Problem, ReadError};
use crate::line::Line;
use crate::record::{Field, Record, field};
use positions::{Adds, Positions, Total};

const BANK: Field = field("bank", 77, 79);
const NUMBER: Field = field("record's number", 395, 400);
const OCCURRENCE: Field = field("occurrence", 109, 110);
const OCCURRED_ON: Field = field("date of the occurrence", 111, 116);
const DOCUMENT_NUMBER: Field = field("document number", 117, 126);
const DUE_ON: Field = field("due date", 147, 152);
const AMOUNT: Field = field("amount", 153, 165);
const DISCOUNT: Field = field("discount", 241, 253);
const RECEIVED: Field = field("amount received", 254, 266);

/// State of reading a file of this layout.
#[derive(Debug)]
pub(crate) struct Cnab400 {
    pub(crate) bank: BankCode,
    positions: &'static Positions,
    records: u64,
    totals: Vec<(&'static Total, u64)>,
    pub(crate) is_over: bool,
}

impl Cnab400 {
    /// Begins with the header.
    pub(crate) fn begin(header: &Record) -> Result<Self, ReadError> {
        match (header.at(1), header.at(2), header.raw(field("literal", 3, 9)).as_str()) {
            ('0', '2', "RETORNO") => {}
            ('0', '1', _) | ('0', _, "REMESSA") => return Err(header.refused(Problem::Remittance)),
            _ => return Err(header.refused(Problem::NoReturn)),
        }
        let bank = header.bank(BANK)?;
        let positions = Positions::of(bank).ok_or_else(|| header.refused(Problem::UnknownBank { bank }))?;
        let totals = positions.totals.iter().map(|total| (total, 0)).collect();
        let mut reading = Self { bank, positions, records: 0, totals, is_over: false };
        reading.count(header)?;
        Ok(reading)
    }

    /// Takes the next record, which is a line or belongs to one.
    pub(crate) fn take(&mut self, record: &Record) -> Result<Option<Line>, ReadError> {
        self.count(record)?;
        match record.at(1) {
            kind if kind == self.positions.detail => {
                let line = self.line(record)?;
                self.add(&line);
                Ok(Some(line))
            }
            '9' => {
                let hold =
                    |(total, counted): &(&Total, u64)| record.holds(total.field, &[*counted], total.show());
                self.totals.iter().try_for_each(hold)?;
                self.is_over = true;
                Ok(None)
            }
            // At Banco do Brasil, agreements of up to six digits have other positions.
            '1' => Err(record.refused(Problem::OutOfPlace {
                what: "details of type 1, of agreements of up to six digits, are not read",
            })),
            // Codes of PIX, shares of a split, messages.
            '2'..='8' => Ok(None),
            _ => {
                Err(record
                    .refused(Problem::OutOfPlace { what: "a record of this type does not belong here" }))
            }
        }
    }

    /// Checks a record's number, from 1; zeros state nothing.
    fn count(&mut self, record: &Record) -> Result<(), ReadError> {
        self.records = self.records.saturating_add(1);
        let stated = record.number(NUMBER)?;
        let counted = self.records;
        // The field can't count beyond six digits, so then it states nothing.
        if stated == 0 || stated == counted || counted > NUMBER.most() {
            return Ok(());
        }
        Err(record.refused(Problem::Number { stated, counted }))
    }

    fn line(&self, record: &Record) -> Result<Line, ReadError> {
        let positions = self.positions;
        let occurrence = record.occurrence(OCCURRENCE)?;
        let fine = positions.fine.map_or(Ok(Money::ZERO), |fine| record.money(fine))?;
        Ok(Line {
            number: record.line,
            our_number: record.text(positions.our_number),
            document_number: record.text(DOCUMENT_NUMBER),
            kind: positions.occurrences.kind(&occurrence),
            occurrence,
            occurred_on: record.date(OCCURRED_ON)?,
            due_on: record.date(DUE_ON)?,
            credited_on: record.date(positions.credited_on)?,
            amount: record.money(AMOUNT)?,
            received: record.money(RECEIVED)?,
            fee: record.money(positions.fee)?,
            interest: record.money(positions.interest)?.plus(fine),
            discount: record.money(DISCOUNT)?,
        })
    }

    fn add(&mut self, line: &Line) {
        for (total, sum) in &mut self.totals {
            let is_of_it = total.of.is_none_or(|codes| codes.contains(&line.occurrence.as_str()));
            let by = match total.adds {
                Adds::Lines => 1,
                Adds::Amounts => line.amount.cents(),
            };
            *sum = sum.saturating_add(if is_of_it { by } else { 0 });
        }
    }
}
