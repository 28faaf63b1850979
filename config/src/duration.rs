//! Durations in human notation: `500ms`, `30s`, `5m`, `12h`, `90d`; for long retention times also `5y`.

use std::time::Duration;

/// Form of a duration, for messages.
pub const DURATION_FORM: &str = "a whole number with a unit: 500ms, 30s, 5m, 12h, 90d";

/// Units with their milliseconds. `ms` comes before `s` and `m`, with which it could be confused.
const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 24 * 3_600_000)];

/// Form of a time in days or years, for messages.
pub const LONG_DURATION_FORM: &str = "a whole number with a unit: 12h, 180d, 5y";

/// Days of a year, rounded up so that the duration is never too short.
const DAYS_OF_A_YEAR: u32 = 366;

/// Reads a duration that may be in years.
pub fn parse_long_duration(text: &str) -> Option<Duration> {
    match text.strip_suffix('y') {
        Some(years) => {
            let days = parse_duration(&format!("{years}d"))?;
            days.checked_mul(DAYS_OF_A_YEAR)
        }
        None => parse_duration(text),
    }
}

/// Reads a duration. Returns `None` for anything without a unit, and for fractions.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (digits, unit_ms) = UNITS.into_iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?, ms)))?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(unit_ms).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        for (text, ms) in [
            ("500ms", 500),
            ("0s", 0),
            ("30s", 30_000),
            ("5m", 300_000),
            ("12h", 43_200_000),
            ("90d", 7_776_000_000),
        ] {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
    }

    #[test]
    fn years_are_no_shorter_than_any_year() {
        let days = |days: u64| Some(Duration::from_secs(days * 24 * 3_600));
        assert_eq!(parse_long_duration("5y"), days(5 * 366));
        assert_eq!(parse_long_duration("180d"), days(180));
        for text in ["", "y", "-1y", "1.5y", "1 y", "5yd", "99999999999999999999y"] {
            assert_eq!(parse_long_duration(text), None, "{text}");
        }
        assert_eq!(parse_duration("5y"), None);
    }

    #[test]
    fn what_has_no_unit_or_is_no_whole_number_is_refused() {
        for text in
            ["", "30", "s", "ms", "-1s", "+1s", "1.5h", "1 s", "1w", "1S", "1sm", "99999999999999999999d"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        assert_eq!(parse_duration("999999999999999d"), None, "beyond what milliseconds can count");
    }
}
