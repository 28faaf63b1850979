//! Instants in milliseconds, and the calendar of São Paulo.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// Offset of America/Sao_Paulo behind UTC: Brazil has had no daylight saving time since decree 9.772/2019.
const SAO_PAULO_BEHIND_MS: i64 = 3 * 3_600_000;

/// A day in milliseconds.
pub const DAY_MS: u64 = 24 * 3_600_000;

/// Returns a duration in whole milliseconds.
pub fn millis_in(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// An instant: milliseconds since 1970-01-01T00:00:00Z. Prints as ISO 8601 with milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates an instant from milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns the instant this many milliseconds later.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add_unsigned(ms))
    }

    /// Returns the instant this many milliseconds earlier.
    #[must_use]
    pub fn minus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_sub_unsigned(ms))
    }

    /// Returns the milliseconds since `earlier`; zero if that is not earlier.
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Returns the date and time of day in São Paulo at this instant.
    pub fn in_sao_paulo(self) -> NaiveDateTime {
        let shifted = self.0.saturating_sub(SAO_PAULO_BEHIND_MS);
        DateTime::from_timestamp_millis(shifted).unwrap_or(DateTime::<Utc>::MAX_UTC).naive_utc()
    }

    /// Returns the instant of a date and time of day in São Paulo. `None` beyond the years that a calendar has.
    pub fn from_sao_paulo(local: NaiveDateTime) -> Option<Self> {
        let utc = local.checked_add_signed(TimeDelta::milliseconds(SAO_PAULO_BEHIND_MS))?;
        Some(Self(utc.and_utc().timestamp_millis()))
    }

    /// Returns the date in São Paulo at this instant, which is the date of due dates and card expiry.
    pub fn sao_paulo_date(self) -> NaiveDate {
        self.in_sao_paulo().date()
    }

    /// Returns the last millisecond of a date in São Paulo.
    pub fn end_of_sao_paulo_day(date: NaiveDate) -> Self {
        date.and_hms_milli_opt(23, 59, 59, 999).and_then(Self::from_sao_paulo).unwrap_or(Self(i64::MAX))
    }

    /// Reads an ISO 8601 instant with an offset, such as `2026-11-21T12:00:00.000Z`.
    pub fn parse(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text).ok().map(|at: DateTime<FixedOffset>| Self(at.timestamp_millis()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = DateTime::from_timestamp_millis(self.0).unwrap_or(DateTime::<Utc>::MAX_UTC);
        f.write_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_utc_with_milliseconds_and_reads_it_back() {
        let text = "2026-11-21T12:00:00.005Z";
        assert_eq!(Timestamp::parse(text).map(|at| at.to_string()).as_deref(), Some(text));
    }

    #[test]
    fn the_day_turns_at_three_in_the_morning_utc() {
        let date = |text| Timestamp::parse(text).unwrap().sao_paulo_date().to_string();
        assert_eq!(date("2026-11-21T02:59:59.999Z"), "2026-11-20");
        assert_eq!(date("2026-11-21T03:00:00.000Z"), "2026-11-21");
    }

    #[test]
    fn a_day_in_sao_paulo_ends_just_before_three_utc() {
        let day = NaiveDate::from_ymd_opt(2026, 11, 21).unwrap();
        assert_eq!(Timestamp::end_of_sao_paulo_day(day).to_string(), "2026-11-22T02:59:59.999Z");
    }

    #[test]
    fn the_clock_of_sao_paulo_is_read_and_set_until_the_calendar_ends() {
        let at = Timestamp::parse("2026-12-01T02:30:05.123Z").unwrap();
        assert_eq!(at.in_sao_paulo().to_string(), "2026-11-30 23:30:05.123");
        assert_eq!(Timestamp::from_sao_paulo(at.in_sao_paulo()), Some(at));
        assert_eq!(Timestamp::from_sao_paulo(NaiveDateTime::MAX), None);
        let far = [i64::MIN, i64::MAX].map(|millis| Timestamp::from_millis(millis).in_sao_paulo());
        assert_eq!(far, [DateTime::<Utc>::MAX_UTC.naive_utc(); 2]);
        assert!(Timestamp::end_of_sao_paulo_day(NaiveDate::MAX) > at);
    }
}
