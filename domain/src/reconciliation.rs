//! Reconciliation: acquirers' lists and banks' files, compared with the payments as they are.
//!
//! A list or a file becomes neutral lines (`line.rs`). `judge.rs` compares one line with its payment, and `missing.rs`
//! finds payments that a list should contain. The result is a verdict (`verdict.rs`), stored with the line; a
//! difference becomes an exception. Pure: nothing here settles anything, makes inquiries or depends on a format.

mod charge_line;
mod judge;
mod line;
mod missing;
mod number;
mod verdict;

pub use charge_line::{ChargeLine, Movement};
pub use judge::{judge, settled_before};
pub use line::{LineKind, LineSubject, Source, StatementLine};
pub use missing::{MARGIN_MS, expected_boleto, expected_charge, expected_pix, expected_refunds};
pub use number::{SlipNumber, slip_numbers_of};
pub use verdict::{
    ASKED_FOR_MS, Difference, DifferingField, Judged, LineCursor, LineFilter, LineFinding, LineSum,
    LineVerdict, RECONCILIATION_KINDS, ReconciliationKind, StoredLine, list_not_compared,
};
