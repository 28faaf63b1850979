//! Rates: payments per second, exact to a hundredth.

use std::fmt;

use serde::{Serialize, Serializer};

/// Minimum time after the planned end within which the last answers do not lower the rate, because the load was sent in
/// time.
const LAST_ANSWERS_WITHIN_MS: u64 = 1_000;

/// Number per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rate {
    hundredths: u64,
}

impl Rate {
    /// Returns the rate of a count over this time.
    pub(super) fn of(count: u64, in_ms: u64) -> Self {
        Self { hundredths: count.saturating_mul(100_000) / in_ms.max(1) }
    }

    /// Returns the nearest whole number per second.
    pub(super) const fn rounded(self) -> u64 {
        self.hundredths.saturating_add(50) / 100
    }

    /// Returns the hundredths per second, for comparisons.
    pub(super) const fn hundredths(self) -> u64 {
        self.hundredths
    }

    /// Returns the sum of two rates.
    pub(super) const fn plus(self, other: Self) -> Self {
        Self { hundredths: self.hundredths.saturating_add(other.hundredths) }
    }

    /// Returns true if the rate is at least this share of another one.
    pub(super) const fn reaches(self, percent: u64, of: Self) -> bool {
        self.hundredths.saturating_mul(100) >= of.hundredths.saturating_mul(percent)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.hundredths / 100;
        let rest = self.hundredths % 100;
        match (whole, rest) {
            (_, 0) => write!(f, "{whole}"),
            (..100, _) => write!(f, "{whole}.{rest:02}"),
            (_, _) => write!(f, "{}", self.rounded()),
        }
    }
}

/// Times of an open model's payments, in milliseconds from the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScheduleTimes {
    /// Planned end.
    pub(super) planned: u64,
    /// End of the last creation that succeeded.
    pub(super) last_created: u64,
    /// Median of a creation.
    pub(super) median: u64,
}

impl Serialize for Rate {
    /// Serializes a number with up to two decimals.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = format!("{}.{:02}", self.hundredths / 100, self.hundredths % 100);
        let number: f64 = text.parse().map_err(serde::ser::Error::custom)?;
        serializer.serialize_f64(number)
    }
}

/// Returns the time, in milliseconds, in which an open model's payments were created: as planned, or until the last one
/// if that was clearly late. If all answers take equally long, they are not late: just as many arrive each second.
pub(super) fn time_of_schedule(times: ScheduleTimes) -> u64 {
    let ScheduleTimes { planned, last_created, median } = times;
    let allowed = LAST_ANSWERS_WITHIN_MS.max(median.saturating_mul(3) / 2);
    let is_in_time = last_created <= planned.saturating_add(allowed);
    if is_in_time { planned } else { last_created }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_exact_to_a_hundredth_and_large_ones_are_rounded() {
        for (count, in_ms, text) in
            [(50, 5_210, "9.59"), (50, 5_000, "10"), (1, 34, "29.41"), (3_105, 10_007, "310"), (0, 0, "0")]
        {
            assert_eq!(Rate::of(count, in_ms).to_string(), text);
        }
        assert_eq!(Rate::of(199, 2_000).rounded(), 100);
        let json =
            [Rate::of(25, 35_000), Rate::of(20, 1_000)].map(|rate| serde_json::to_string(&rate).unwrap());
        assert_eq!(json, ["0.71", "20.0"]);
        assert!(Rate::of(19, 2_000).reaches(95, Rate::of(10, 1_000)));
        assert!(!Rate::of(189, 20_000).reaches(95, Rate::of(10, 1_000)));
    }

    #[test]
    fn answers_that_come_soon_after_the_schedule_do_not_lower_the_rate() {
        for (last_created, median, expected) in [
            (30, 5, 5_000),
            (5_210, 5, 5_000),
            (6_000, 5, 5_000),
            (6_001, 5, 6_001),
            (7_010, 2_000, 5_000),
            (9_000, 2_000, 9_000),
        ] {
            let times = ScheduleTimes { planned: 5_000, last_created, median };
            assert_eq!(time_of_schedule(times), expected, "{times:?}");
        }
    }
}
