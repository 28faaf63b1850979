//! Durations as people write them: `500ms`, `30s`, `5m`, `12h`, `90d`.

use std::time::Duration;

/// What a duration looks like, for messages.
pub const DURATION_FORM: &str = "a whole number with a unit: 500ms, 30s, 5m, 12h, 90d";

/// Units with their milliseconds. `ms` stands before `s` and `m`, with which it could be confused.
const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 24 * 3_600_000)];

/// Reads a duration. `None` for anything without a unit, fractions included.
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
    fn what_has_no_unit_or_is_no_whole_number_is_refused() {
        for text in
            ["", "30", "s", "ms", "-1s", "+1s", "1.5h", "1 s", "1w", "1S", "1sm", "99999999999999999999d"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        assert_eq!(parse_duration("999999999999999d"), None, "beyond what milliseconds can count");
    }
}
