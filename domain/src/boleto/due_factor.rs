//! The due-date factor: four digits for a due date.

use chrono::{Days, NaiveDate};

/// The base of all factors is 1997-10-07; this is the day of the first factor in use, 1000.
const FIRST_DUE: Option<NaiveDate> = NaiveDate::from_ymd_opt(2000, 7, 3);
const FIRST: u16 = 1000;
const LAST: u16 = 9999;
/// Days after which the factors start again at 1000, as they did on 2025-02-22.
const CYCLE_DAYS: i64 = 9000;
/// A slip is payable from 3000 days overdue to 5500 days ahead (FEBRABAN communiqué 082/2012).
const OVERDUE_DAYS: i64 = 3000;
const AHEAD_DAYS: i64 = 5500;

/// Returns the factor of a due date, 1000 to 9999; `None` before 2000-07-03.
pub fn factor(due: NaiveDate) -> Option<u16> {
    let days = due.signed_duration_since(FIRST_DUE?).num_days();
    let in_cycle = u16::try_from(days.rem_euclid(CYCLE_DAYS)).ok()?;
    (days >= 0).then_some(FIRST + in_cycle)
}

/// Returns the date of a factor, seen from `reference`, which is normally today.
///
/// A factor denotes dates 9000 days apart. At most one of them is in the window of payable slips, and that one is
/// returned. If there is none, the nearest is returned, which should not be trusted. `None` for `0000`, which means no
/// due date, and for factors that were never in use.
pub fn due_date(factor: u16, reference: NaiveDate) -> Option<NaiveDate> {
    if !(FIRST..=LAST).contains(&factor) {
        return None;
    }
    let first = FIRST_DUE?.checked_add_days(Days::new(u64::from(factor - FIRST)))?;
    let behind = reference.signed_duration_since(first).num_days();
    // The first candidate that is not overdue beyond the window.
    let cycles = (behind - OVERDUE_DAYS + CYCLE_DAYS - 1).max(0).div_euclid(CYCLE_DAYS);
    let ahead = cycles * CYCLE_DAYS - behind;
    let earlier_is_nearer = cycles > 0 && ahead > AHEAD_DAYS && (CYCLE_DAYS - ahead) < ahead;
    let cycles = if earlier_is_nearer { cycles - 1 } else { cycles };
    first.checked_add_days(Days::new(u64::try_from(cycles * CYCLE_DAYS).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn dates_before_the_first_factor_have_none() {
        assert_eq!(factor(date("2000-07-02")), None);
        assert_eq!(factor(date("2000-07-03")), Some(1000));
        assert_eq!(factor(date("2049-10-14")), Some(1000));
        assert_eq!(factor(NaiveDate::MIN), None);
        assert!(factor(NaiveDate::MAX).is_some());
    }

    #[test]
    fn the_window_of_payable_slips_decides_between_cycles() {
        let today = date("2026-11-21");
        for (factor, due) in [
            (7637, "2018-09-04"),
            (7636, "2018-09-03"),
            (7137, "2041-12-12"),
            (1000, "2025-02-22"),
            (9999, "2025-02-21"),
        ] {
            assert_eq!(due_date(factor, today), Some(date(due)), "{factor}");
        }
    }

    #[test]
    fn outside_the_window_the_nearest_date_is_taken() {
        let today = date("2026-11-21");
        for factor in FIRST..=LAST {
            let due = due_date(factor, today).unwrap();
            let distance = (due - today).num_days();
            assert!((-4500..=5500).contains(&distance), "{factor}: {distance}");
        }
    }

    #[test]
    fn factors_that_were_never_in_use_have_no_date() {
        for factor in [0, 1, 999, 10_000, u16::MAX] {
            assert_eq!(due_date(factor, date("2026-11-21")), None, "{factor}");
        }
        assert_eq!(due_date(1000, NaiveDate::MIN), Some(date("2000-07-03")));
    }

    #[test]
    fn a_due_date_survives_its_factor_when_read_in_its_time() {
        let mut due = date("2000-07-03");
        while due < date("2051-01-01") {
            assert_eq!(due_date(factor(due).unwrap(), due), Some(due));
            due = due + Days::new(7);
        }
    }
}
