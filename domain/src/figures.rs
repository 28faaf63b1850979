//! Figures of many payments: number, amount, time to payment.

use crate::identity::{MerchantId, Mode};
use crate::method::Method;
use crate::status::Status;
use crate::time::Timestamp;

/// Inclusive upper bounds, in milliseconds, of the classes of time from creation to payment. Times beyond the last
/// bound form one more class.
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

/// Filter of the payments to be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiguresFilter {
    /// Their merchant.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Created at this time or later.
    pub from: Timestamp,
    /// Created before this time.
    pub to: Timestamp,
}

/// Number of payments of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// Their method.
    pub method: Method,
    /// Their current status.
    pub status: Status,
    /// Index into [`PAID_WITHIN_MS`] of the time to their first payment, or its length if it was longer; `None` if they
    /// were never paid.
    pub paid_within: Option<u8>,
    /// Their number.
    pub count: u64,
    /// Sum of the requested amounts, in cents.
    pub amount_cents: u64,
}
