//! CNAB 240: a header, lots that each have a header and a trailer, and a trailer. Two consecutive records describe one
//! event: segment T with the boleto, segment U with the money.

mod positions;

use crate::bank::BankCode;
use crate::error::{Problem, ReadError};
use crate::line::Line;
use crate::occurrence::Occurrences;
use crate::record::{Field, Record, field};
use positions::SegmentT;

const BANK: Field = field("bank", 1, 3);
const LOT: Field = field("lot", 4, 7);
const SERVICE: Field = field("service", 10, 11);
const LOT_RECORDS: Field = field("number of records in the lot", 18, 23);
const FILE_LOTS: Field = field("number of lots", 18, 23);
const FILE_RECORDS: Field = field("number of records", 24, 29);

/// Code of the service that collects boletos.
const COLLECTION: &str = "01";

/// State of reading a file of this layout.
#[derive(Debug)]
pub(crate) struct Cnab240 {
    pub(crate) bank: BankCode,
    occurrences: &'static Occurrences,
    segment_t: &'static SegmentT,
    records: u64,
    lots: u64,
    lot: Option<Lot>,
    pub(crate) is_over: bool,
}

/// The lot that is being read.
#[derive(Debug)]
struct Lot {
    number: u64,
    records: u64,
    /// Line of a segment T, which its segment U will complete.
    half: Option<Line>,
}

impl Cnab240 {
    /// Begins with the file's header.
    pub(crate) fn begin(header: &Record) -> Result<Self, ReadError> {
        match (header.at(8), header.at(143)) {
            ('0', '2') => {}
            ('0', '1') => return Err(header.refused(Problem::Remittance)),
            _ => return Err(header.refused(Problem::NoReturn)),
        }
        let bank = header.bank(BANK)?;
        let occurrences = Occurrences::of_cnab240(bank);
        let segment_t = SegmentT::of(bank);
        Ok(Self { bank, occurrences, segment_t, records: 1, lots: 0, lot: None, is_over: false })
    }

    /// Takes the next record. A segment U completes a line.
    pub(crate) fn take(&mut self, record: &Record) -> Result<Option<Line>, ReadError> {
        let found = record.bank(BANK)?;
        if found != self.bank {
            return Err(record.refused(Problem::OtherBank { expected: self.bank, found }));
        }
        self.records = self.records.saturating_add(1);
        match (record.at(8), &mut self.lot) {
            ('1', None) => {
                self.lot = Some(Lot::begin(record)?);
                self.lots = self.lots.saturating_add(1);
                Ok(None)
            }
            ('2' | '4', Some(lot)) => lot.count(record).map(|()| None),
            ('3', Some(lot)) => {
                lot.count(record)?;
                lot.detail(record, self.occurrences, self.segment_t)
            }
            ('5', Some(lot)) => {
                lot.count(record)?;
                lot.end(record, self.bank)?;
                self.lot = None;
                Ok(None)
            }
            ('9', None) => {
                record.holds(FILE_LOTS, &[self.lots], |count| count.to_string())?;
                record.holds(FILE_RECORDS, &[self.records], |count| count.to_string())?;
                self.is_over = true;
                Ok(None)
            }
            ('1' | '9', Some(_)) => Err(out_of_place(record, "the lot before has no trailer")),
            ('2'..='5', None) => Err(out_of_place(record, "the record belongs to a lot, and none has begun")),
            _ => Err(out_of_place(record, "a record of this type does not belong here")),
        }
    }
}

impl Lot {
    fn begin(header: &Record) -> Result<Self, ReadError> {
        if header.at(9) == 'R' {
            return Err(header.refused(Problem::Remittance));
        }
        let service = header.raw(SERVICE);
        if service != COLLECTION {
            return Err(header.refused(Problem::OtherService { service }));
        }
        Ok(Self { number: header.number(LOT)?, records: 1, half: None })
    }

    fn count(&mut self, record: &Record) -> Result<(), ReadError> {
        self.records = self.records.saturating_add(1);
        if record.number(LOT)? == self.number {
            return Ok(());
        }
        Err(out_of_place(record, "the record is of another lot than the one that has begun"))
    }

    fn detail(
        &mut self,
        record: &Record,
        occurrences: &Occurrences,
        segment_t: &SegmentT,
    ) -> Result<Option<Line>, ReadError> {
        match (record.at(14), self.half.take()) {
            ('T', None) => {
                self.half = Some(segment_t.read(record, occurrences)?);
                Ok(None)
            }
            ('U', Some(half)) => positions::complete(half, record).map(Some),
            (_, Some(half)) => Err(without_u(&half)),
            ('U', None) => Err(out_of_place(record, "a segment U without the segment T before it")),
            (segment, None) if segment.is_ascii_alphanumeric() => Ok(None),
            (_, None) => Err(out_of_place(record, "the record names no segment")),
        }
    }

    fn end(&self, trailer: &Record, bank: BankCode) -> Result<(), ReadError> {
        if let Some(half) = &self.half {
            return Err(without_u(half));
        }
        let details = self.records.saturating_sub(2);
        // Santander omits the lot's header and trailer.
        let counted: &[u64] = match bank {
            BankCode::SANTANDER => &[self.records, details],
            _ => &[self.records],
        };
        trailer.holds(LOT_RECORDS, counted, |count| count.to_string())
    }
}

fn out_of_place(record: &Record, what: &'static str) -> ReadError {
    record.refused(Problem::OutOfPlace { what })
}

fn without_u(half: &Line) -> ReadError {
    let problem = Problem::OutOfPlace { what: "a segment T without the segment U after it" };
    ReadError::Refused { line: half.number, problem }
}
