//! The `Retry-After` header of HTTP.

use chrono::DateTime;

use crate::time::Timestamp;

/// Returns the requested wait of a `Retry-After` value, in milliseconds from now, without an upper bound.
///
/// Source: RFC 9110, section 10.2.3: whole seconds, or a date in the form of section 5.6.7 that senders must use
/// (`Sun, 06 Nov 1994 08:49:37 GMT`). A date in the past is zero; anything else (`inf`, `-1`, `1.5`) is ignored.
pub fn wait_ms(value: &str, now: Timestamp) -> Option<u64> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits that overflow are a very long time.
        let seconds: u64 = value.parse().unwrap_or(u64::MAX);
        return Some(seconds.saturating_mul(1_000));
    }
    let at = DateTime::parse_from_rfc2822(value).ok()?;
    Some(Timestamp::from_millis(at.timestamp_millis()).ms_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read_and_nonsense_is_ignored() {
        let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
        for (value, expected) in [
            ("0", Some(0)),
            ("7", Some(7_000)),
            (" 120 ", Some(120_000)),
            ("99999999999999999999999999", Some(u64::MAX)),
            ("18446744073709551615", Some(u64::MAX)),
            ("Sat, 21 Nov 2026 12:01:30 GMT", Some(90_000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("inf", None),
            ("NaN", None),
            ("soon", None),
            ("Mon, 21 Nov 2026 12:01:30 GMT", None),
        ] {
            assert_eq!(wait_ms(value, now), expected, "{value}");
        }
    }
}
