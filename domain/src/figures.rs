//! Figures of many payments: how many, of which amount, paid how soon.

use crate::identity::{MerchantId, Mode};
use crate::method::Method;
use crate::status::Status;
use crate::time::Timestamp;

/// The upper bounds, in milliseconds and inclusive, of the classes of time from creation to payment. What took longer
/// than the last is in a class of its own.
pub const PAID_WITHIN_MS: [u64; 12] = [
    1_000,
    2_000,
    5_000,
    10_000,
    30_000,
    60_000,
    300_000,
    900_000,
    3_600_000,
    21_600_000,
    86_400_000,
    259_200_000,
];

/// Of which payments figures are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiguresFilter {
    /// Whose.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Created at this time or later.
    pub from: Timestamp,
    /// Created before this time.
    pub to: Timestamp,
}

/// How many payments of one kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// Their method.
    pub method: Method,
    /// Their status now.
    pub status: Status,
    /// The index into [`PAID_WITHIN_MS`] of the time they took to be paid first, or its length if it was longer;
    /// `None` for those that never were.
    pub paid_within: Option<u8>,
    /// How many.
    pub count: u64,
    /// The sum of what was asked for, in cents.
    pub amount_cents: u64,
}
