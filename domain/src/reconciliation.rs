//! Reconciliation: what acquirers' lists and banks' files say, held against the payments as they are.
//!
//! A list or a file becomes neutral lines (`line.rs`). `judge.rs` holds one line against its payment, `missing.rs` knows
//! which payments a list should have had. What came of it is a verdict (`verdict.rs`), kept with the line; one that
//! differs has an exception. Pure: nothing here settles anything, asks anybody or knows a format.

mod judge;
mod line;
mod missing;
mod number;
mod verdict;

pub use judge::judge;
pub use line::{LineKind, Source, StatementLine, Subject};
pub use missing::{MARGIN_MS, expected_pix, expected_refunds};
pub use number::{SlipNumber, slip_numbers_of};
pub use verdict::{
    ASKED_FOR_MS, Difference, Field, Finding, Judged, LineCursor, LineFilter, LineSum, RECONCILIATION_KINDS,
    ReconciliationKind, StoredLine, Verdict, list_not_compared,
};
