//! The `Retry-After` header (RFC 9110, section 10.2.3): whole seconds, or a date.

use chrono::DateTime;
use quita_domain::time::Timestamp;

use crate::exchange::Response;

/// The longest wait that is believed.
const MAX_MS: u64 = 5 * 60_000;

/// How long the bank wants to be left alone, in milliseconds; none if it does not say, or nothing that can be read.
pub(super) fn of(response: &Response, now: Timestamp) -> Option<u64> {
    let value = response.header("retry-after")?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits that don't fit are a very long time.
        let seconds: u64 = value.parse().unwrap_or(u64::MAX);
        return Some(seconds.saturating_mul(1_000).min(MAX_MS));
    }
    let at = DateTime::parse_from_rfc2822(value).ok()?;
    Some(Timestamp::from_millis(at.timestamp_millis()).ms_since(now).min(MAX_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_believed_up_to_five_minutes_and_nonsense_is_not() {
        let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
        for (value, expected) in [
            ("0", Some(0)),
            (" 7 ", Some(7_000)),
            ("3600", Some(MAX_MS)),
            ("99999999999999999999999999", Some(MAX_MS)),
            ("Sat, 21 Nov 2026 12:01:30 GMT", Some(90_000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("inf", None),
        ] {
            let headers = vec![("retry-after".to_owned(), value.to_owned())];
            assert_eq!(of(&Response { status: 429, headers, body: vec![] }, now), expected, "{value}");
        }
        assert_eq!(of(&Response { status: 429, headers: vec![], body: vec![] }, now), None);
    }
}
