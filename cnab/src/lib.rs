//! Reader of the files in which a bank reports on its customer's boletos (*arquivo retorno*). It supports CNAB 400 of
//! seven banks, and CNAB 240 of any bank, by segments T and U of the banks' federation FEBRABAN.
//!
//! A [`ReturnFile`] is read line by line, in as much memory as one line needs. Each record about a boleto becomes one
//! neutral [`Line`]. Files are untrusted: a truncated file, or one with a wrong total, is refused with the number of
//! its line. The totals are at a file's end, so no line is valid before the iterator has ended without an error.
//!
//! Positions and occurrence codes are tables: `cnab400/positions.rs`, `cnab240/positions.rs`, `occurrence.rs`. Nothing
//! here opens a file or depends on payments.

mod bank;
mod cnab240;
mod cnab400;
mod error;
mod line;
mod occurrence;
mod record;
mod records;
mod return_file;

pub use bank::BankCode;
pub use error::{Problem, ReadError};
pub use line::{Kind, Line};
pub use return_file::{Layout, ReturnFile};
