//! Business days of Brazilian banks.
//!
//! Weekends, national bank holidays, and the 31st of December are none: banks settle nothing on that day (FEBRABAN says
//! so each year). Holidays of a state or a city are not included.

use chrono::{Datelike, Days, NaiveDate, Weekday};

/// Returns true if banks work on that day.
pub fn is_business_day(date: NaiveDate) -> bool {
    !matches!(date.weekday(), Weekday::Sat | Weekday::Sun) && !is_bank_holiday(date)
}

/// Returns the date itself or the next business day: a slip due on a holiday is payable then without surcharge.
pub fn roll(date: NaiveDate) -> NaiveDate {
    let mut day = date;
    while !is_business_day(day) {
        let Some(next) = day.succ_opt() else { return day };
        day = next;
    }
    day
}

/// Returns the first of the days that roll to this business day: itself, or the first day after the last business day
/// before it.
pub fn first_rolled_to(date: NaiveDate) -> NaiveDate {
    before(date).succ_opt().unwrap_or(date)
}

/// Returns the last business day before the date.
pub fn before(date: NaiveDate) -> NaiveDate {
    let mut day = date;
    while let Some(earlier) = day.pred_opt() {
        day = earlier;
        if is_business_day(day) {
            break;
        }
    }
    day
}

/// Returns the business day that comes `count` business days after the date.
///
/// A date that is not a business day counts as the business day before it: one business day after a Saturday is the
/// Monday.
pub fn add(date: NaiveDate, count: u32) -> NaiveDate {
    let mut day = date;
    for _ in 0..count {
        let Some(next) = day.checked_add_days(Days::new(1)) else { return day };
        day = roll(next);
    }
    day
}

/// Returns true if that day is a national bank holiday: fixed dates, and those that move with Easter.
pub fn is_bank_holiday(date: NaiveDate) -> bool {
    let fixed = match (date.month(), date.day()) {
        (1, 1) | (4, 21) | (5, 1) | (9, 7) | (10, 12) | (11, 2 | 15) | (12, 25 | 31) => true,
        // National since Law 14.759/2023.
        (11, 20) => date.year() >= 2024,
        _ => false,
    };
    fixed || moves_with_easter(date)
}

/// Returns true for Carnival Monday and Tuesday, Good Friday and Corpus Christi.
fn moves_with_easter(date: NaiveDate) -> bool {
    easter(date.year())
        .is_some_and(|easter| [-48, -47, -2, 60].contains(&date.signed_duration_since(easter).num_days()))
}

/// Computes Easter Sunday of the Gregorian calendar (Meeus, Jones and Butcher).
fn easter(year: i32) -> Option<NaiveDate> {
    let golden = year % 19;
    let century = year / 100;
    let in_century = year % 100;
    let correction = (century - (century + 8) / 25 + 1) / 3;
    let epact = (19 * golden + century - century / 4 - correction + 15) % 30;
    let weekday = (32 + 2 * (century % 4) + 2 * (in_century / 4) - epact - in_century % 4) % 7;
    let month_correction = (golden + 11 * epact + 22 * weekday) / 451;
    let days = epact + weekday - 7 * month_correction + 114;
    NaiveDate::from_ymd_opt(year, u32::try_from(days / 31).ok()?, u32::try_from(days % 31 + 1).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn easter_is_found_at_its_extremes() {
        for day in ["1818-03-22", "1943-04-25", "2000-04-23", "2024-03-31", "2025-04-20", "2038-04-25"] {
            assert_eq!(easter(date(day).year()), Some(date(day)));
        }
    }

    #[test]
    fn national_holidays_are_no_business_days() {
        for day in [
            "2026-01-01",
            "2026-02-16",
            "2026-02-17",
            "2026-04-03",
            "2026-04-21",
            "2026-05-01",
            "2026-06-04",
            "2026-09-07",
            "2026-10-12",
            "2026-11-02",
            "2026-11-20",
            "2026-12-25",
            "2026-12-31",
        ] {
            assert!(!is_business_day(date(day)), "{day}");
        }
        for day in ["2026-02-18", "2026-12-24", "2026-12-30", "2023-11-20", "2026-11-23"] {
            assert!(is_business_day(date(day)), "{day}");
        }
    }

    #[test]
    fn a_due_date_rolls_over_carnival() {
        assert_eq!(roll(date("2026-02-14")), date("2026-02-18"));
        assert_eq!(roll(date("2026-02-13")), date("2026-02-13"));
        assert_eq!(roll(date("2026-12-31")), date("2027-01-04"), "the last day of the year, and a weekend");
        assert_eq!(roll(NaiveDate::MAX), NaiveDate::MAX);
        let _ = is_business_day(NaiveDate::MIN);
    }

    #[test]
    fn the_business_day_before_skips_weekends_and_holidays() {
        for (day, before_it) in [
            ("2026-11-24", "2026-11-23"),
            ("2026-11-23", "2026-11-19"), // a weekend, and a holiday on the Friday
            ("2026-11-21", "2026-11-19"),
            ("2027-01-04", "2026-12-30"),
        ] {
            assert_eq!(before(date(day)), date(before_it), "{day}");
        }
        assert_eq!(before(NaiveDate::MIN), NaiveDate::MIN);
    }

    #[test]
    fn business_days_are_counted_over_weekends_and_holidays() {
        assert_eq!(add(date("2026-11-19"), 3), date("2026-11-25"));
        assert_eq!(add(date("2026-11-21"), 1), date("2026-11-23"));
        assert_eq!(add(date("2026-11-21"), 0), date("2026-11-21"));
    }
}
