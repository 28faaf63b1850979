//! Instants as the API writes and reads them.

use chrono::{DateTime, SecondsFormat};

/// Writes RFC 3339 in UTC with milliseconds.
pub(super) fn instant(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Reads an RFC 3339 instant as milliseconds. The `+` of an offset may have become a space in a query.
pub(super) fn read(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(&text.replace(' ', "+")).ok().map(|at| at.timestamp_millis())
}

/// Writes `yyyyMMddHHmm` in UTC, as in identifiers of the settlement system.
pub(super) fn minute(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap_or_default().format("%Y%m%d%H%M").to_string()
}
