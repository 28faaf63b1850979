//! Moments at which a day, a month or a year is about to end, or nobody is awake.

use chrono::NaiveDate;
use quita_domain::time::Timestamp;

use crate::chance::Chance;

/// Days in Brasília, year, month and day, whose end something hangs on.
const DAYS: [(i32, u32, u32); 12] = [
    // Years' ends; the 31st is a day without banks.
    (2026, 12, 30),
    (2026, 12, 31),
    // Months' ends, and a leap day.
    (2027, 1, 31),
    (2027, 4, 30),
    (2027, 2, 28),
    (2028, 2, 28),
    (2028, 2, 29),
    // Days before holidays: Christmas, Carnival, Good Friday, Corpus Christi, the Republic.
    (2026, 12, 24),
    (2027, 2, 5),
    (2027, 3, 25),
    (2027, 5, 26),
    (2027, 11, 14),
];

/// Minutes of such a day: shortly before its end, and in the night.
const MINUTES: [u64; 4] = [23 * 60 + 59, 23 * 60 + 50, 4 * 60 + 55, 2 * 60 + 30];

/// Brasília is three hours behind.
const BEHIND_MS: u64 = 3 * 3_600_000;

/// One of these moments.
pub(super) fn moment(chance: &Chance) -> Timestamp {
    let (year, month, day) = chance.pick(&DAYS);
    let midnight = NaiveDate::from_ymd_opt(year, month, day).unwrap().and_time(chrono::NaiveTime::MIN);
    let minute = chance.pick(&MINUTES);
    let since_midnight_ms = minute * 60_000 + chance.between(0, 59_999);
    Timestamp::from_millis(midnight.and_utc().timestamp_millis()).plus_ms(BEHIND_MS + since_midnight_ms)
}
