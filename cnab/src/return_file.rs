//! A return file, from its header to its end.

use std::io::BufRead;

use crate::bank::BankCode;
use crate::cnab240::Cnab240;
use crate::cnab400::Cnab400;
use crate::error::{Problem, ReadError};
use crate::line::Line;
use crate::records::Records;

/// Layout of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Lines of 240 characters, much the same at every bank.
    Cnab240,
    /// Lines of 400 characters, different at each bank.
    Cnab400,
}

impl Layout {
    /// Returns its name in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cnab240 => "cnab240",
            Self::Cnab400 => "cnab400",
        }
    }

    const fn length(self) -> usize {
        match self {
            Self::Cnab240 => 240,
            Self::Cnab400 => 400,
        }
    }
}

/// Iterator over a file's lines, which ends after the first error.
///
/// Totals are at the end. Until the iterator has returned `None` without an error before it, a line may belong to a
/// truncated or altered file. So read the file twice before acting on lines, or keep them until the end.
#[derive(Debug)]
pub struct ReturnFile<R> {
    records: Records<R>,
    state: State,
    is_done: bool,
}

#[derive(Debug)]
enum State {
    Cnab240(Cnab240),
    Cnab400(Cnab400),
}

impl<R: BufRead> ReturnFile<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// The line is no header of a return file of a known layout.
    pub fn open(input: R) -> Result<Self, ReadError> {
        let mut records = Records::new(input);
        let (header, length) = records.first(&[Layout::Cnab400.length(), Layout::Cnab240.length()])?;
        let state = if length == Layout::Cnab400.length() {
            State::Cnab400(Cnab400::begin(&header)?)
        } else {
            State::Cnab240(Cnab240::begin(&header)?)
        };
        Ok(Self { records, state, is_done: false })
    }

    /// Returns the bank of the file.
    pub fn bank(&self) -> BankCode {
        match &self.state {
            State::Cnab240(reading) => reading.bank,
            State::Cnab400(reading) => reading.bank,
        }
    }

    /// Returns the layout of the file.
    pub fn layout(&self) -> Layout {
        match &self.state {
            State::Cnab240(_) => Layout::Cnab240,
            State::Cnab400(_) => Layout::Cnab400,
        }
    }

    fn is_over(&self) -> bool {
        match &self.state {
            State::Cnab240(reading) => reading.is_over,
            State::Cnab400(reading) => reading.is_over,
        }
    }

    /// Returns the next line; `None` after the trailer, if nothing follows.
    fn advance(&mut self) -> Result<Option<Line>, ReadError> {
        while let Some(record) = self.records.next(self.layout().length())? {
            if self.is_over() {
                return Err(record.refused(Problem::AfterEnd));
            }
            let line = match &mut self.state {
                State::Cnab240(reading) => reading.take(&record)?,
                State::Cnab400(reading) => reading.take(&record)?,
            };
            if line.is_some() {
                return Ok(line);
            }
        }
        if self.is_over() { Ok(None) } else { Err(self.records.refused(Problem::NoTrailer)) }
    }
}

impl<R: BufRead> Iterator for ReturnFile<R> {
    type Item = Result<Line, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.advance().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }
}
