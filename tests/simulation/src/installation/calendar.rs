//! Moments just before the end of a day, a month or a year, or in the middle of the night.

use chrono::NaiveDate;
use quita_domain::time::Timestamp;

use crate::chance::Chance;

/// Days in Brasília (year, month, day) whose end matters to something.
const DAYS: [(i32, u32, u32); 12] = [
    // Ends of years; on the 31st, banks are closed.
    (2026, 12, 30),
    (2026, 12, 31),
    // Ends of months, and a leap day.
    (2027, 1, 31),
    (2027, 4, 30),
    (2027, 2, 28),
    (2028, 2, 28),
    (2028, 2, 29),
    // The last business days before holidays: Christmas, Carnival, Good Friday, Corpus Christi, the Republic.
    (2026, 12, 24),
    (2027, 2, 5),
    (2027, 3, 25),
    (2027, 5, 26),
    (2027, 11, 14),
];

/// Minutes of such a day: shortly before its end, or in the night.
const MINUTES: [u64; 4] = [23 * 60 + 59, 23 * 60 + 50, 4 * 60 + 55, 2 * 60 + 30];

/// Offset of Brasília, which is three hours behind UTC.
const BEHIND_MS: u64 = 3 * 3_600_000;

/// Draws one of these moments.
pub(super) fn moment(chance: &Chance) -> Timestamp {
    let (year, month, day) = chance.pick(&DAYS);
    let midnight = NaiveDate::from_ymd_opt(year, month, day).unwrap().and_time(chrono::NaiveTime::MIN);
    let minute = chance.pick(&MINUTES);
    let since_midnight_ms = minute * 60_000 + chance.between(0, 59_999);
    Timestamp::from_millis(midnight.and_utc().timestamp_millis()).plus_ms(BEHIND_MS + since_midnight_ms)
}
