//! Amounts, counts and times, formatted and parsed in a language.

use chrono::NaiveDate;
use quita_domain::money::{Money, SignedMoney};
use quita_domain::time::Timestamp;

use super::language::Language;
use super::shown::Shown;

impl Language {
    /// Formats an amount: `R$ 1.234,56`.
    pub(crate) fn money(self, amount: impl Shown<Money>) -> String {
        self.cents(amount.value().cents())
    }

    /// Formats an amount that may be negative: `-R$ 1.234,56`.
    pub(crate) fn signed_money(self, amount: impl Shown<SignedMoney>) -> String {
        let amount = amount.value();
        let sign = if amount.cents() < 0 { "-" } else { "" };
        format!("{sign}{}", self.cents(amount.magnitude().cents()))
    }

    /// Formats a sum in cents in the same way.
    pub(crate) fn cents(self, cents: impl Shown<u64>) -> String {
        let cents = cents.value();
        let whole = self.count(cents / 100);
        let rest = cents % 100;
        format!("R$\u{a0}{whole}{}{rest:02}", self.decimal_mark())
    }

    /// Formats a count: `12.345`.
    pub(crate) fn count(self, number: impl Shown<u64>) -> String {
        let digits = number.value().to_string();
        let mut grouped = String::with_capacity(digits.len().saturating_mul(4) / 3);
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
                grouped.push(self.group_mark());
            }
            grouped.push(digit);
        }
        grouped
    }

    /// Formats parts of a thousand: `97,3 %`.
    pub(crate) fn per_mille(self, per_mille: u64) -> String {
        format!("{}{}{}\u{a0}%", per_mille / 10, self.decimal_mark(), per_mille % 10)
    }

    /// Formats parts of ten thousand: `12,34 %`.
    pub(crate) fn basis_points(self, points: u32) -> String {
        format!("{}{}{:02}\u{a0}%", points / 100, self.decimal_mark(), points % 100)
    }

    /// Formats thousandths: `1.234,56`.
    pub(crate) fn thousandths(self, thousandths: u64) -> String {
        let whole = self.count(thousandths / 1_000);
        format!("{whole}{}{:02}", self.decimal_mark(), thousandths % 1_000 / 10)
    }

    /// Formats milliseconds: `850 ms`, `2,4 s`, `3 min`, `5 h`, `2 d`.
    pub(crate) fn duration(self, ms: impl Shown<u64>) -> String {
        let ms = ms.value();
        match ms {
            0..1_000 => format!("{ms}\u{a0}ms"),
            1_000..60_000 => format!("{}{}{}\u{a0}s", ms / 1_000, self.decimal_mark(), ms % 1_000 / 100),
            60_000..3_600_000 => format!("{}\u{a0}min", ms / 60_000),
            3_600_000..172_800_000 => format!("{}\u{a0}h", ms / 3_600_000),
            172_800_000.. => format!("{}\u{a0}d", ms / 86_400_000),
        }
    }

    /// Formats microseconds: `0,18 ms`, `12 ms`.
    pub(crate) fn microseconds(self, us: impl Shown<u64>) -> String {
        let us = us.value();
        match us {
            0..10_000 => format!("{}{}{:02}\u{a0}ms", us / 1_000, self.decimal_mark(), us % 1_000 / 10),
            10_000.. => self.duration(us / 1_000),
        }
    }

    /// Formats a time in Brasília's time zone: `21/11/2026 18:36:02`.
    pub(crate) fn time(self, at: impl Shown<Timestamp>) -> String {
        let form = match self {
            Self::Portuguese => "%d/%m/%Y %H:%M:%S",
            Self::English => "%Y-%m-%d %H:%M:%S",
        };
        at.value().in_sao_paulo().format(form).to_string()
    }

    /// Formats a day: `21/11/2026`.
    pub(crate) fn day(self, day: impl Shown<NaiveDate>) -> String {
        day.value().format(self.pick("%d/%m/%Y", "%Y-%m-%d")).to_string()
    }

    /// Parses an amount in reais as written in this language: `1.234,56`, `1234,56`, `50`. A misplaced thousands
    /// separator is refused: otherwise the other language's `50.13` would count as a hundred times as much.
    pub(crate) fn parse_money(self, text: &str) -> Option<Money> {
        let plain = text.trim().trim_start_matches("R$").trim();
        let (whole, rest) = plain.split_once(self.decimal_mark()).unwrap_or((plain, "0"));
        let whole = without_marks(whole, self.group_mark())?;
        let is_number = |text: &str| quita_domain::text::is_digits(text);
        if !is_number(&whole) || !is_number(rest) || rest.len() > 2 {
            return None;
        }
        let cents: u64 = format!("{rest:0<2}").parse().ok()?;
        let amount = Money::from_cents(whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(cents)?);
        (amount <= Money::MAX).then_some(amount)
    }

    /// Formats an amount for a form field: `1234,56`.
    pub(crate) fn money_field(self, amount: impl Shown<Money>) -> String {
        let amount = amount.value();
        format!("{}{}{:02}", amount.cents() / 100, self.decimal_mark(), amount.cents() % 100)
    }

    const fn decimal_mark(self) -> char {
        match self {
            Self::Portuguese => ',',
            Self::English => '.',
        }
    }

    const fn group_mark(self) -> char {
        match self {
            Self::Portuguese => '.',
            Self::English => ',',
        }
    }
}

/// Removes the thousands separators of a number; `None` if one is misplaced.
fn without_marks(text: &str, mark: char) -> Option<String> {
    let mut groups = text.split(mark);
    let first = groups.next()?;
    let rest = groups.collect::<Vec<_>>();
    let parts_thousands = (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3);
    (rest.is_empty() || parts_thousands).then(|| format!("{first}{}", rest.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Language::{English, Portuguese};

    #[test]
    fn amounts_are_written_as_the_language_writes_them() {
        for (cents, portuguese, english) in [
            (0, "R$\u{a0}0,00", "R$\u{a0}0.00"),
            (5, "R$\u{a0}0,05", "R$\u{a0}0.05"),
            (123_456, "R$\u{a0}1.234,56", "R$\u{a0}1,234.56"),
            (9_999_999_999, "R$\u{a0}99.999.999,99", "R$\u{a0}99,999,999.99"),
        ] {
            let amount = Money::from_cents(cents);
            assert_eq!(
                (Portuguese.money(amount).as_str(), English.money(amount).as_str()),
                (portuguese, english)
            );
            for language in Language::ALL {
                assert_eq!(
                    language.parse_money(&language.money(amount).replace('\u{a0}', " ")),
                    Some(amount)
                );
                assert_eq!(language.parse_money(&language.money_field(amount)), Some(amount));
            }
        }
    }

    #[test]
    fn days_are_written_as_the_language_writes_them() {
        let day = NaiveDate::from_ymd_opt(2026, 11, 3).unwrap();
        assert_eq!((Portuguese.day(day).as_str(), English.day(day).as_str()), ("03/11/2026", "2026-11-03"));
    }

    #[test]
    fn amounts_are_read_with_one_two_or_no_decimals_and_nothing_else_is() {
        for (text, cents) in [("50", 5_000), ("50,5", 5_050), (" R$ 1.000,01 ", 100_001)] {
            assert_eq!(Portuguese.parse_money(text), Some(Money::from_cents(cents)), "{text}");
        }
        for text in ["", "-1", "1,234", "a", ",5", "5,", "100000000,00", "1e3", "99999999999999999999", "١"]
        {
            assert_eq!(Portuguese.parse_money(text), None, "{text}");
        }
    }

    #[test]
    fn decimals_of_the_other_language_are_not_read_as_thousands() {
        for (language, wrong, thousands) in [
            (Portuguese, ["50.13", "50.5", "1.0000", "1234.567", ".5"], "5.013"),
            (English, ["50,13", "50,5", "1,0000", "1234,567", ",500"], "5,013"),
        ] {
            for text in wrong {
                assert_eq!(language.parse_money(text), None, "{text}");
            }
            assert_eq!(language.parse_money(thousands), Some(Money::from_cents(501_300)));
        }
    }

    #[test]
    fn counts_shares_and_durations_are_short() {
        assert_eq!(
            (Portuguese.count(1_234_567_u64), English.count(999_u64)),
            ("1.234.567".into(), "999".into())
        );
        assert_eq!(Portuguese.thousandths(12_045), "12,04");
        assert_eq!(Portuguese.per_mille(973), "97,3\u{a0}%");
        assert_eq!(
            (Portuguese.basis_points(1_234), English.basis_points(5)),
            ("12,34\u{a0}%".into(), "0.05\u{a0}%".into())
        );
        for (ms, expected) in [
            (850, "850 ms"),
            (2_450, "2,4 s"),
            (59_999, "59,9 s"),
            (185_000, "3 min"),
            (7_200_000, "2 h"),
            (259_200_000, "3 d"),
        ] {
            assert_eq!(Portuguese.duration(ms).replace('\u{a0}', " "), expected);
        }
    }

    #[test]
    fn what_is_quick_is_shown_in_hundredths_of_a_millisecond() {
        assert_eq!(Portuguese.microseconds(179_u64), "0,17\u{a0}ms");
        assert_eq!(English.microseconds(9_999_u64), "9.99\u{a0}ms");
        assert_eq!(Portuguese.microseconds(12_900_u64), "12\u{a0}ms");
    }

    #[test]
    fn times_are_of_brasilia() {
        let at = Timestamp::parse("2026-12-01T02:30:05.123Z").unwrap();
        assert_eq!(Portuguese.time(at), "30/11/2026 23:30:05");
        assert_eq!(English.time(at), "2026-11-30 23:30:05");
    }
}
