//! Money and dates in Brazilian notation.

use chrono::{Datelike, NaiveDate};

/// Writes cents as `1.234,56`, without the currency sign; negative amounts begin with `-`.
#[must_use]
pub fn reais(amount_cents: i64) -> String {
    let cents = amount_cents.unsigned_abs();
    let sign = if amount_cents < 0 { "-" } else { "" };
    format!("{sign}{},{:02}", with_dots(cents / 100), cents % 100)
}

/// Writes a calendar date as `dd/mm/aaaa`.
#[must_use]
pub fn day(date: NaiveDate) -> String {
    format!("{:02}/{:02}/{:04}", date.day(), date.month(), date.year())
}

fn with_dots(whole: u64) -> String {
    let rest = whole / 1000;
    if rest == 0 { whole.to_string() } else { format!("{}.{:03}", with_dots(rest), whole % 1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_reais(cents: i64, expected: &str) {
        assert_eq!(reais(cents), expected);
    }

    #[test]
    fn money_has_dots_for_thousands_and_a_comma_for_cents() {
        check_reais(0, "0,00");
        check_reais(7, "0,07");
        check_reais(10_000, "100,00");
        check_reais(123_456, "1.234,56");
        check_reais(100_000_005, "1.000.000,05");
        check_reais(9_999_999_999, "99.999.999,99");
        check_reais(-150, "-1,50");
        check_reais(i64::MIN, "-92.233.720.368.547.758,08");
    }

    #[test]
    fn a_date_begins_with_the_day() {
        assert_eq!(day(NaiveDate::from_ymd_opt(2026, 12, 1).unwrap()), "01/12/2026");
    }
}
