//! Brasília's wall clock, three hours behind UTC, which Cielo uses for dates and days.

use chrono::{DateTime, NaiveDate};

const BEHIND_UTC_MS: i64 = 3 * 60 * 60 * 1_000;

/// Returns `YYYY-MM-DD HH:mm:ss`.
pub(crate) fn date_and_time(now_ms: i64) -> String {
    at(now_ms).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// Returns the day in Brasília.
pub(crate) fn day(now_ms: i64) -> NaiveDate {
    at(now_ms).date_naive()
}

/// Returns `yyyyMMddHHmm` in UTC, as in an end-to-end id.
pub(crate) fn utc_minute(now_ms: i64) -> String {
    DateTime::from_timestamp_millis(now_ms).unwrap_or_default().format("%Y%m%d%H%M").to_string()
}

fn at(now_ms: i64) -> DateTime<chrono::Utc> {
    DateTime::from_timestamp_millis(now_ms.saturating_sub(BEHIND_UTC_MS)).unwrap_or_default()
}
